import json

import pytest

from kernelbraid import estimators
from kernelbraid.bench import METHODS
from kernelbraid.cli.commands import methods


def test_the_table_has_a_line_for_every_method(run):
    result = run("methods")
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.split("  ")[0] == "name"
    assert [line.split()[0] for line in lines[: len(METHODS)]] == list(METHODS)
    for line, method in zip(lines, METHODS.values(), strict=False):
        assert method.title in line
        assert method.estimator.__name__ in line
        assert methods.POLICY_WORDS[method.policy] in line
        for parameter, values in method.grid.items():
            assert f"{parameter} {min(values):g} to {max(values):g}" in line
    assert "--method" in lines[-1]


def test_json_is_the_registry(run):
    content = json.loads(run("methods", "--json").stdout)
    assert list(content) == ["methods"]
    assert [entry["name"] for entry in content["methods"]] == list(METHODS)
    for entry in content["methods"]:
        assert list(entry) == ["name", "title", "estimator", "policy", "settings", "grid"]
        method = METHODS[entry["name"]]
        assert getattr(estimators, entry["estimator"]) is method.estimator
        assert (entry["title"], entry["policy"]) == (method.title, method.policy)
        assert entry["settings"] == dict(method.settings)
        assert entry["grid"] == {name: list(values) for name, values in method.grid.items()}


def test_a_method_without_a_grid_has_nothing_to_tune():
    assert methods.shorten({}) == "nothing"


@pytest.mark.parametrize("width", [60, 80])
def test_no_name_is_broken_on_a_narrow_terminal(run, monkeypatch, width):
    from kernelbraid.cli import output

    monkeypatch.setattr(output, "UNLIMITED", width)
    for method in METHODS.values():
        assert method.estimator.__name__ in run("methods").stdout
