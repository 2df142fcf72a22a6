module github.com/millrace-net/millrace/cmd/millrace

go 1.26

require github.com/millrace-net/millrace v0.1.0
