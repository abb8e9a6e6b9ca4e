import json

import pytest

from kernelbraid.methods import METHODS, TITLES, kernels_taken


@pytest.mark.parametrize("width", [60, 80])
def test_no_name_is_broken_on_a_narrow_terminal(run, monkeypatch, width):
    from kernelbraid.cli import output

    monkeypatch.setattr(output, "UNLIMITED", width)
    for model in METHODS.values():
        assert type(model).__name__ in run("methods").stdout


def test_the_table_has_a_line_for_every_method(run):
    header, *lines = run("methods").stdout.splitlines()
    assert header.split("  ")[0] == "name"
    assert [line.split()[0] for line in lines[: len(METHODS)]] == list(METHODS)
    for line, (name, model) in zip(lines, METHODS.items(), strict=False):
        assert TITLES[name] in line
        assert type(model).__name__ in line
    assert "--method" in lines[-1]


def test_json_is_the_registry(run):
    content = json.loads(run("methods", "--json").stdout)
    assert [entry["name"] for entry in content["methods"]] == list(METHODS)
    for entry in content["methods"]:
        model = METHODS[entry["name"]]
        assert (entry["title"], entry["kernels"]) == (TITLES[entry["name"]], kernels_taken(model))
        assert entry["settings"].items() <= model.get_params().items()
        assert type(model)(**entry["settings"]).get_params() == model.get_params()
