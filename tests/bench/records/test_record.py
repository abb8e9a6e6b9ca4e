import json
import math

import pytest

from kernelbraid.bench.records.record import EARLIER, STUDIES, Trial, to_json

BASE = {"data": "wine", "checksum": "abc", "method": "LKGr", "scoring": "best100"}


@pytest.mark.parametrize(
    ("more", "altered"),
    [
        ({}, False),
        ({"method": "SC-knn"}, False),
        ({"keep": ("kernel",)}, False),
        ({"changes": {"noise": 0}}, True),
        ({"changes": {"shuffled": 0.5, "kernel": "linear"}}, True),
        ({"method": "LKGr/bound"}, True),
    ],
)
def test_changed_data_and_methods_without_a_part_are_altered(more, altered):
    assert Trial(**{**BASE, **more}).altered is altered


def test_a_trial_on_changed_data_has_the_key_it_had_before_it_was_stored():
    trial = Trial(**BASE, changes={"shuffled": 1, "kernel": "linear"})
    again = Trial(**{**BASE, **json.loads(to_json({"changes": {"kernel": "linear", "shuffled": 1}}))})
    assert again == trial
    assert again.key == trial.key


def test_the_level_of_a_change_is_part_of_the_key():
    levels = [{}, {"noise": 0}, {"noise": 0.5}, {"outliers": 0.5}, {"outliers": 0}]
    assert len({Trial(**BASE, changes=changes).key for changes in levels}) == len(levels)


def test_an_infinite_parameter_is_a_number_and_nan_is_refused():
    trial = Trial(**BASE, parameters={"gamma": math.inf})
    assert json.loads(to_json(trial.parameters)) == {"gamma": math.inf}
    assert trial.key != Trial(**BASE, parameters={"gamma": -math.inf}).key
    assert to_json(["NaN"]) == '["NaN"]'
    for values in ([math.nan], [math.inf, math.nan]):
        with pytest.raises(ValueError):
            to_json(values)


def test_a_trial_of_the_study_is_another_one_than_that_of_the_paper():
    keys = {Trial(**BASE, study=study).key for study in ("", *STUDIES)}
    assert len(keys) == 1 + len(STUDIES)
    assert Trial(**BASE).key in keys


def test_a_trial_is_also_looked_for_under_earlier_versions_and_under_no_other():
    trial = Trial(**BASE, seed=1, version="0.2.0")
    assert EARLIER == ("0.1.0",)
    assert trial.keys == {Trial(**BASE, seed=1, version=version).key for version in ("0.2.0", "0.1.0")}
    assert Trial(**BASE, seed=1, version="0.0.9").key not in trial.keys
    assert Trial(**BASE, seed=2, version="0.1.0").key not in trial.keys


def test_keys_of_before_are_those_of_today():
    known = "09cda0f17129233930c22c7dcbc8f97b6c8eed6afc70751720ab1c5e71dfccde"
    assert Trial(**BASE, bank="rmkkm", parameters={"alpha": 0.1}, version="0.1.0").key == known
