import json
from dataclasses import asdict

import pytest

from kernelbraid.bench.records.checking import DamagedRecord, digest, parse_record
from kernelbraid.bench.records.record import Record, Trial, to_json

TRIAL = {"data": "wine", "checksum": "abc", "method": "LKGr", "scoring": "best100"}
OUTCOME = {"status": "converged", "scores": {"acc": 0.5, "ari": -0.1, "entropy": 3.0}, "learned": {"linear": 2.0}}
IMAGE = {"image": [[1.0, None], [0.5, 1.0]], "sizes": [1, 1]}


def test_a_record_is_built_from_its_parts_be_they_older_than_some_fields():
    trial = Trial("wine", "abc", "LKGr", "best100", keep=("history", "kernel"))
    record = Record(trial, **OUTCOME, kept={"history": {"mu": [1.0, None]}, "kernel": IMAGE})
    content = asdict(record)
    assert parse_record(to_json(content.pop("trial")), to_json(content)) == record
    assert parse_record(to_json(TRIAL), to_json(OUTCOME)) == Record(Trial(**TRIAL), **OUTCOME)


def test_a_failure_needs_no_scores():
    assert parse_record(to_json(TRIAL), '{"status": "failed", "reason": "boom"}').reason == "boom"


@pytest.mark.parametrize(
    "change",
    [
        {"data": 3},
        {"scoring": "mean21"},
        {"seed": -1},
        {"seed": True},
        {"seed": 0.5},
        {"parameters": []},
        {"changes": {"noise": None}},
        {"keep": ["model"]},
        {"keep": "kernel"},
        {"keep": [[]]},
        {"unknown": 1},
    ],
)
def test_a_trial_that_no_experiment_holds_is_refused(change):
    with pytest.raises(DamagedRecord):
        parse_record(to_json({**TRIAL, **change}), to_json(OUTCOME))


@pytest.mark.parametrize(
    "change",
    [
        {"status": ""},
        {"status": None},
        {"reason": 1},
        {"scores": {}},
        {"scores": {"acc": 1.5}},
        {"scores": {"acc": -0.5}},
        {"scores": {"acc": "0.5"}},
        {"scores": {"acc": float("nan")}},
        {"scores": {"acc": 0.5, "entropy": float("inf")}},
        {"scores": [0.5]},
        {"deviations": {"acc": -0.1}},
        {"label_free": {"silhouette": 2.0}},
        {"tuned": {"acc": 2.0}},
        {"learned": {"linear": None}},
        {"learned": {"linear": 10**400}},
        {"n_iter": -1},
        {"n_iter": 1.5},
        {"seconds": -1.0},
        {"seconds": float("inf")},
        {"peak_bytes": "much"},
        {"kept": []},
        {"kept": {"model": 1}},
        {"kept": {"history": [1.0]}},
        {"kept": {"history": {"mu": 1.0}}},
        {"kept": {"history": {"mu": ["1"]}}},
        {"kept": {"kernel": [1.0]}},
        {"kept": {"kernel": {"image": [[1.0]]}}},
        {"kept": {"kernel": {**IMAGE, "image": [[1.0, 2.0]]}}},
        {"kept": {"kernel": {**IMAGE, "image": [[1.0], 2.0]}}},
        {"kept": {"kernel": {**IMAGE, "sizes": [-1]}}},
        {"unknown": 1},
    ],
)
def test_an_outcome_that_no_run_can_have_is_refused(change):
    with pytest.raises(DamagedRecord):
        parse_record(to_json(TRIAL), json.dumps({**OUTCOME, **change}))


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "3", "[" * 100_000, '{"status": "\ud800"}', None, 3])
def test_what_is_no_table_is_refused(text):
    with pytest.raises(DamagedRecord):
        parse_record(text, to_json(OUTCOME))
    with pytest.raises(DamagedRecord):
        parse_record(to_json(TRIAL), text)


def test_the_checksum_tells_where_one_text_ends():
    assert digest("ab", "c") != digest("a", "bc")
