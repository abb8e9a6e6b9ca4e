"""The methods and the presets."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from kernelbraid import ADMM, LKG, load_model, save_model
from kernelbraid.methods import METHODS

PUBLISHED = ["KKM", "SC", "RKKM", "SSR", "SCSK", "MKKM", "AASC", "RMKKM", "SCMK", "LKGs", "LKGr"]
NAMES = [*PUBLISHED, "SimpleMKKM", "SMKL", "GMC", "CGD"]


def test_there_are_fifteen_methods_by_their_names_in_the_literature(program):
    assert list(METHODS) == NAMES
    assert set(NAMES) <= set(program("methods").stdout.decode().split())


@pytest.mark.parametrize("name", NAMES)
def test_every_method_finds_separated_blobs(blobs, name):
    X, y = blobs
    model = METHODS[name].set_params(n_clusters=3, random_state=0, n_init=20).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_method_is_chosen_by_its_name_on_the_command_line(program, write_table, blobs, read_labels):
    X, y = blobs
    program("cluster", write_table("a.csv", X), "-k", 3, "--method", "RMKKM", "--out", "labels.csv")
    assert adjusted_rand_score(y, list(read_labels("labels.csv").values())) > 0.9


@pytest.mark.reference
@pytest.mark.parametrize(("file", "penalty"), [("yale_lkgr_a", "nuclear"), ("yale_lkgs_a", "l1")])
def test_the_preset_authors_repeats_fits_of_the_published_code(shared, file, penalty):
    expected, faces = shared(f"reference/{file}.npz"), shared("datasets/yale_raw.npz")["X"].astype(float)
    X = (faces - faces.mean(axis=0)) / faces.std(axis=0, ddof=1)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    weights = {name: float(expected[name]) for name in ("alpha", "beta", "gamma")}
    solver = ADMM(graph_penalty=penalty, beta=weights["beta"], gamma=weights["gamma"], mu=float(expected["mu_start"]))
    model = LKG(15, preset="authors", alpha=weights["alpha"], solver=solver, random_state=0).fit(X)
    assert model.n_iter_ == expected["n_iter"]
    for found, known in ((model.solution_.J, expected["J"]), (model.solution_.K, expected["K"])):
        assert np.linalg.norm(found - known) < 1e-6 * np.linalg.norm(known)


def test_the_preset_paper_follows_the_text(blobs):
    X, y = blobs
    model = LKG(3, preset="paper", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert len(model.solution_.names) == 12
    assert model.solution_.g.sum() == pytest.approx(1)


def test_a_model_that_was_saved_is_the_same_when_it_is_loaded(folder, blobs):
    X, _ = blobs
    model = LKG(3, random_state=0).fit(X)
    save_model(model, folder / "blobs.model")
    loaded = load_model(folder / "blobs.model")
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.predict(X + 0.01), model.predict(X + 0.01))
