# make help lists the targets.
GO ?= go
GOFLAGS ?=
export CGO_ENABLED = 0

# Pinned, and built by the go command itself, so that a fresh machine needs
# only Go.
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Folders with a go.mod of their own: tests with heavy dependencies.
NESTED = $(patsubst %/go.mod,%,$(wildcard */go.mod */*/go.mod */*/*/go.mod))
# nested runs a go command in each of them.
nested = @for m in $(NESTED); do echo "cd $$m && $(GO) $(1)" && (cd $$m && $(GO) $(1)) || exit 1; done

.PHONY: hosts instructions help build test check fmt vet lint scopes imports generated generate spec bench bench-peers run-set test-arm64 v8 storm counters corpus demos stdlib clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 14

build: ## bin/wasmjit
	$(GO) build -trimpath -o bin/wasmjit ./cmd/wasmjit

test: ## every test that needs no network; what CI runs last
	$(GO) test ./...
	$(call nested,test ./...)

check: fmt vet lint scopes imports generated test ## all that a change must pass

fmt: ## no file that gofmt would change
	@out=$$(gofmt -l . ) && if [ -n "$$out" ]; then echo "gofmt would change:" $$out >&2; exit 1; fi

# Hosts that compile and look at code but can't run it.
OTHERS = darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 freebsd/amd64

vet: ## go vet for both targets
	GOOS=linux GOARCH=amd64 $(GO) vet ./...
	GOOS=linux GOARCH=arm64 $(GO) vet ./...
	$(call nested,vet ./...)

hosts: ## go vet for the hosts that only compile (minutes in an empty cache)
	@for t in $(OTHERS); do echo "vet for $$t" && GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) vet ./... || exit 1; done

lint: ## staticcheck
	$(STATICCHECK) ./...

scopes: ## write scopes are passed on, and none is opened in a loop
	cd scripts/scopelint && $(GO) build -o ../../.cache/scopelint .
	$(GO) vet -vettool=$(CURDIR)/.cache/scopelint ./...

imports: ## data flows one way
	$(GO) test ./internal/imports

generated: ## generated files are what their sources say
	scripts/check-generated.sh

generate: ## rewrite the generated files
	$(GO) generate ./...

spec: ## the specification's suites only, with their counts
	$(GO) test -v -run Spec ./internal/spectest
	$(call nested,test -v -run Spec ./...)

bench: ## every benchmark once, without tests
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-peers: build ## wasmjit, V8, SpiderMonkey and wazero by turns (tables of PERF.md)
	scripts/bench-peers.sh

run-set: ## rebuild testdata/run with clang and wasi-libc
	scripts/build-run.sh

test-arm64: ## tests that run compiled code, for linux/arm64 under qemu-user
	scripts/test-arm64.sh

v8: build ## the modules of make corpus by turns with V8 (table of PERF.md)
	scripts/perf-v8.sh

storm: ## V8 9.2's storm of mprotects, its fix, and each of our modes (PERF.md; 12 minutes)
	scripts/perf-storm.sh

counters: build ## compare the counters of system calls with strace and perf
	scripts/check-counters.sh

corpus: build ## get the module list from npm and compile each with -j1 and -j2
	scripts/corpus.sh
	scripts/corpus-compile.sh

demos: ## run real programs: yosys, clang, gofmt (the first two need make corpus)
	$(GO) test -v -count=1 ./internal/programs

stdlib: build ## tests of Go's standard library, built for GOOS=wasip1
	scripts/stdlib.sh

instructions: build ## the instruction count of a fixed compile against the recorded one
	scripts/instructions.sh

clean: ## what build makes; the cache of modules stays
	rm -rf bin
