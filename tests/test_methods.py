import subprocess
import sys
import warnings
from itertools import product

import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernelbraid import LKG, LKGSearch
from kernelbraid.methods import LABEL_FREE, METHODS, RIVALS, combinations
from problems import blobs


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def test_the_methods_begin_with_those_of_the_paper_in_its_order():
    published = ["KKM", "SC", "RKKM", "SSR", "SCSK", "MKKM", "AASC", "RMKKM", "SCMK", "LKGs", "LKGr"]
    assert list(METHODS)[: len(published)] == published


def test_every_method_has_a_title_of_its_own():
    titles = [method.title for method in METHODS.values()]
    assert all(titles)
    assert len(set(titles)) == len(titles)


def test_the_policy_says_how_kernels_are_given(method):
    names = method.estimator().get_params()
    expected = {"each": {"kernel"}, "all": {"kernels"}, "features": set()}[method.policy]
    assert names.keys() & {"kernel", "kernels"} == expected


def test_settings_and_every_value_of_the_grid_are_legal(method):
    X, _ = blobs(n=8, d=2)
    default = method.make(2).get_params()
    for one in [{}, *({name: value} for name, values in method.grid.items() for value in values)]:
        assert one.keys() <= default.keys()
        method.make(2, **one)._validate_params()
    first = {name: values[0] for name, values in method.grid.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # eight samples and the edge of a grid
        assert set(method.make(2, random_state=0, **first).fit(X).labels_) == {0, 1}


def test_an_unfitted_estimator_has_the_settings_of_the_method(method):
    model = method.make(4)
    assert type(model) is method.estimator
    assert model.n_clusters == 4
    assert not hasattr(model, "labels_")
    for name, value in method.settings.items():
        assert getattr(model, name) == value
    assert clone(model).get_params() == model.get_params()


def test_explicit_parameters_win_over_the_settings(method):
    before = dict(method.settings)
    model = method.make(3, n_init=7, random_state=5)
    assert (model.n_init, model.random_state) == (7, 5)
    assert dict(method.settings) == before
    assert METHODS["RKKM"].make(3, robust=False).robust is False
    assert METHODS["LKGs"].make(3, graph_penalty="nuclear").graph_penalty == "nuclear"


def test_tunings_are_the_full_product_of_the_grid(method):
    tunings = list(method.tunings())
    expected = [dict(zip(method.grid, values, strict=True)) for values in product(*method.grid.values())]
    assert tunings == expected
    assert len({tuple(tuning.values()) for tuning in tunings}) == len(tunings)


def test_nothing_to_tune_is_one_empty_tuning():
    assert list(METHODS["KKM"].tunings()) == [{}]


def test_combinations_come_with_the_last_value_changing_first():
    points = list(combinations({"a": (1, 2), "b": ("x", "y")}))
    assert points == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"}]
    assert list(combinations({"a": (), "b": (1,)})) == []


def test_grids_do_not_touch_the_settings(method):
    assert not method.grid.keys() & method.settings.keys()


def test_ours_without_labels_are_no_methods_of_the_paper_and_have_nothing_to_tune():
    assert not LABEL_FREE.keys() & METHODS.keys()
    assert [LABEL_FREE[name].make(3).get_params() for name in LABEL_FREE] == [
        LKG(3).get_params(),
        LKGSearch(3).get_params(),
    ]
    assert all(not method.grid and not method.settings for method in LABEL_FREE.values())


def test_a_rival_that_chooses_the_number_itself_is_not_told_it():
    model = RIVALS["HDBSCAN"].make(3, random_state=0)
    assert model.min_cluster_size == 5
    with pytest.raises(TypeError):
        RIVALS["HDBSCAN"].make(3, n_init=2)


def test_the_two_forms_of_the_proposed_method_differ_in_the_penalty_alone():
    assert METHODS["LKGs"].estimator is METHODS["LKGr"].estimator is LKG
    assert METHODS["LKGs"].grid == METHODS["LKGr"].grid
    assert [METHODS[name].settings for name in ("LKGs", "LKGr")] == [
        {"preset": "authors", "graph_penalty": "l1"},
        {"preset": "authors", "graph_penalty": "nuclear"},
    ]


def test_a_line_in_the_registry_is_all_that_a_form_of_an_estimator_needs(tmp_path):
    code = """
import sys
from kernelbraid import methods
MANY = {"n_init": 50}
methods.METHODS["KKM-many"] = methods.Method("kernel k-means, many starts", methods.KernelKMeans, "each", MANY)
from kernelbraid.bench.trials.compared import COMPARED
assert COMPARED["KKM-many"].make(3).n_init == 50
from kernelbraid.cli import main
sys.argv = ["kernelbraid", *sys.argv[1:]]
main()
"""
    (tmp_path / "data.csv").write_text("\n".join(f"{i // 5 * 9}.{i},1" for i in range(10)))
    for command in (["methods"], ["cluster", str(tmp_path / "data.csv"), "-k", "2", "--method", "KKM-many"]):
        result = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        assert "kernel k-means, many starts" in result.stdout
