# Every target first makes a virtual environment in .venv, with the Python packages that the target needs.
#
#   make demo        write Verilog for examples/logistic.t and train it on real data in simulation; no system package
#   make test        run lint, then the tests (this installs Icarus Verilog, g++ and others with apt where it may)
#   make check       run lint, the quick tests of the compiler, and one program through Icarus; takes two minutes
#   make test-all    run the slow tests, too, and draw new random programs; PART=3/8 runs the third of eight parts, each
#                    of which has its share of the slow tests
#   make lint        run ruff, its formatter, and mypy --strict
#   make docs        write the documentation site into the folder site; open site/index.html in a browser
#   make docs-test   run every code block of the documentation, those that take minutes, too
#   make bench       measure tabla gen, each engine, the evaluation, the published learning problems, networks from ONNX,
#                    and the learning problems in C on one core, into benchmarks/results; compare 2,000 random TableGen
#                    programs with llvm-tblgen; python -m benchmarks.networks --only NAMES measures some networks
#   make bench-bus   play a million beats and every kind of fault at the wrappers for a bus; BEATS
#   make bench-fpga  place and route five algorithms on 16 and 64 PEs for an ECP5-85F, and one with its wrapper in a plain
#                    flow; takes hours; PARTS, PES, SEEDS, OVERLAYS
#   make bench-cost  hold the estimates of tabla explore against designs that are synthesised, which takes about an hour;
#                    DRAWS
#   make bench-overlay
#                    count what each feature of an overlay takes of an ECP5; takes about twenty minutes; OVERLAYS
#   make bench-networks
#                    build ten networks for the largest arrays that fit an ECP5-85F, and 20 drawn ones; write the tables of
#                    docs/networks.md
#   make bench-routed
#                    place and route two networks for an ECP5-85F, and write their table into docs/networks.md; takes an hour
#   make bench-overlap
#                    build 20 drawn dense networks with and without samples that overlap; takes about ten minutes
#   make bench-recurrent
#                    build 20 recurrent learners of drawn sizes, and compare their cycles with the bound; takes some minutes
#   make bench-accuracy
#                    learn 24 problems on 20 splits in formats of 8 to 18 bits, and write docs/accuracy.md; takes about an
#                    hour; SPLITS, ONLY
#   make prove       prove the components of the hardware with solvers, and write docs/proofs.md; takes some minutes
#   make prove-quick make the shorter proofs only
#   make prove-mutants
#                    plant faults into the hardware, each of which its proof must refuse
#   make fuzz        draw programs in every notation, and hold evaluation, compiled evaluation, cycle model and Verilog
#                    against each other; N programs, SEED; a run that was interrupted goes on
#   make fuzz-texts  give changed texts and files to all readers of the tool, and report what is neither a result nor an
#                    error with its place; N inputs each, SEED, ONLY
#   make fuzz-formulas
#                    draw formulas, and hold the words of all notations against each other and against float64; N seconds,
#                    SEED
#   make builds      make 209 builds and write hashes of all that they write and print into builds.json; a change of the
#                    structure alone changes none (python -m verify.builds compare BEFORE.json AFTER.json)
#   make mutants     plant faults into the hardware and into the Verilog of a network, and write docs/mutation.md with
#                    those that the tests miss; N faults, SEED; a run that was interrupted goes on; takes hours
#   make clean       remove everything that the other targets made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# With -rs pytest prints why each test was skipped.
PYTEST := $(BIN)/python -m pytest -rs
# Two workers suit the smallest check machines. On a larger one use `make test WORKERS=8`.
WORKERS ?= 2

.PHONY: help demo check test test-all lint docs docs-test bench bench-bus bench-fpga bench-cost bench-overlay \
	bench-accuracy bench-networks bench-routed bench-overlap bench-recurrent prove prove-quick prove-mutants fuzz fuzz-texts fuzz-formulas builds mutants simulators clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   //p' Makefile

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The file .venv/demo or .venv/test marks the set of extras that is installed. After a change of setup.cfg the set is
# installed again.
$(VENV)/demo: $(VENV)/created setup.cfg pyproject.toml
	$(PIP) install --quiet --editable '.[data]'
	@touch $@

$(VENV)/test: $(VENV)/created setup.cfg pyproject.toml
	$(PIP) install --quiet --editable '.[all,test]'
	@touch $@ $(VENV)/demo

# Amaranth's simulator runs the hardware itself for the first samples. The cycle model, which agrees with the hardware in
# every word, then does the whole training.
demo: export PATH := $(CURDIR)/$(BIN):$(PATH)
demo: $(VENV)/demo
	tabla examples logistic -o demo
	tabla gen demo/logistic.t --format q7.11 -o demo/accelerator
	tabla sim demo/logistic.t --format q7.11 --inputs demo/breast_cancer.npz --seed 0 --samples 24 --engine amaranth
	tabla train demo/logistic.t --format q7.11 --data demo/breast_cancer.npz --split 0.2 --epochs 5 --engine model -o demo/trained.npz
	@echo "The accelerator: demo/accelerator/logistic.v (open logistic.schedule.html beside it in a browser)"

simulators: $(VENV)/test
	@sh .ci/simulators $(BIN)/python

# Tests start the tool hundreds of times, and each start compiles all modules anew where none may be kept.
unexport PYTHONDONTWRITEBYTECODE

# The tests run even if lint finds a fault. The target fails if either of them fails.
TESTED = lint=0; $(MAKE) --no-print-directory lint || lint=1; $(PYTEST) --numprocesses $(WORKERS) --dist worksteal

# The units of the compiler, what no room may break, and one program from its text through Icarus Verilog.
CHECKED := tests/test_layers.py tests/test_editors.py tests/graph tests/languages/tabla tests/languages/preprocess \
	tests/schedule/strands tests/schedule/test_check.py tests/program tests/templates tests/mistakes/test_programs.py \
	--ignore tests/graph/passes --ignore tests/graph/compiled --ignore tests/templates/tablegen
check: $(VENV)/test simulators
	@$(TESTED) -q -m 'not slow and not docs' $(CHECKED) \
		'tests/end_to_end/test_engines.py::test_hardware[linear-icarus-4]' && exit $$lint

test: $(VENV)/test simulators
	@$(TESTED) -m 'not slow and not docs' && exit $$lint

PART ?= 1/1
test-all: $(VENV)/test simulators
	@export TABLA_EXPLORE=1 TABLEGEN_PROGRAMS=2000; $(TESTED) --part $(PART) && exit $$lint

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/python -m mypy -p tabla

$(VENV)/docs: $(VENV)/created setup.cfg pyproject.toml
	$(PIP) install --quiet --editable '.[docs]'
	@touch $@

# `python -m` puts this folder on the import path, where the hook of MkDocs finds manual/.
docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "The documentation: site/index.html"

docs-test: $(VENV)/test simulators
	$(PYTEST) tests/test_documentation.py tests/test_notebooks.py tests/test_readme.py tests/extend

bench: $(VENV)/test simulators
	$(BIN)/python -m benchmarks -o benchmarks/results
	TABLEGEN_PROGRAMS=2000 $(PYTEST) tests/templates/tablegen/test_random_programs.py

# Rows that were measured before stay in the file, so a long run can be done in parts: make bench-fpga PES=16 SEEDS=1
# Deep memories and large arrays are synthesised without routing: make bench-fpga PES=64 WORDS=1024 SEEDS=0 and
# make bench-fpga PES=128 SEEDS=0
PARTS ?= 85k:6,85k:8,um5g-85k:8
PES ?= 16,64
SEEDS ?= 4
# The records of the overlays that are measured.
OVERLAYS ?= DefaultOverlay LearningOverlay
bench-fpga: $(VENV)/test
	$(BIN)/python -m benchmarks.fpga --parts $(PARTS) --pes $(PES) --seeds $(SEEDS) $(if $(WORDS),--words $(WORDS)) \
		--json benchmarks/results/fpga$(WORDS).json
	for record in $(OVERLAYS); do $(BIN)/python -m benchmarks.overlays.whole --template $$record --pes $(PES) \
		--seeds $(SEEDS) --json benchmarks/results/overlays.json || exit 1; done
	$(BIN)/python -m benchmarks.bus.cost --seeds $(SEEDS) --json benchmarks/results/bus_cost.json
	$(BIN)/python -m benchmarks.flows --seeds $(SEEDS) --json benchmarks/results/flows.json

# Designs that are measured already are not synthesised again, so it goes on where it was interrupted.
DRAWS ?= $(shell seq 3000 3019)
bench-cost: $(VENV)/test
	$(BIN)/python -m benchmarks.cost measure $(DRAWS)
	$(BIN)/python -m benchmarks.cost check
	$(BIN)/python -m benchmarks.cost left-out

bench-overlay: $(VENV)/test
	for record in $(OVERLAYS); do $(BIN)/python -m benchmarks.overlays.features --template $$record \
		--json benchmarks/results/$$record.json || exit 1; done

# Each wrapper gets its share of the beats. A seed gives the same beats each time.
BEATS ?= 1000000
SEED ?= 1
bench-bus: $(VENV)/test
	$(BIN)/python -m benchmarks.bus --beats $(BEATS) --seed $(SEED) --json benchmarks/results/bus.json

# Splits that were measured before stay in the file and are measured again. A part of the table: make bench-accuracy
# SPLITS=5:10 ONLY=iris,wine
SPLITS ?= 20
bench-accuracy: $(VENV)/test
	$(BIN)/python -m benchmarks.accuracy --seeds $(SPLITS) $(if $(ONLY),--only '$(ONLY)') \
		--json benchmarks/accuracy/measured.json --page docs/accuracy.md
	$(BIN)/python -m manual.charts

# The page docs/networks.md: the ten networks on the largest arrays that fit, and drawn networks beside them. A part of
# the table: make bench-networks ONLY=lenet,cifar. It takes about an hour.
bench-networks: $(VENV)/test
	$(BIN)/python -m benchmarks.networks.drawn --record
	$(BIN)/python -m benchmarks.networks.fitting $(if $(ONLY),--only '$(ONLY)') --record
	$(BIN)/python -m benchmarks.networks.page
	$(BIN)/python -m manual.charts

# The two networks of docs/networks.md that are placed and routed: an hour, with a seed each.
bench-routed: $(VENV)/test
	$(BIN)/python -m benchmarks.networks.routed $(if $(ONLY),--only '$(ONLY)') --record
	$(BIN)/python -m benchmarks.networks.page

bench-overlap: $(VENV)/test
	$(BIN)/python -m benchmarks.networks.dense

bench-recurrent: $(VENV)/test
	$(BIN)/python -m benchmarks.recurrent

# The proofs need no simulator. PROVED is a word of the subjects' names.
prove: $(VENV)/test
	$(BIN)/python -m verify.prove --workers $(WORKERS) $(if $(PROVED),--only '$(PROVED)') --record

prove-quick: $(VENV)/test
	$(BIN)/python -m verify.prove --workers $(WORKERS) --quick

prove-mutants: $(VENV)/test
	$(BIN)/python -m verify.prove --workers $(WORKERS) --mutants $(if $(PROVED),--only '$(PROVED)')

# The input of each fault goes into the folder fuzz-faults. A seed gives the same inputs each time.
fuzz-texts: $(VENV)/test
	$(BIN)/python -m verify.fuzz.texts --count $(or $(N),10000) --seed $(SEED) $(if $(ONLY),--only '$(ONLY)')

fuzz-formulas: $(VENV)/test
	$(BIN)/python -m verify.fuzz.drawn_formulas --seconds $(or $(N),60) --seed $(SEED)

builds: $(VENV)/test
	$(BIN)/python -m verify.builds make builds.json

# The file fuzz-programs.json tells how far the run is.
fuzz: $(VENV)/test simulators
	$(BIN)/python -m verify.fuzz.programs --count $(or $(N),300) --seed $(SEED)

# The faults are planted into copies. MUTATED is what gets the faults of the sources: hw, or check, the checker of schedules.
# The test benches have drawings with seeds of their own. With SEED=7 they get others, which are printed and not kept.
MUTATED ?= hw
mutants: $(VENV)/test simulators
	$(BIN)/python -m verify.fuzz.mutation $(MUTATED) --count $(or $(N),300) --seed $(SEED)
	$(BIN)/python -m verify.fuzz.bench_mutants $(if $(N),--count $(N)) $(if $(filter command,$(origin SEED)),--seed $(SEED))

clean:
	rm -rf $(VENV) .lint build demo site fuzz-faults fuzz-programs.json builds.json *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
