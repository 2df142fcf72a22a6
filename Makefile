# Everything a developer does here, in one word each. Go and make are enough;
# `make race` needs a C compiler, too.

LIB      := github.com/millrace-net/millrace
MODULES  := . cmd/millrace bench lint
ALL      := ./... ./cmd/millrace/... ./bench/...
PRODUCT  := ./... ./cmd/millrace/...

ARGS      ?=
TESTFLAGS ?=
FUZZTIME  ?= 30s
BENCHTIME ?= 200ms
SEEDS     ?= 10000

.PHONY: usage run test race check fuzz bench lint tidy

usage:
	@echo 'make run    move built-in traffic through the software NIC for 5 s (ARGS="...")'
	@echo 'make test   all tests of all modules; those that need root skip without it'
	@echo 'make race   tests under the race detector'
	@echo 'make check  tests with assertions compiled in, and $(SEEDS) seeds of simulation (SEEDS=n)'
	@echo 'make fuzz   every fuzz target for $(FUZZTIME) (FUZZTIME=t)'
	@echo 'make bench  benchmarks of the library, then its peers (BENCHTIME=t)'
	@echo 'make lint   gofmt, go fix, vet for several systems, staticcheck, tidy modules'
	@echo 'make tidy   bring go.mod and go.sum of every module up to date'

run:
	go run ./cmd/millrace run $(ARGS)

test:
	go test $(TESTFLAGS) $(ALL)

race:
	go test -race -short $(TESTFLAGS) $(PRODUCT)

check:
	env -u SEEDS go test -tags check -skip Simulation $(TESTFLAGS) $(PRODUCT)
	SEEDS=$(SEEDS) go test -tags check -run Simulation -timeout 60m $(TESTFLAGS) $(PRODUCT)

fuzz:
	@grep -rn --include='*_test.go' '^func Fuzz' . | \
	sed 's,/[^/]*_test.go:[0-9]*:func \(Fuzz[A-Za-z0-9_]*\).*, \1,' | sort -u | \
	while read dir name; do \
		echo "$$dir $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$dir" || exit 1; \
	done

bench:
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...
	go run ./bench

# A tool of module lint by name: built once, kept in Go's build cache.
tool = "$$(GOWORK=off go -C lint tool -n $(1))"

lint:
	@out=$$(gofmt -l .); test -z "$$out" || { echo "run gofmt -w on: $$out"; exit 1; }
	go fix -diff $(ALL)
	go vet $(ALL)
	go vet -tags check $(PRODUCT)
	go vet -tags purego ./...
	GOOS=linux GOARCH=arm64 go vet $(PRODUCT)
	GOOS=darwin GOARCH=arm64 go vet $(PRODUCT)
	$(call tool,staticcheck) $(ALL)
	$(call tool,ineffassign) $(ALL)
	find . -name testdata -prune -o \( -name '*.go' -o -name '*.md' \) -print | \
		xargs $(call tool,misspell) -error
	@for m in $(MODULES); do \
		(cd $$m && $(tidied) && diff -u go.mod $$tmp/go.mod && diff -u go.sum $$tmp/go.sum) || \
		{ echo "run make tidy: $$m/go.mod or go.sum is not up to date"; exit 1; }; \
	done

tidy:
	@for m in $(MODULES); do (cd $$m && $(tidied) && cp $$tmp/go.mod $$tmp/go.sum .) || exit 1; done

# tidied leaves in $$tmp what `go mod tidy` makes of the module in the current
# directory. That command does not read go.work, and the version of the
# library that the other modules require may not be published yet: so it works
# on a copy of go.mod that replaces the library by this tree.
tidied = tmp=$$(mktemp -d) && trap 'rm -rf $$tmp' EXIT && cp go.* $$tmp && \
	touch $$tmp/go.sum && rm -f $$tmp/go.work* && \
	go mod edit -replace=$(LIB)=$(CURDIR) $$tmp/go.mod && \
	GOWORK=off go mod tidy -modfile=$$tmp/go.mod && \
	go mod edit -dropreplace=$(LIB) $$tmp/go.mod
