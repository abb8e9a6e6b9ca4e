from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernelbraid.bench.results.published import DATA, RECORD_NAMES
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.experiment import read_experiment
from kernelbraid.datasets import available
from kernelbraid.methods import METHODS

WHOLE = """
title = "A title"

[[run]]
data = ["wine", "digits"]
methods = ["KKM", "LKGr"]
banks = ["rmkkm", "paper"]
kernels = ["linear"]
scoring = ["best100", "mean20"]
seeds = [0, 1]
"""


def read(tmp_path, text):
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    return read_experiment(
        path, lambda name: SimpleNamespace(checksum=f"sum of {name}", views=[None]), available(), "1.0"
    )


def test_a_run_is_the_product_of_its_lists(tmp_path):
    experiment = read(tmp_path, WHOLE)
    assert experiment.title == "A title"
    assert len(experiment.trials) == 2 * 2 * 2 * 2 * 2
    assert {trial.kernel for trial in experiment.trials if trial.method == "KKM"} == {"linear"}
    assert {trial.kernel for trial in experiment.trials if trial.method == "LKGr"} == {""}
    assert {trial.checksum for trial in experiment.trials} == {"sum of wine", "sum of digits"}
    assert len({trial.key for trial in experiment.trials}) == len(experiment.trials)


def test_one_kernel_methods_take_all_twelve_kernels_unless_told(tmp_path):
    experiment = read(tmp_path, '[[run]]\ndata = ["wine"]\nmethods = ["KKM", "SSR"]\n')
    assert len([trial for trial in experiment.trials if trial.method == "KKM"]) == 12
    assert [(t.bank, t.kernel) for t in experiment.trials if t.method == "SSR"] == [("", "")]


def test_grids_are_products_of_their_own_or_the_registrys(tmp_path):
    own = read(tmp_path, '[[run]]\ndata = ["wine"]\nmethods = ["SCMK"]\ngrid = { alpha = [1, 2], beta = [3] }\n')
    assert [trial.parameters for trial in own.trials] == [{"alpha": 1, "beta": 3}, {"alpha": 2, "beta": 3}]
    registry = read(tmp_path, '[[run]]\ndata = ["wine"]\nmethods = ["SCMK"]\ngrid = "registry"\n')
    assert [dict(trial.parameters) for trial in registry.trials] == list(METHODS["SCMK"].tunings())


def test_random_draws_are_between_their_ends_and_the_same_every_time(tmp_path):
    text = '[[run]]\ndata = ["wine"]\nmethods = ["LKGr"]\nsettings = { tol = 0.001 }\n'
    text += 'random = { count = 20, alpha = [1e-3, 1.0] }\ngrid = { graph_from = ["J", "Z"] }\n'
    draws = [trial.parameters for trial in read(tmp_path, text).trials]
    assert len(draws) == 40
    assert len({draw["alpha"] for draw in draws}) == 20
    assert all(1e-3 <= draw["alpha"] <= 1 and draw["tol"] == 0.001 for draw in draws)
    assert [draw["graph_from"] for draw in draws] == ["J", "Z"] * 20
    assert draws == [trial.parameters for trial in read(tmp_path, text).trials]


def test_kernels_of_several_views_are_taken_in_turn(tmp_path):
    path = tmp_path / "experiment.toml"
    path.write_text('[[run]]\ndata = ["cora"]\nmethods = ["KKM", "MKKM"]\nkernels = ["linear"]\n')
    two = SimpleNamespace(checksum="x", views=[None, None])
    trials = read_experiment(path, lambda name: two, available(), "1.0").trials
    assert [trial.kernel for trial in trials] == ["view 1: linear", "view 2: linear", ""]


def test_a_reason_to_skip_is_kept_for_every_trial_of_its_run(tmp_path):
    text = '[[run]]\ndata = ["wine"]\nmethods = ["SSR"]\n'
    text += '[[run]]\ndata = ["digits"]\nmethods = ["SSR"]\nskip = "too dear"\n'
    experiment = read(tmp_path, text)
    assert {trial.data: experiment.skipped.get(trial.key) for trial in experiment.trials} == {
        "wine": None,
        "digits": "too dear",
    }


def test_parts_of_a_fit_are_kept_where_there_are_some(tmp_path):
    run = '[[run]]\ndata = ["wine"]\nkeep = ["kernel", "history"]\nmethods = '
    assert [trial.keep for trial in read(tmp_path, f'{run}["LKGs"]').trials] == [("history", "kernel")]
    with pytest.raises(ProtocolError, match=r"give KKM a .* without it"):
        read(tmp_path, f'{run}["LKGs", "KKM"]')


def test_changes_are_gone_through_level_by_level(tmp_path):
    run = (
        '[[run]]\ndata = ["wine"]\nmethods = ["LKGr", "KMeans"]\nchanges = { noise = [0, 0.5], useless_views = [2] }\n'
    )
    found = [(trial.method, dict(trial.changes)) for trial in read(tmp_path, run).trials]
    changes = [{"noise": 0}, {"noise": 0.5}, {"useless_views": 2}]
    assert found == list(product(["LKGr", "KMeans"], changes))
    shuffled = run.replace('["LKGr", "KMeans"]', '["LKGr"]').replace(
        "useless_views = [2]", 'shuffled = [1], kernel = "linear"'
    )
    changes = [{"noise": 0}, {"noise": 0.5}, {"shuffled": 1, "kernel": "linear"}]
    trials = read(tmp_path, shuffled).trials
    assert [trial.changes for trial in trials] == changes
    assert len({trial.key for trial in trials}) == 3


def test_a_method_that_joins_views_takes_one_kernel_of_all(tmp_path):
    path = tmp_path / "joined.toml"
    path.write_text('[[run]]\ndata = ["wine"]\nmethods = ["KKM-joined", "KKM"]\nkernels = ["linear"]\n')
    two = SimpleNamespace(checksum="x", views=[None, None])
    trials = read_experiment(path, lambda name: two, available(), "1.0").trials
    assert [(trial.method, trial.kernel) for trial in trials] == [
        ("KKM-joined", "linear"),
        ("KKM", "view 1: linear"),
        ("KKM", "view 2: linear"),
    ]


def test_methods_on_one_kernel_take_those_of_useless_views_too(tmp_path):
    run = '[[run]]\ndata = ["wine"]\nmethods = ["KKM"]\nkernels = ["linear"]\nchanges = { useless_views = [0, 1] }\n'
    trials = read(tmp_path, run).trials
    assert [(trial.changes["useless_views"], trial.kernel) for trial in trials] == [
        (0, "linear"),
        (1, "view 1: linear"),
        (1, "view 2: linear"),
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("{ noize = [1] }", "line 4: 'noize' is no change of the data; the nearest: noise, "),
        ("{ noise = 1 }", "changes = {'noise': 1} is not what it must be: levels, such as"),
        ("{ noise = [] }", "is not what it must be: levels, such as"),
        ('{ noise = ["much"] }', "is not what it must be: levels, such as"),
        ("{ noise = [inf] }", "is not what it must be: levels, such as"),
        ("{ noise = [true] }", "is not what it must be: levels, such as"),
        ("{}", "is not what it must be: levels, such as"),
        ("[1]", "is not what it must be: levels, such as"),
        ("{ noise = [0, -0.5] }", "-0.5 is no level of noise; give deviations, 0 or more."),
        ("{ outliers = [1] }", "1 is no level of outliers; give a share from 0 to below 1."),
        ("{ useless_views = [1.5] }", "1.5 is no level of useless_views; give a whole number, 0 or more."),
        ('{ shuffled = [1.5], kernel = "linear" }', "1.5 is no level of shuffled; give a share from 0 to 1."),
        ("{ shuffled = [1] }", "shuffled needs the kernel to shuffle; add kernel = 'linear'."),
        ('{ noise = [1], kernel = "linear" }', "the kernel of changes is for shuffled; add levels, or leave it out."),
        (
            '{ shuffled = [1], kernel = "linar" }',
            "line 4: 'linar' is no kernel of the bank rmkkm; the nearest: linear.",
        ),
        ("{ shuffled = [1], kernel = 3 }", "is not what it must be: levels, such as"),
    ],
)
def test_wrong_changes_are_refused_with_one_sentence(tmp_path, changes, message):
    with pytest.raises(ProtocolError) as caught:
        read(tmp_path, f'[[run]]\ndata = ["wine"]\nmethods = ["LKGr"]\nchanges = {changes}\n')
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("method", ["KKM", "LKGr/one-kernel", "SSR", "KMeans"])
def test_a_kernel_is_shuffled_for_methods_on_all_kernels_alone(tmp_path, method):
    run = (
        f'[[run]]\ndata = ["wine"]\nmethods = ["LKGr", "{method}"]\nchanges = {{ shuffled = [1], kernel = "linear" }}\n'
    )
    with pytest.raises(ProtocolError, match=f"shuffled is for methods on all kernels; leave {method} out"):
        read(tmp_path, run)


def test_nothing_is_loaded_for_wrong_changes(tmp_path):
    path = tmp_path / "experiment.toml"
    path.write_text('[[run]]\ndata = ["wine"]\nmethods = ["LKGr"]\nchanges = { noise = [-1] }\n')
    with pytest.raises(ProtocolError, match="no level of noise"):
        read_experiment(path, lambda name: pytest.fail("it was loaded"), available(), "1.0")


def test_a_trial_that_is_asked_for_twice_is_run_once(tmp_path):
    run = '[[run]]\ndata = ["wine"]\nmethods = ["SSR"]\n'
    assert len(read(tmp_path, run + run).trials) == 1


@pytest.mark.parametrize(
    ("wrong", "line", "near"),
    [
        ('data = ["wime"]\nmethods = ["KKM"]', 3, "wine"),
        ('data = ["wine"]\nmethods = ["KKN"]', 4, "KKM"),
        ('data = ["wine"]\nmethods = ["KKM"]\nbanks = ["papr"]', 5, "paper"),
        ('data = ["wine"]\nmethods = ["KKM"]\nscoring = ["mean2"]', 5, "mean20"),
        ('data = ["wine"]\nmethods = ["LKGr"]\n[run.grid]\nalpa = [1]', 6, "alpha"),
        ('data = ["wine"]\nmethods = ["LKGr"]\nsettings = { grpah_from = "J" }', 5, "graph_from"),
        ('data = ["wine"]\nmethods = ["KKM"]\nkernels = ["linar"]', 5, "linear"),
        ('data = ["wine"]\nmethods = ["KKM"]\nsedes = [1]', 5, "seeds"),
        ('data = ["wine"]\nmethods = ["LKGr"]\nkeep = ["histroy"]', 5, "history"),
    ],
)
def test_a_wrong_word_is_named_with_its_line_and_the_nearest_right_ones(tmp_path, wrong, line, near):
    with pytest.raises(ProtocolError, match=f"line {line}: .*{near}"):
        read(tmp_path, f"\n[[run]]\n{wrong}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 'x'", r"there is no \[\[run\]\]"),
        ("[[run]]\nmethods = ['KKM']", "has no data"),
        ("[[run]]\ndata = ['wine'", "Unclosed array"),
    ],
)
def test_an_incomplete_file_is_refused(tmp_path, text, message):
    with pytest.raises(ProtocolError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "wrong",
    [
        "seeds = 3",
        "random = { alpha = [1.0, 2.0] }",
        "random = { count = 2, alpha = [0.0, 2.0] }",
        "grid = { alpha = 0.1 }",
        'grid = "regstry"',
        'methods = "LKGr"',
        "settings = { n_clusters = 3 }",
        "skip = 3",
        'keep = "history"',
    ],
)
def test_a_value_of_another_kind_is_refused(tmp_path, wrong):
    with pytest.raises(ProtocolError, match="n_clusters" if "n_clusters" in wrong else wrong.split()[0]):
        read(tmp_path, '[[run]]\ndata = ["wine"]\n' + ("" if "methods" in wrong else 'methods = ["LKGr"]\n') + wrong)


def test_single_brackets_are_named(tmp_path):
    with pytest.raises(ProtocolError, match="two brackets"):
        read(tmp_path, '[run]\ndata = ["wine"]\nmethods = ["KKM"]\n')


def test_the_example_of_the_page_is_right(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text(encoding="utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    assert {trial.method for trial in read(tmp_path, example).trials} == {"LKGr", "LKGs", "SC-knn"}


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[3] / "experiments").glob("*.toml")), ids=lambda p: p.stem
)
def test_the_experiments_of_the_project_are_right(tmp_path, path):
    trials = read(tmp_path, path.read_text(encoding="utf-8")).trials
    kept = {(trial.data, trial.method) for trial in trials if trial.keep == ("history", "kernel")}
    wanted = {"figures": product(("yale", "jaffe"), ("LKGr", "LKGs")), "smoke": product(["wine"], ("LKGr", "LKGs"))}
    assert kept == set(wanted.get(path.stem, ()))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ProtocolError, match="could not be read"):
        read_experiment(tmp_path / "none.toml", None, [], "1.0")


def test_a_study_is_part_of_its_trials_and_must_be_known(tmp_path):
    text = '[[run]]\ndata = ["wine"]\nmethods = ["LKG", "LKGSearch", "MKKM"]\nstudy = "label-free"\n'
    trials = read(tmp_path, text).trials
    assert {trial.study for trial in trials} == {"label-free"}
    assert {trial.method: trial.bank for trial in trials} == {"LKG": "auto", "LKGSearch": "", "MKKM": "rmkkm"}
    with pytest.raises(ProtocolError, match=r"line 4: 'labelfree' is no part of the study; the nearest: label-free"):
        read(tmp_path, text.replace("label-free", "labelfree"))
    with pytest.raises(ProtocolError, match="a part of the study: label-free, candidates, baselines"):
        read(tmp_path, text.replace('"label-free"', "true"))


def test_a_parameter_may_be_infinite(tmp_path):
    text = '[[run]]\ndata = ["wine"]\nmethods = ["LKG"]\nsettings = { gamma = inf }\n'
    [trial] = read(tmp_path, text).trials
    assert trial.parameters == {"gamma": float("inf")}
    assert len(trial.key) == 64


def test_the_study_compares_ours_and_the_rivals_on_the_nine_data_sets():
    path = Path(__file__).parents[3] / "experiments" / "study.toml"
    experiment = read_experiment(path, lambda name: SimpleNamespace(checksum="", views=[None]), available(), "1.0")
    clean = [trial for trial in experiment.trials if trial.study == "label-free" and not trial.changes]
    nine = {RECORD_NAMES[title] for title in DATA}
    for method in ("LKG", "LKGSearch", "KMeans", "SC-rbf", "SC-knn", "HDBSCAN"):
        mine = [trial for trial in clean if trial.method == method]
        assert {trial.data for trial in mine} >= nine
        assert {trial.seed for trial in mine} == ({0} if method == "HDBSCAN" else {0, 1, 2})
        assert not any(trial.parameters for trial in mine)
    candidates = [trial for trial in experiment.trials if trial.study == "candidates"]
    assert len(candidates) == 8 * 10 * 3 + 10  # one seed on TDT2
    assert all(trial.study for trial in experiment.trials)


def test_changes_together_come_at_once_every_level_with_every_other(tmp_path):
    text = '[[run]]\ndata = ["wine"]\nmethods = ["LKG"]\nchanges = { decoys = [1, 2], noise_views = [3] }\n'
    assert [t.changes for t in read(tmp_path, text).trials] == [{"decoys": 1}, {"decoys": 2}, {"noise_views": 3}]
    both = [t.changes for t in read(tmp_path, text + "together = true\n").trials]
    assert both == [{"decoys": 1, "noise_views": 3}, {"decoys": 2, "noise_views": 3}]


@pytest.mark.parametrize(
    ("changes", "count"),
    [("{ decoys = [2] }", 3), ("{ view = [1] }", 1), ("{ row_sums = [1] }", 2), ("{ copies = [0] }", 1)],
)
def test_methods_on_one_kernel_take_each_view_that_changed_data_have(tmp_path, changes, count):
    text = f'[[run]]\ndata = ["wine"]\nmethods = ["KKM"]\nkernels = ["linear"]\nchanges = {changes}\n'
    assert len(read(tmp_path, text).trials) == count
