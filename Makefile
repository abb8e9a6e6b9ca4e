# Two commands do everything on a machine with Python (>= 3.11), make and git:
#   make demo   cluster a bundled data set, print a table, write pictures to demo-output/
#   make test   run the whole test suite
PYTHON ?= python3
BIN := .venv/bin

# One BLAS thread per process: two threads fight over two cores and slow a singular value decomposition down 16 times.
# SCIPY_ARRAY_API=1: scikit-learn's estimator checks skip one check without it.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= $(OMP_NUM_THREADS)
export MKL_NUM_THREADS ?= $(OMP_NUM_THREADS)
export SCIPY_ARRAY_API ?= 1

.PHONY: demo test test-frames lint types layers check docs bench bench-gpu bench-baselines bench-scale bench-user fuzz clean

.venv/pip:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

# One stamp per set of extras: installed again when pyproject.toml or the version changes.
.venv/extra-%: pyproject.toml src/kernelbraid/_version.py | .venv/pip
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

demo: .venv/extra-plot
	$(BIN)/kernelbraid demo --out demo-output

test: .venv/extra-test
	$(BIN)/python -m pytest --numprocesses 2 $(PYTEST_ARGS)

# Tests that read or give tables, once more with the newest pandas, which `make test` cannot have: anndata needs an older.
FRAMES := $(addprefix tests/,\
	$(addprefix files/test_,alignment.py columns.py labels.py parquet.py readers.py sources.py streams.py) \
	$(addprefix estimators/landmarks/test_,blocks.py sources.py views.py) \
	contracts/test_tables.py cli/test_views.py \
	estimators/test_low_rank.py::test_it_works_in_a_pipeline_and_on_data_frames \
	metrics/test_scores.py::test_labels_may_be_a_pandas_or_polars_column \
	clients/test_sklearn_tools.py::test_coordinates_come_as_tables_on_request)

.venv-frames/installed: pyproject.toml src/kernelbraid/_version.py
	$(PYTHON) -m venv .venv-frames
	.venv-frames/bin/python -m pip install --quiet --upgrade pip
	.venv-frames/bin/python -m pip install --quiet --editable ".[frames]"
	@touch $@

test-frames: .venv-frames/installed
	.venv-frames/bin/python -m pytest $(FRAMES)

lint: .venv/extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/extra-lint
	$(BIN)/mypy

layers: .venv/extra-lint
	$(BIN)/lint-imports

check: lint types layers

docs: .venv/extra-docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# Speed and memory against plain ports, into benchmarks/results; BENCH_ARGS=--quick tries the commands in a minute.
bench: .venv/extra-plot
	$(BIN)/python -m benchmarks.cpu $(BENCH_ARGS)

# The same on a GPU; needs a CUDA build of torch in .venv. KERNELBRAID_SHARED names the folder that holds datasets/.
bench-gpu: .venv/extra-plot
	$(BIN)/python -m benchmarks.gpu $(BENCH_ARGS)

# The nine comparison methods on YALE and JAFFE; KERNELBRAID_DATA names the folder with yale_raw.npz and jaffe_raw.npz.
bench-baselines: .venv/extra-plot
	$(BIN)/python -m benchmarks.baselines $(BENCH_ARGS)

# LandmarkLKG from 100 000 to 2 million samples; BENCH_ARGS=--dask: a million on two workers, one of which is killed.
bench-scale: .venv/extra-dask
	$(BIN)/python -m benchmarks.scale $(BENCH_ARGS)

# What people call first, in units of scikit-learn; BENCH_ARGS="--against FOLDER": another checkout in the same run.
bench-user: .venv/extra-plot
	$(BIN)/python -m benchmarks.user $(BENCH_ARGS)

# Attacks on readers, stores, models, estimators and on runs that are killed; inputs that fail are kept in fuzz-failures/.
# FUZZ_ARGS="--targets mat,npz": some of them only; FUZZ_ARGS="--replay FILE": one of the failures again.
SECONDS ?= 600
SEED ?= 0
fuzz: .venv/extra-test
	PYTHONPATH=tests $(BIN)/python -m fuzzing --seconds $(SECONDS) --seed $(SEED) $(FUZZ_ARGS)

clean:
	rm -rf .venv .venv-frames build dist demo-output docs/_build docs/gallery docs/api/generated
