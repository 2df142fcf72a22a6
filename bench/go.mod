module github.com/millrace-net/millrace/bench

go 1.26

require github.com/millrace-net/millrace v0.1.0
