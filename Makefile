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

.PHONY: demo test test-frames lint types layers check docs table2 clean

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
	$(addprefix io/test_,alignment.py blocks.py columns.py dialect.py labels.py parquet.py readers.py sources.py text.py) \
	$(addprefix estimators/test_,frames.py gathering.py tables.py) \
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

# Table 2 of the paper beside ours, from the committed records.
table2: .venv/extra-lab
	$(BIN)/python -m lab tables results --only table2 --out table2

clean:
	rm -rf .venv .venv-frames build dist demo-output table2 docs/_build docs/gallery docs/api/generated
