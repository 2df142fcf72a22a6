package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, Go version and platform",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = new(debug.BuildInfo)
			}
			_, err := fmt.Fprintln(c.OutOrStdout(), "millrace", version(info))
			return err
		},
	}
}

// version says where the program comes from: the module's version, or the
// commit of a build in a checkout.
func version(info *debug.BuildInfo) string {
	about := map[string]string{}
	for _, s := range info.Settings {
		about[s.Key] = s.Value
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
		if commit := about["vcs.revision"]; commit != "" {
			v += "-" + commit[:min(12, len(commit))]
		}
		if about["vcs.modified"] == "true" {
			v += "-modified"
		}
	}
	return fmt.Sprintf("%s (%s, %s/%s)", v, info.GoVersion, about["GOOS"], about["GOARCH"])
}
