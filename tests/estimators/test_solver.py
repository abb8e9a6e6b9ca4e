import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbraid import ADMM, LKG, LKGClassifier
from kernelbraid.estimators.base import GONE
from problems import blobs

X, y = blobs(n=30)
KNOWN = np.where(np.arange(30) % 3 == 0, y, -1)


def test_an_old_parameter_is_told_where_it_is_now():
    sentence = "LKG has no parameter 'beta'; it belongs to the solver: LKG(solver=ADMM(beta=0.1))"
    for call in (LKG, LKG(3).set_params, LKG(3, solver=ADMM()).set_params):
        with pytest.raises(TypeError) as raised:
            call(beta=0.1)
        assert str(raised.value) == sentence
    with pytest.raises(TypeError, match=r"belongs to the solver: LKG\(solver=ADMM\(graph_penalty='l1'\)\)$"):
        make_pipeline(StandardScaler(), LKG(3)).set_params(lkg__graph_penalty="l1")


def test_parameters_of_a_clusterer_and_its_solver_are_told_from_a_classifier():
    with pytest.raises(
        TypeError, match=r"^LKGClassifier has no parameter 'alpha'; it belongs to the clusterer: LKGClas"
    ):
        LKGClassifier(alpha=1.0)
    with pytest.raises(TypeError, match=r": LKGClassifier\(clusterer=LKG\(solver=ADMM\(beta=0\.1\)\)\)$"):
        LKGClassifier().set_params(beta=0.1)


@pytest.mark.parametrize("name", GONE)
def test_a_parameter_that_is_gone_is_told_why(name):
    with pytest.raises(TypeError, match=rf"^LKG has no parameter '{name}'; leave it out: "):
        LKG(3, **{name: 1})


def test_what_is_no_part_and_names_that_do_not_exist_are_refused():
    for solver in ("admm", ADMM, LKG()):
        with pytest.raises(ValueError, match="The 'solver' parameter of LKG must be an instance of"):
            LKG(3, solver=solver).fit(X)
    with pytest.raises(ValueError, match="The 'gamma' parameter of ADMM must be"):
        LKG(3, solver=ADMM(gamma=-1.0)).fit(X)
    with pytest.raises(ValueError, match="The 'clusterer' parameter of LKGClassifier must be an instance of"):
        LKGClassifier(clusterer=ADMM()).fit(X, KNOWN)
    with pytest.raises(ValueError, match="The 'mu' parameter of ADMM must be"):
        LKGClassifier(LKG(solver=ADMM(mu=0.0))).fit(X, KNOWN)
    with pytest.raises(ValueError, match="Invalid parameter 'none' for estimator ADMM"):
        LKG(3).set_params(solver__none=1)
    with pytest.raises(ValueError, match=r"^approximation='exact' is for fits without a solver.*; leave it out\.$"):
        LKG(3, solver=ADMM(), approximation="exact").fit(X)


def test_parts_are_made_where_one_of_their_parameters_is_set():
    model = LKG(3).set_params(solver__gamma=2.0, alpha=0.5)
    assert str(model) == "LKG(alpha=0.5, n_clusters=3, solver=ADMM(gamma=2.0))"
    assert model.set_params(solver=None).solver is None
    classifier = LKGClassifier().set_params(clusterer__solver__gamma=2.0, spread=0.5)
    assert str(classifier) == "LKGClassifier(clusterer=LKG(solver=ADMM(gamma=2.0)), spread=0.5)"


def test_a_clone_shares_no_part_and_a_fit_changes_none():
    model = LKGClassifier(LKG(solver=ADMM(max_iter=8, tol=0.0)))
    copied, told = clone(model), str(model)
    assert str(copied) == told
    assert copied.clusterer is not model.clusterer
    assert copied.clusterer.solver is not model.clusterer.solver
    model.fit(X, KNOWN)
    assert str(model) == told
    assert model.clusterer_.n_iter_ == 8


def test_a_solution_is_there_after_a_fit_with_a_solver_alone():
    model = LKG(3, random_state=0)
    with pytest.raises(NotFittedError):
        _ = model.confidence_
    with pytest.raises(
        AttributeError, match=r"no solution_ after a fit without a solver; fit it with solver=ADMM\(\)\.$"
    ):
        _ = model.fit(X).solution_
    model.set_params(solver__max_iter=8, solver__tol=0.0).fit(X)
    assert model.solution_.Z.shape == (30, 30)
    with pytest.raises(AttributeError, match="no solution_ after a fit without a solver"):
        _ = model.set_params(solver=None).fit(X).solution_


def test_coordinates_with_a_solver_come_as_tables_on_request():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    placed = LKG(3, solver=ADMM(), random_state=0).set_output(transform="pandas").fit_transform(X)
    assert isinstance(placed, pd.DataFrame)
    assert list(placed.columns) == ["lkg0", "lkg1", "lkg2"]
