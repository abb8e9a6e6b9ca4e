"""Comparisons: methods as data, experiments, the records of their trials, and tables and reports of those."""

from kernelbraid.bench.records.record import Record, Trial
from kernelbraid.bench.records.store import Store, StoreError
from kernelbraid.bench.report.page import write_report
from kernelbraid.bench.results.writing import write_tables
from kernelbraid.bench.trials.compared import COMPARED
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.experiment import Experiment, read_experiment
from kernelbraid.bench.trials.runner import run
from kernelbraid.methods import LABEL_FREE, METHODS, RIVALS, VARIANTS, Method

__all__ = [
    "METHODS",
    "VARIANTS",
    "RIVALS",
    "LABEL_FREE",
    "COMPARED",
    "Method",
    "Experiment",
    "ProtocolError",
    "read_experiment",
    "Record",
    "Trial",
    "run",
    "Store",
    "StoreError",
    "write_tables",
    "write_report",
]
