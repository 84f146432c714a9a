# make demo on a fresh clone runs the main job; make test runs everything. Nothing
# has to be installed by hand: modules come through the Go proxy, tools into bin/.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
BIN := $(CURDIR)/bin
FUZZTIME ?= 10s
DEMOFLAGS ?=
# Tests of allocations and memory mean nothing under the race detector and skip it.
BUDGETS := Alloc|Memory|Bytes|Steady|HotKey
BENCHFLAGS ?=

# Pinned: another version may find other things. The version is part of the
# file name, so a new pin is built once and an old one is never used by mistake.
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)

##@ Run
.PHONY: demo
demo: ## Play simulated sensors through the two-stage chain; Ctrl-C ends it (DEMOFLAGS='--rate 2000 --for 10s')
	@$(GO) build -o $(BIN)/streamjoin ./cmd/streamjoin
	@$(BIN)/streamjoin demo $(DEMOFLAGS)

##@ Check
.PHONY: test
test: ## Run all tests with the race detector
	$(GO) test -race ./...
	$(GO) test -count=1 -run '$(BUDGETS)' ./joinnode/...
	cd bench && $(GO) vet ./... && $(GO) test ./...

.PHONY: lint
lint: $(GOLANGCI) ## Run golangci-lint as .golangci.yml says
	$(GOLANGCI) run ./...

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (10s each)
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg; \
		done; \
	done

.PHONY: bench
bench: ## Measure against references and write docs/benchmarks.md (BENCHFLAGS='-quick -o /dev/stdout' proves that it works)
	@$(GO) build -C bench -o $(BIN)/bench ./cmd
	@$(BIN)/bench -o docs/benchmarks.md $(BENCHFLAGS)

##@ Build
.PHONY: build
build: ## Build the host program into bin/
	$(GO) build -o $(BIN)/streamjoin ./cmd/streamjoin

.PHONY: plugin
plugin: ## Build the node as a Go plugin for RuleGo's RegisterPlugin (needs cgo and the host's build flags)
	CGO_ENABLED=1 $(GO) build -buildmode=plugin -o $(BIN)/streamjoin.so ./component/plugin

$(GOLANGCI):
	@mkdir -p $(BIN)
	GOBIN=$(BIN) GOFLAGS=-buildvcs=false $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(BIN)/golangci-lint $@

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
