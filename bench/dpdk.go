package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A dpdk is the running C program of dpdk/bench.c. It waits for a request
// between ours, so that its rounds and ours alternate. The zero value answers
// nothing.
type dpdk struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startDPDK builds and starts the program, or says what it lacks.
func startDPDK() (*dpdk, string) {
	if err := exec.Command("pkg-config", "--exists", "libdpdk").Run(); err != nil {
		return new(dpdk), "DPDK is not installed, its rows are empty: " +
			"apt-get install libdpdk-dev pkg-config gcc make"
	}
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(file), "dpdk")
	if out, err := exec.Command("make", "-s", "-C", dir).CombinedOutput(); err != nil {
		return new(dpdk), fmt.Sprintf("make -C %s: %v\n%s", dir, err, out)
	}
	d := &dpdk{cmd: exec.Command(filepath.Join(dir, "millrace-dpdk"), "--no-huge", "-m", "64",
		"--no-pci", "--no-telemetry", "--no-shconf", "--log-level=3", "--lcores", "0@0")}
	var errs strings.Builder
	d.cmd.Stderr = &errs
	out, err := d.cmd.StdoutPipe()
	if err == nil {
		d.in, err = d.cmd.StdinPipe()
	}
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		return new(dpdk), fmt.Sprintf("start the DPDK program: %v", err)
	}
	d.out = bufio.NewScanner(out)
	if _, _, ok := d.ask("ptype"); !ok {
		d.stop()
		return new(dpdk), "the DPDK program does not answer: " + errs.String()
	}
	return d, ""
}

// ask has the program do some work: nanoseconds a unit, packets of output.
func (d *dpdk) ask(request string) (ns float64, out int, ok bool) {
	if d.cmd == nil {
		return 0, 0, false
	}
	if _, err := fmt.Fprintln(d.in, request); err != nil {
		return 0, 0, false
	}
	for d.out.Scan() {
		n, _ := fmt.Sscanf(d.out.Text(), "answer %g %d", &ns, &out)
		if n == 2 {
			return ns, out, ns >= 0
		}
	}
	return 0, 0, false
}

// stop ends the program: it reads until its input ends.
func (d *dpdk) stop() {
	if d.cmd == nil {
		return
	}
	d.in.Close()
	d.cmd.Wait()
	d.cmd = nil
}
