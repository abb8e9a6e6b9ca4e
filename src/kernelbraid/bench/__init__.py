"""Comparisons: methods as data, experiments, the records of their trials, and tables and reports of those."""

from kernelbraid.bench.methods import COMPARED, LABEL_FREE, METHODS, RIVALS, VARIANTS, Method
from kernelbraid.bench.protocol import Experiment, ProtocolError, read_experiment
from kernelbraid.bench.records import Record, Trial
from kernelbraid.bench.report import write_report, write_tables
from kernelbraid.bench.runner import run
from kernelbraid.bench.store import Store, StoreError

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
