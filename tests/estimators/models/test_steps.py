"""Pipelines of scikit-learn's own steps and an estimator, as files."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from kernelbraid import LKG, EachView, KernelKMeans, LandmarkLKG, LKGClassifier, load_model, save_model
from kernelbraid.estimators.models.members import CHECKSUMS
from kernelbraid.estimators.models.saving import TREE
from kernelbraid.estimators.models.steps import STEPS, changed_parameters
from problems import blobs

samples, classes = blobs(n=45, d=5)
X, new = 3 * samples[:30] + 7, 3 * samples[30:] + 7
VIEWS, NEW = [X[:, :2], X[:, 2:]], [new[:, :2], new[:, 2:]]
LAST = KernelKMeans(3, random_state=0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.model"


@pytest.fixture
def twin(path):
    def save_and_load(model):
        save_model(model, path)
        return load_model(path)

    return save_and_load


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [MinMaxScaler((-1, 1), clip=True)],
        [RobustScaler(quantile_range=(10.0, 90.0))],
        [RobustScaler(with_centering=False)],
        [MaxAbsScaler()],
        [StandardScaler(), Normalizer("l1")],
        [StandardScaler(), PCA(2, whiten=True, random_state=0)],
        [PCA(0.9)],
        [TruncatedSVD(3, random_state=0)],
        [FunctionTransformer(), "passthrough", None, MinMaxScaler()],
    ],
    ids=str,
)
def test_every_step_comes_back_as_it_was(twin, steps):
    model = Pipeline([*((f"step{i}", step) for i, step in enumerate(steps)), ("last", LAST)]).fit(X)
    loaded = twin(model)
    assert str(loaded) == str(model)
    np.testing.assert_array_equal(loaded[:-1].transform(new), model[:-1].transform(new))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


@pytest.mark.parametrize("last", [LKG, LandmarkLKG, LKGClassifier])
def test_any_estimator_may_be_the_last_step(twin, last):
    settings = {} if last is LKGClassifier else {"n_clusters": 3, "random_state": 0}
    model = make_pipeline(StandardScaler(), last(**settings))
    model.fit(X, *([classes[:30]] if last is LKGClassifier else []))
    np.testing.assert_array_equal(twin(model).predict(new), model.predict(new))


@pytest.mark.parametrize("transformer", [StandardScaler(), [StandardScaler(), "passthrough"]], ids=str)
def test_views_are_transformed_as_in_the_fit(twin, transformer):
    model = make_pipeline(EachView(transformer), LKG(3, random_state=0)).fit(VIEWS)
    np.testing.assert_array_equal(twin(model).predict(NEW), model.predict(NEW))


def test_names_of_features_stay(twin):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    loaded = twin(make_pipeline(StandardScaler(), LAST).fit(frame))
    assert loaded.feature_names_in_.tolist() == list("abcde")


def test_only_what_differs_from_the_defaults_is_written():
    assert changed_parameters(PCA(2, whiten=True)) == {"n_components": 2, "whiten": True}
    assert changed_parameters(MinMaxScaler((0, 1))) == {}


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (QuantileTransformer(n_quantiles=5), "step 'first' of the pipeline is a QuantileTransformer"),
        (EachView(PowerTransformer()), "step 'first' of the pipeline is a PowerTransformer"),
        (EachView([FunctionTransformer(np.exp)]), "step 'first' of the pipeline calls exp, which is code"),
        (FunctionTransformer(np.tanh), "step 'first' of the pipeline calls tanh, which is code"),
        (make_pipeline(StandardScaler()), "step 'first' of the pipeline is a Pipeline"),
        (type("Own", (StandardScaler,), {})(), "step 'first' of the pipeline is a Own"),
    ],
)
def test_a_step_that_cannot_be_saved_is_named_with_those_that_can(path, step, says):
    model = Pipeline([("first", step), ("last", LAST)]).fit(X)
    with pytest.raises(ValueError, match=says) as caught:
        save_model(model, path)
    assert all(name in str(caught.value) for name in STEPS)
    assert "\n" not in str(caught.value)
    assert not path.exists()


def test_the_last_step_must_be_ours_and_fitted(path):
    with pytest.raises(ValueError, match="the last step 'pca' of the pipeline is a PCA"):
        save_model(make_pipeline(StandardScaler(), PCA(2)).fit(X), path)
    with pytest.raises(ValueError, match="the last step 'b' of the pipeline is 'passthrough'"):
        save_model(Pipeline([("a", StandardScaler()), ("b", "passthrough")]).fit(X), path)
    with pytest.raises(NotFittedError, match="This Pipeline is not fitted yet; call fit before save_model"):
        save_model(make_pipeline(StandardScaler(), LKG(2)), path)
    assert not path.exists()


def rewrite(path, change):
    """Change the tree of a file, without its checksums, as someone does who means it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != CHECKSUMS}
    tree = json.loads(members[TREE])
    change(tree["model"]["steps"])
    members[TREE] = json.dumps(tree).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_a_step_that_we_do_not_know_is_refused_by_name(path):
    save_model(make_pipeline(StandardScaler(), LAST).fit(X), path)
    rewrite(path, lambda steps: steps[0][1].update({"class": "LogScaler"}))
    with pytest.raises(ValueError, match="it holds the class 'LogScaler', which is unknown"):
        load_model(path)


def test_steps_that_do_not_follow_on_each_other_are_refused(path):
    model = make_pipeline(PCA(3), PCA(2), LAST).fit(X)
    model.steps[1] = ("pca-2", PCA(2).fit(X))
    save_model(model, path)
    with pytest.raises(ValueError, match="step 'pca-2' takes 5 features and gets 3"):
        load_model(path)
