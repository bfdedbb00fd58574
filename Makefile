# Every target sets itself up: a virtual environment in .venv with what that target needs, from the Python index.
#
#   make demo      examples/logistic.t and a real data set -> Verilog -> trains in simulation; no system package
#   make test      lint, then the test suite (installs Icarus Verilog, g++ and the like with apt where it may)
#   make test-all  the same with the slow tests, and random programs drawn anew
#   make lint      ruff, and mypy --strict on the package as it is installed
#   make bench     time of gen, speed of each engine, the published learning problems, into benchmarks/results; 2,000 random
#                  TableGen programs against llvm-tblgen
#   make bench-fpga  the five algorithms on 16 and 64 PEs, placed and routed on an ECP5-85F: hours; PARTS, PES, SEEDS
#   make clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# -rs: a skipped test says why
PYTEST := $(BIN)/python -m pytest -rs
# Two workers suit the smallest check machines; `make test WORKERS=8` on a larger one.
WORKERS ?= 2

.PHONY: help demo test test-all lint bench bench-fpga simulators clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   //p' Makefile

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# One stamp per set of extras; a change of setup.cfg installs again.
$(VENV)/demo: $(VENV)/created setup.cfg pyproject.toml
	$(PIP) install --quiet --editable '.[data]'
	@touch $@

$(VENV)/test: $(VENV)/created setup.cfg pyproject.toml
	$(PIP) install --quiet --editable '.[all,test]'
	@touch $@ $(VENV)/demo

# The hardware itself takes the first steps in Amaranth's simulator; the cycle model, the same word for word, does the whole job.
demo: export PATH := $(CURDIR)/$(BIN):$(PATH)
demo: $(VENV)/demo
	tabla examples logistic -o demo
	tabla gen demo/logistic.t --format q7.11 -o demo/accelerator
	tabla sim demo/logistic.t --format q7.11 --inputs demo/breast_cancer.npz --seed 0 --samples 24 --engine amaranth
	tabla train demo/logistic.t --format q7.11 --data demo/breast_cancer.npz --epochs 5 --engine model -o demo/trained.npz
	@echo "The accelerator: demo/accelerator/logistic.v (open logistic.schedule.html beside it in a browser)"

simulators: $(VENV)/test
	@sh .ci/simulators $(BIN)/python

# A fault of lint does not hide what the tests say; either makes the target fail.
TESTED = lint=0; $(MAKE) --no-print-directory lint || lint=1; $(PYTEST) --numprocesses $(WORKERS) --dist worksteal

test: $(VENV)/test simulators
	@$(TESTED) -m 'not slow' && exit $$lint

test-all: $(VENV)/test simulators
	@export TABLA_EXPLORE=1 TABLEGEN_PROGRAMS=2000; $(TESTED) && exit $$lint

# mypy reads the package as pip installs it: the map of setup.cfg is then in force, and a folder that it forgets shows.
lint: $(VENV)/test
	$(BIN)/ruff check .
	rm -rf .lint
	$(PIP) install --quiet --no-deps --no-index --no-build-isolation --target .lint/pkg .
	cd .lint/pkg && ../../$(BIN)/python -m mypy --config-file ../../setup.cfg --cache-dir ../../.mypy_cache -p tabla

bench: $(VENV)/test simulators
	$(BIN)/python -m benchmarks -o benchmarks/results
	TABLEGEN_PROGRAMS=2000 $(PYTEST) tests/lang/tablegen/test_random_programs.py

# Rows measured before stay in the file, so that a long run can be done in parts: make bench-fpga PES=16 SEEDS=1
# Deep memories and large arrays, without routing: make bench-fpga PES=64 WORDS=1024 SEEDS=0; make bench-fpga PES=128 SEEDS=0
PARTS ?= 85k:6,85k:8,um5g-85k:8
PES ?= 16,64
SEEDS ?= 4
bench-fpga: $(VENV)/test
	$(BIN)/python -m benchmarks.fpga --parts $(PARTS) --pes $(PES) --seeds $(SEEDS) $(if $(WORDS),--words $(WORDS)) \
		--json benchmarks/results/fpga$(WORDS).json

clean:
	rm -rf $(VENV) .lint build demo *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
