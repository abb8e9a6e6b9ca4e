import math
import re
from unittest.mock import ANY

import numpy as np
import pytest

from kernelbraid import ADMM, LKG
from kernelbraid.cli.cluster import value_of
from kernelbraid.cli.ending import TABLES
from kernelbraid.kernels import BANKS
from kernelbraid.methods import METHODS

DATA = "--key --id --drop --header --no-header --format --delimiter --decimal"
LABELS = "--out -o --confidence --json --quiet -q"
PARAMETERS = [
    "--n-clusters",
    "--preset",
    "--kernels",
    "--fusion",
    "--view-weights",
    "--alpha",
    "--n-neighbors",
    "--device",
    "--n-jobs",
    "--random-state",
]
OPTIONS = {
    "cluster": f"{' '.join(PARAMETERS)} -k --method --set --dask {DATA} --scale {LABELS} --save --verbose -v",
    "predict": f"{DATA} {LABELS}",
    "methods": "--json",
    "score": "--json --nmi-average --column --labels-column --key --header --no-header --format --delimiter",
    "demo": "--out --json",
    "datasets": "list fetch import show",
    "datasets list": "--json",
    "datasets fetch": "NAME --force",
    "datasets import": "NAME FILE --raw --force",
    "datasets show": "NAME --out --classes --samples",
}


@pytest.mark.parametrize("command", OPTIONS)
def test_help_mentions_every_option_and_no_type_of_python(read_help, command):
    shown = read_help(*command.split(), "--help")
    for option in OPTIONS[command].split():
        assert re.search(rf"(?<!\S)\[?{option}\b", shown), option
    for word in ("bool", "list[", "Path", "BOOLEAN", "[bold]"):
        assert word not in shown


def test_an_option_takes_the_words_of_what_it_sets():
    words = {form.split()[0]: form.split()[-1].split("|") for table in TABLES.values() for form in table if "|" in form}
    assert words["--method"] == ["LKG", *METHODS]
    assert sorted(words["--kernels"]) == sorted(["auto", *BANKS, "precomputed", "graph", "distances"])
    for name in ("preset", "fusion"):
        given = [getattr(kind, "options", ()) for kind in LKG._parameter_constraints[name]]
        assert set(words[f"--{name}"]) == set().union(*given)


def test_every_argument_and_option_is_told_in_sentences():
    for form, text in [one for name, table in TABLES.items() if name != "renamed" for one in table.items()]:
        assert text[0].isupper() or text[0] == ".", form
        assert text.endswith(".") or "|" in form, form  # to which the words are added


def test_an_option_is_called_like_the_parameter_that_it_sets():
    known = {*LKG().get_params()}
    assert {option.strip("-").replace("-", "_") for option in PARAMETERS} <= known


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("1e-3", 1e-3),
        ("inf", math.inf),
        ("True", True),
        ("None", None),
        ("1, 0.5,0", (1, 0.5, 0)),
        ("['near', 'middle']", ["near", "middle"]),
        ("all", "all"),
    ],
)
def test_values_are_those_of_python_or_text(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_every_option_reaches_the_estimator(run, built, blobs_csv):
    options = (
        "-k 4 --preset paper --alpha 0.2 --kernels rmkkm --n-neighbors 6 --random-state 9 --device cpu "
        "--n-jobs 2 --fusion kernels --view-weights 1,0.5 --set solver__graph_penalty=l1 "
        "--set solver__beta=0.3 --set solver__tol=0 --set n_init=3"
    )
    run("cluster", blobs_csv, *options.split())
    wanted = {"n_clusters": 4, "preset": "paper", "alpha": 0.2, "kernels": "rmkkm", "n_neighbors": 6}
    wanted |= {"random_state": 9, "device": "cpu", "n_jobs": 2, "fusion": "kernels", "view_weights": (1, 0.5)}
    wanted |= {"n_init": 3, "solver": ANY}
    solver = ADMM(graph_penalty="l1", beta=0.3, tol=0)
    of_solver = {f"solver__{name}": value for name, value in solver.get_params().items()}
    assert built == {**LKG().get_params(), **of_solver, **wanted}


def test_what_is_not_given_is_left_to_the_estimator_or_the_method(run, built, blobs_csv):
    run("cluster", blobs_csv)
    assert built == LKG("auto", random_state=0).get_params()
    for method in METHODS:
        built.clear()
        run("cluster", blobs_csv, "-k", 3, "--method", method, "--set", "n_init=77")
        wanted = METHODS[method].set_params(n_clusters=3, n_init=77, random_state=0).get_params()
        assert built == {**wanted, **({"solver": ANY} if "solver" in wanted else {})}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("bogus", "bogus"),
        ("clutser", ["No such command 'clutser'", "cluster", "kernelbraid --help"]),
        ("--bogus", "--bogus"),
        ("cluster", "DATA"),
        ("cluster {data} -k", "-k"),
        ("cluster {data} --clusters 3", "there is no option --clusters; give --n-clusters (-k)."),
        ("cluster {data} --seed 3", "give --random-state."),
        ("cluster {data} --penalty l1", "give --set solver__graph_penalty=..."),
        ("cluster {data} --n-cluster 3", "there is no option --n-cluster; the nearest is '--n-clusters'."),
        ("predict {data} {data} --quite", "the nearest is '--quiet'."),
        ("cluster {data} --method RMKKM", ["RMKKM does not choose", "give --n-clusters"]),
        ("cluster {data} --method ?", ["'--method': '?' is not one of", *METHODS]),
        ("cluster {data} -k 0", ["'n_clusters' parameter of LKG must be an int in the range [1, inf)", "not 0."]),
        ("cluster {data} -k three", ["'n_clusters' parameter of LKG must be", "not 'three'."]),
        ("cluster {data} -k 3 --alpha nan", "'alpha' parameter of LKG must be"),
        ("cluster {data} -k 3 --n-neighbors some", ["'n_neighbors' parameter of LKG must be", "'all'"]),
        ("cluster {data} -k 3 --random-state -1", "'random_state' parameter of LKG"),
        ("cluster {data} -k 3 --n-jobs 0", "'n_jobs' parameter of LKG"),
        ("cluster {data} -k 3 --view-weights 1;1", "'view_weights' parameter of LKG"),
        ("cluster {data} -k 3 --preset mine", ["--preset", "'mine' is not one of 'recommended', 'authors', 'paper'"]),
        ("cluster {data} -k 3 --kernels x", ["--kernels", "'x' is not one of", "precomputed"]),
        ("cluster {data} -k 3 --set alhpa=1", "LKG has no parameter 'alhpa'; the nearest is 'alpha'."),
        ("cluster {data} -k 3 --set zzz=1", "LKG has no parameter 'zzz'; choose one of alpha, approximation,"),
        ("cluster {data} -k 3 --set max_iter", "--set max_iter gives no value; write --set max_iter=VALUE."),
        ("cluster {data} -k 3 --method KKM --preset paper", "KernelKMeans has no parameter 'preset'"),
        ("cluster {data} -k 3 --n-landmarks 9", "LKG takes any number of samples"),
        ("cluster {data} -k 3 --method SC --save {missing}", "SC cannot label new samples; leave out --save"),
        ("cluster {data} -k 3 --method KKM --confidence", "KKM does not know how sure its labels are"),
        ("cluster {data} -k 3 -q -v", "--verbose excludes --quiet"),
        ("cluster {data} -k 3 --method SC --dask tcp://w:1", "--dask is for LKG, and SC needs its samples here"),
        ("cluster {data} -k 3 --scale minmax", ["--scale", "'standard', 'unit', 'none'"]),
        ("cluster {data} -k 3 --scale unit --kernels graph", "--scale is for features"),
        ("cluster {data} -k 3 --set solver=ADMM() --set solver__gamma=1", ["LKG has no parameter 'solver'"]),
        ("cluster {data} -k 3 --format xls", ["--format", "'xls' is not one of"]),
        ("cluster {data} -k 3 --decimal ;", ["--decimal", "'point', 'comma'"]),
        ("cluster - - -k 3", "standard input, which can be read once"),
        ("score - -", "standard input, which can be read once"),
        ("cluster {data} -k 3 --json --out -", ["--out", "leave out one"]),
        ("cluster {missing} -k 3", ["DATA", "missing.csv", "check the path"]),
        ("cluster {folder} -k 3", ["DATA", "is a folder"]),
        ("cluster {data} --save {folder}", ["--save", "is a folder"]),
        ("cluster {data} --save {missing}/a.model", ["--save", "there is no folder"]),
        ("cluster {data} --save {data}", ["--save", "is another file of this command"]),
        ("cluster {data} --out {missing} --save {missing}", ["--save", "is another file of this command"]),
        ("cluster {data} --out {folder}/a.xlsx", ["--out", "not as 'a.xlsx'; choose another name"]),
        ("predict", "MODEL"),
        ("predict {data}", "DATA"),
        ("predict {missing} {data}", ["MODEL", "missing.csv", "check the path"]),
        ("predict {data} {data} --out {data}", ["--out", "is another file of this command"]),
        ("methods extra", "extra"),
        ("score {data}", "LABELS"),
        ("score {missing} {data}", ["TRUTH", "missing.csv"]),
        ("score {data} {data} --nmi-average min", ["--nmi-average", "'min'", "'max', 'arithmetic'"]),
        ("demo --out {data}/folder", ["--out", "no folder"]),
    ],
)
def test_bad_usage_ends_with_code_2_and_one_sentence(refuse, no_fit, blobs_csv, tmp_path, args, says):
    places = {"data": blobs_csv, "missing": tmp_path / "missing.csv", "folder": tmp_path}
    refuse(*[arg.format(**places) for arg in args.split()], code=2, says=says)


def test_a_delimiter_is_one_sign_or_its_name(run, refuse, tmp_path):
    (tmp_path / "a.csv").write_text("a|b\n" + "".join(f"{i}.5|{i % 3}\n" for i in range(9)))
    for told in ("|", "pipe"):
        assert run("cluster", tmp_path / "a.csv", "-k", 2, "--delimiter", told, "-q").exit_code == 0
    refuse(
        "cluster", tmp_path / "a.csv", "-k", 2, "--delimiter", "ab", code=2, says=["--delimiter", "'ab'", "semicolon"]
    )


def test_a_call_is_refused_before_files_are_read(refuse, tmp_path):
    np.save(tmp_path / "X.npy", np.array(["text"]))
    refuse("cluster", tmp_path / "X.npy", "--alpha", "-1", code=2, says="'alpha'")
