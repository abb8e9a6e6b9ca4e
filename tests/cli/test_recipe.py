import pytest

from kernelbraid import LKG
from kernelbraid.cli.failure import Failure
from kernelbraid.cli.recipe import choose
from kernelbraid.methods import METHODS, kernels_taken


def test_a_method_comes_with_the_settings_of_the_registry(run, built, blobs_csv):
    for method in METHODS:
        run("cluster", blobs_csv, "-k", 3, "--method", method)
        assert built == METHODS[method].set_params(n_clusters=3, random_state=0).get_params()


def test_given_options_win_over_the_settings(run, built, blobs_csv):
    for method in METHODS:
        run("cluster", blobs_csv, "-k", 3, "--method", method, "--n-init", 77, "--seed", 5, "--jobs", -1)
        assert built == METHODS[method].set_params(n_clusters=3, n_init=77, random_state=5, n_jobs=-1).get_params()


def test_the_embedding_of_a_graph_method_is_an_option(run, built, blobs_csv):
    run("cluster", blobs_csv, "-k", 3, "--method", "SC")
    assert built["embedding"] == "unnormalised"
    run("cluster", blobs_csv, "-k", 3, "--method", "SC", "--embedding", "largest")
    assert built["embedding"] == "largest"


@pytest.mark.parametrize(
    ("penalty", "name"), [(None, "LKG"), ("frobenius", "LKG"), ("nuclear", "LKGr"), ("l1", "LKGs")]
)
def test_without_a_method_the_penalty_chooses_one(penalty, name):
    recipe = choose(None, {"n_clusters": 3, "graph_penalty": penalty, "mu": None})
    assert recipe.name == name
    assert recipe.make().get_params() == LKG(3, graph_penalty=penalty).get_params()


@pytest.mark.parametrize(("preset", "name"), [("recommended", "LKG"), ("authors", "LKGr"), ("paper", "LKGr")])
def test_without_a_penalty_the_preset_chooses_one(preset, name):
    assert choose(None, {"n_clusters": 3, "preset": preset}).name == name


def test_lkg_chooses_the_number_of_clusters_that_is_not_given(run, built, blobs_csv):
    run("cluster", blobs_csv)
    assert built == LKG("auto", random_state=0).get_params()


def test_precomputed_kernels_are_one_kernel_or_several():
    for method in METHODS:
        asked = {"n_clusters": 3, "kernels": "precomputed", "kernel": None, "n_init": None, "random_state": 0}
        assert not choose(method, {"n_clusters": 3}).precomputed
        if kernels_taken(METHODS[method]) == "none":
            with pytest.raises(Failure, match="it takes --n-init and --seed"):
                choose(method, asked)
            return
        recipe = choose(method, asked)
        assert recipe.precomputed
        assert ("kernel" in recipe.parameters) == (kernels_taken(METHODS[method]) == "one")
        assert ("kernels" in recipe.parameters) == (kernels_taken(METHODS[method]) == "several")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--method RMKKM --mu 1", ["--mu is no option of RMKKM", "--gamma", "--storage", "and --seed."]),
        ("--method KKM --preset paper", ["--preset is no option of KKM", "--kernel, --kernels precomputed,"]),
        ("--method SSR --kernels paper", ["--kernels is no option of SSR", "--embedding"]),
        ("--method SSR --kernels precomputed", "--kernels is no option of SSR"),
        ("--method SSR --kernel linear", "--kernel is no option of SSR"),
        ("--method SCSK --kernels rmkkm", ["--kernels rmkkm is no option of SCSK", "--kernels precomputed"]),
        ("--method MKKM --kernel linear", ["--kernel is no option of MKKM", "--kernels"]),
        ("--method MKKM --embedding largest", "--embedding is no option of MKKM"),
        ("--method SC --max-iter 9", "--max-iter is no option of SC"),
        ("--method SC --tol 1", "--tol is no option of SC"),
        ("--method AASC --storage lazy", "--storage is no option of AASC"),
        ("--method RMKKM --penalty l1", "--penalty is no option of RMKKM"),
        ("--method LKGs --penalty l1", ["--penalty is no option of LKGs", "it takes --preset, --kernels"]),
        ("--kernel linear", ["--kernel is no option of LKG, the default", "--penalty"]),
        ("--method KKM --kernels precomputed --kernel linear", ["--kernel linear", "exclude each other", "leave out"]),
    ],
)
def test_an_option_that_a_method_does_not_have_is_bad_usage(refuse, no_fit, blobs_csv, options, says):
    refuse("cluster", blobs_csv, "-k", 3, *options.split(), code=2, says=says)


def test_a_refusal_names_no_option_that_the_method_does_not_have(refuse, no_fit, blobs_csv):
    message = refuse("cluster", blobs_csv, "-k", 3, "--method", "LKGs", "--penalty", "l1", code=2).stderr
    assert "--penalty" not in message.split("it takes")[1]
    assert "--kernel," not in message
    assert "--clusters" not in message
