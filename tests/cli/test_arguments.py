import inspect
import re

import pytest

from kernelbraid.cli import arguments
from kernelbraid.cli.app import COMMANDS, load_command
from kernelbraid.cli.commands import cluster as clustering
from kernelbraid.cli.failure import Failure
from kernelbraid.files.sources import Form

OPTIONS = {
    "cluster": "--clusters -k --out -o --method --preset --penalty --kernels --kernel --fusion "
    "--view-weights --alpha --beta --gamma --mu --graph-from --neighbors --edge-weights --embedding --n-init --storage "
    "--device --jobs --max-iter --tol --seed --key --id --drop --header --no-header --scale --json --quiet --save "
    "--landmarks --dask --confidence --format --delimiter --decimal --verbose -v",
    "predict": "--out -o --confidence --json --quiet -q --key --id --drop --header --no-header "
    "--format --delimiter --decimal",
    "methods": "--json",
    "score": "--json --nmi-average --column --labels-column --key --header --no-header --format --delimiter",
    "demo": "--out --json",
}


@pytest.mark.parametrize("command", OPTIONS)
def test_help_of_a_command_mentions_every_option(read_help, command):
    shown = read_help(command, "--help")
    for option in OPTIONS[command].split():
        assert re.search(rf"(?<!\S){option}\b", shown), option
    assert "[bold]" not in shown


def test_the_list_of_options_above_is_complete():
    names = {name.replace("_", "-") for name in inspect.signature(arguments.cluster).parameters}
    renamed = {"as-json": "json", "id-column": "id", "file-format": "format"}
    assert {f"--{renamed.get(name, name)}" for name in names - {"data"}} <= set(OPTIONS["cluster"].split())


def test_every_command_that_is_no_group_is_here():
    functions = {name for name, _ in inspect.getmembers(arguments, inspect.isfunction)}
    assert functions & set(COMMANDS) == set(OPTIONS)
    assert all(hasattr(load_command(name), "commands") for name in set(COMMANDS) - set(OPTIONS))


@pytest.mark.parametrize("command", OPTIONS)
def test_every_argument_and_option_has_a_help_text(command):
    for parameter in load_command(command).params:
        assert parameter.help.strip(), parameter.name
        assert parameter.help.rstrip().endswith((".", "]")) or parameter.name == "help", parameter.name


def test_predict_reads_and_writes_with_the_options_of_cluster():
    here, there = (inspect.signature(command).parameters for command in (arguments.predict, arguments.cluster))
    for name in set(here) - {"model", "data"}:
        assert here[name] == there[name], name


def test_a_run_gets_the_files_and_what_to_do_with_them(run, monkeypatch, blobs_csv, tmp_path):
    told = {}

    def stop(data, recipe, **more):
        told.update(more, data=data, name=recipe.name)
        raise Failure("enough")

    monkeypatch.setattr(clustering, "run", stop)
    run("cluster", blobs_csv, blobs_csv, "--drop", "a", "--drop", "b", "--id", "1", "-o", tmp_path / "out.csv", "-q")
    assert told == {
        "data": [blobs_csv, blobs_csv],
        "name": "LKG",
        "reading": {"key": None, "id_column": "1", "drop": ["a", "b"], "header": None, "form": Form()},
        "scale": "none",
        "out": tmp_path / "out.csv",
        "save": None,
        "dask": None,
        "confidence": False,
        "as_json": False,
        "quiet": True,
        "verbose": False,
    }


def test_the_model_is_not_overwritten_by_labels(refuse, blobs_csv, tmp_path):
    model = tmp_path / "a.model"
    model.touch()
    refuse("predict", model, blobs_csv, "--out", model, code=2, says=["--out", "is the model; choose another name"])


def test_workers_need_landmarks(refuse, no_fit, blobs_csv):
    refuse("cluster", blobs_csv, "--dask", "tcp://w:1", code=2, says=["--dask", "add --landmarks 500"])
