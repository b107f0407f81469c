# Two targets are for newcomers: `make run` and `make test`. They set up what they need.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
GO      := $(shell scripts/go.sh)
FAST    := $(shell $(GO) list ./... 2>/dev/null | grep -v -e /e2e -e /bench)

.PHONY: all build run test fast e2e bench fuzz golden lint dist clean

all: build

build: bin/llxsandbox

# Always asked for: the Go tool knows best what has changed.
.PHONY: bin/llxsandbox
bin/llxsandbox:
	@scripts/setup.sh go
	@CGO_ENABLED=0 $$(scripts/go.sh) build -trimpath -ldflags '$(LDFLAGS)' -o $@ .

# A real launch on a real git repository: sets up an engine and a small image if needed.
run: build
	@scripts/demo.sh

# Everything: fast tests, then the end-to-end tests of every engine that is there.
test:
	@scripts/setup.sh go
	@$(MAKE) --no-print-directory fast e2e

fast:
	@$(GO) test $(FAST)

e2e:
	@for engine in docker podman; do \
		if $$engine ps >/dev/null 2>&1; then echo "end-to-end tests with $$engine"; \
		else echo "SKIPPED: end-to-end tests with $$engine, which does not answer here"; fi; done
	@$(GO) test -count=1 -timeout 20m ./e2e

# Paired runs against the same command typed by hand.
bench:
	@$(GO) test -count=1 -run '^$$' -bench . -benchtime 1x -timeout 20m ./bench

# Every fuzz target for FUZZTIME.
FUZZTIME ?= 10s
fuzz:
	@scripts/fuzz.sh $(FUZZTIME)

# Write what the program does now into the golden cases; read the difference before you commit it.
golden:
	@$(GO) test ./golden -update && git --no-pager diff --stat golden

lint:
	@scripts/lint.sh

# Static release binaries and their checksums.
dist:
	@rm -rf dist && mkdir dist
	@for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -trimpath -ldflags '$(LDFLAGS)' \
			-o dist/llxsandbox-$${target%/*}-$${target#*/} . || exit 1; done
	@cd dist && { command -v sha256sum >/dev/null && sha256sum llxsandbox-* || shasum -a 256 llxsandbox-*; } >SHA256SUMS && ls -l

clean:
	@rm -rf bin dist .work
