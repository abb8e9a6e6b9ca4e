"""Models as files: what comes back, and what does not go in or out."""

import io
import json
import math
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import kernelbraid
import problems
from callbacks import Heard
from kernelbraid import ADMM, LKG, EachView, LKGClassifier, load_model, save_model
from kernelbraid._arrays import to_numpy
from kernelbraid.estimators.base import ViewReport
from kernelbraid.estimators.solver import Solved
from kernelbraid.kernels import BANKS, Custom, Gaussian, Linear, Neighbours, Polynomial, SelfTuning, build_bank
from kernelbraid.learning.levels import Level
from kernelbraid.methods import METHODS, KernelKMeans
from problems import blobs

samples, classes = blobs(n=45, d=4)
X, new, y = samples[:30], samples[30:], classes[:30]
NAMES = np.array(["ash", "birch", "cedar"])[y]


def thin(A):
    return sparse.csr_array(np.maximum(A, 0))


def two(A):
    return [A[:, :3].copy(), A[:, 1:].copy()]


def holed(A):
    """Two views, each of which lacks a sample."""
    views = two(A)
    views[0][1] = views[1][2] = np.nan
    return views


def kernels(rows):
    return np.array(build_bank(samples, [Gaussian(2.0), Gaussian(0.5)]))[:, rows, :30]


def graph(rows):
    return kernels(rows)[0] * (kernels(rows)[0] > 0.1)


def lkg(n_clusters=3, **settings):
    return problems.lkg(n_clusters, random_state=0, **settings)


OLD, NEW = range(30), range(30, 45)
FITTED = {
    "dense": (lkg(), X, new),
    "learned kernel": (lkg(gamma=10.0, kernels="rmkkm", matrices=True), X, new),
    "sparse": (lkg(), thin(X), thin(new)),
    "views": (lkg(), two(X), two(new)),
    "a bank per view": (lkg(kernels=["near", [Linear(), Polynomial(1.0, 2)]]), two(X), two(new)),
    "views with gaps": (lkg(), holed(X), holed(new)),
    "weights of views": (lkg(view_weights=[1, 3]), two(X), two(new)),
    "joined kernels": (lkg(fusion="kernels"), two(X), two(new)),
    "learned weights of views": (lkg(gamma=10.0), two(X), two(new)),
    "kernels of two sources": (lkg(kernels="precomputed"), list(kernels(OLD)[:, None]), list(kernels(NEW)[:, None])),
    "precomputed": (lkg(kernels="precomputed"), kernels(OLD), kernels(NEW)),
    "a graph": (lkg(kernels="graph"), graph(OLD), graph(NEW)),
    "local": (lkg(kernels=(SelfTuning(5), Neighbours(5), Gaussian(1.0))), X, new),
    "float32": (lkg(), X.astype(np.float32), new.astype(np.float32)),
    "chosen number": (lkg("auto"), X, new),
    "authors": (lkg(preset="authors", max_iter=20), X, new),
    "numpy parameters": (LKG(np.int64(3), alpha=np.float32(0.5), random_state=np.int32(0)), X, new),
    "names of classes": (LKGClassifier(), X, new),
    **{name: (model.set_params(n_clusters=3, random_state=0), X, new) for name, model in METHODS.items()},
    "a pipeline": (make_pipeline(StandardScaler(), PCA(2, whiten=True), lkg()), X, new),
    "scalers": (make_pipeline(MinMaxScaler(), RobustScaler(), MaxAbsScaler(), Normalizer("l1"), lkg()), X, new),
    "other steps": (
        make_pipeline(FunctionTransformer(np.log1p), QuantileTransformer(n_quantiles=5), lkg()),
        abs(X),
        abs(new),
    ),
    "a mixed table": (
        make_pipeline(make_column_transformer((SimpleImputer(), [0, 1]), (OneHotEncoder(), [2])), lkg()),
        np.c_[X[:, :2], y],
        np.c_[new[:, :2], classes[30:]],
    ),
    "a pipeline within": (make_pipeline("passthrough", make_pipeline(TruncatedSVD(3)), None, lkg()), X, new),
    "scaled views": (make_pipeline(EachView([StandardScaler(), "passthrough"]), lkg()), two(X), two(new)),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.model"


@pytest.fixture
def twin(path):
    """Return a model after it was saved and loaded."""

    def save_and_load(model):
        save_model(model, path)
        return load_model(path)

    return save_and_load


@pytest.fixture
def saved(path):
    """The file of a small model."""
    save_model(KernelKMeans(2, random_state=0).fit(X[:6]), path)
    return path


def same(A, B):
    """Tell whether two values are the same, arrays of every kind included."""
    if sparse.issparse(A):
        return type(A) is type(B) and same(A.toarray(), B.toarray())
    if isinstance(A, dict):
        return list(A) == list(B) and all(same(A[name], B[name]) for name in A)
    if isinstance(A, list):
        return len(A) == len(B) and all(same(*pair) for pair in zip(A, B, strict=True))
    if isinstance(A, ViewReport | Solved | Level):
        return type(A) is type(B) and same(vars(A), vars(B))
    if isinstance(A, np.ndarray):
        return A.dtype == B.dtype and np.array_equal(A, B, equal_nan=A.dtype.kind == "f")
    return isinstance(B, type(A)) and (str(A) == str(B) if hasattr(A, "get_params") else A == B or (A != A and B != B))


def fitted(case):
    model, data, unseen = FITTED[case]
    return clone(model).fit(data, NAMES if isinstance(model, LKGClassifier) else None), data, unseen


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the methods of the paper stop early
@pytest.mark.parametrize("case", FITTED)
def test_a_loaded_model_is_the_one_that_was_saved(twin, case):
    model, *both = fitted(case)
    loaded = twin(model)
    assert type(loaded) is type(model)
    for way in {"predict", "transform", "predict_proba"} & set(dir(model)):
        assert all(same(getattr(loaded, way)(data), getattr(model, way)(data)) for data in both)
    assert same(loaded.get_params(deep=False), model.get_params(deep=False)) or "steps" in model.get_params()
    public = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    assert same({name: getattr(loaded, name) for name in public}, public)
    assert set(vars(loaded)) == set(vars(model))
    assert str(twin(clone(model))) == str(clone(model))  # before it is fitted, too


def test_another_process_predicts_the_same_labels(tmp_path):
    cases = [
        "dense",
        "learned kernel",
        "views with gaps",
        "a graph",
        "names of classes",
        "a pipeline",
        "MKKM",
    ]
    unseen, wanted = {}, b""
    for case in cases:
        model, _, unseen[case] = fitted(case)
        save_model(model, tmp_path / case)
        wanted += model.predict(unseen[case]).tobytes()
    program = (
        "import pickle, sys; from kernelbraid import load_model; write = sys.stdout.buffer.write;"
        "[write(load_model(name).predict(new).tobytes()) for name, new in pickle.load(sys.stdin.buffer).items()];"
        "assert {'torch', 'dask'}.isdisjoint(sys.modules)"  # skops looks through scikit-learn, and would load them
    )
    command, content = [sys.executable, "-c", program], pickle.dumps(unseen)
    assert subprocess.run(command, input=content, cwd=tmp_path, capture_output=True, check=True).stdout == wanted


@pytest.mark.parametrize("case", ["views", "views with gaps", "kernels of two sources", "learned weights of views"])
def test_a_pickled_fit_of_several_views_is_the_same(case):
    model, data, unseen = fitted(case)
    model.predict(unseen)  # what it keeps for the next ones is left out
    copy = pickle.loads(pickle.dumps(model))
    for views in (data, unseen):
        assert same(copy.predict(views), model.predict(views))
        assert same(copy.transform(views), model.transform(views))
    assert copy.views_.entries() == model.views_.entries()


def test_a_fit_that_leaves_out_views_is_saved_with_its_reasons(twin):
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    views = [rng.normal(0, 3, (3, 4))[truth] + rng.normal(0, 0.7, (60, 4)) for _ in range(2)]
    views += [rng.normal(size=(60, 20))]
    views[0][3] = views[1][3] = np.nan  # which the noise alone has
    with pytest.warns(UserWarning, match="view 3 shares neighbours with no other view and is left out"):
        model = lkg().fit(views)
    loaded = twin(model)
    assert same(loaded.predict(views), model.labels_)
    unseen = [np.full((1, 4), np.nan), np.full((1, 4), np.nan), rng.normal(size=(1, 20))]
    assert same(loaded.transform(unseen), model.transform(unseen))
    with pytest.raises(AttributeError, match="fuses the graphs of several views; fit it with fusion='kernels'"):
        _ = loaded.solution_.g


@pytest.mark.parametrize("names", [NAMES.astype(object), np.where(np.arange(30) % 2 == 0, NAMES.astype(object), -1), y])
def test_a_classifier_keeps_its_classes(twin, names):
    model = LKGClassifier().fit(X, names)
    loaded = twin(model)
    assert same(loaded.predict(new), model.predict(new))
    assert same(loaded.classes_, model.classes_)


def test_feature_names_are_kept_and_checked(twin):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    loaded = twin(lkg().fit(frame))
    assert loaded.feature_names_in_.tolist() == list("abcd")
    assert same(loaded.predict(frame), loaded.labels_)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


def test_arrays_of_other_libraries_become_numpy_arrays(twin, foreign):
    model = lkg().fit(foreign.asarray(X))
    loaded = twin(model)
    assert isinstance(loaded.labels_, np.ndarray)
    assert np.array_equal(loaded.predict(new), to_numpy(model.predict(foreign.asarray(new))))
    np.testing.assert_allclose(loaded.transform(new), to_numpy(model.transform(foreign.asarray(new))), atol=1e-8)


def test_callbacks_are_left_out_and_generators_go_on_where_they_were(twin):
    solver = ADMM(gamma=math.inf).set_callbacks(Heard())
    model = LKG(3, solver=solver, random_state=np.random.RandomState(0)).set_callbacks(Heard()).fit(X)
    loaded = twin(model)
    assert not any(hasattr(one, "_skl_callbacks") for one in (loaded, loaded.solver))
    assert loaded.random_state.randint(10**9) == model.random_state.randint(10**9)
    assert same(loaded.predict(new), model.predict(new))


@pytest.mark.parametrize("bank", BANKS)
def test_kernels_come_back_from_parameters(twin, bank):
    assert twin(LKG(kernels=BANKS[bank])).kernels == BANKS[bank]


def test_a_model_holds_no_matrix_of_all_samples_unless_it_was_asked_to(path):
    data, _ = blobs(n=300, d=4)
    model = lkg().fit(data)
    model.predict(data[:3] + 0.1)  # what it needs for that is not saved
    save_model(model, path)
    assert path.stat().st_size < 8 * 300 * 300 / 4
    save_model(lkg(matrices=True).fit(data), path)
    loaded = load_model(path)
    assert loaded.solution_.J is loaded.solution_.Z  # which is written once


# What does not go in


def own_kernel(A, B):
    return A @ B.T


class Own(LKG):
    """Somebody's own estimator."""


class OwnScaler(StandardScaler):
    """Somebody's own step."""


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (LKG(kernels=[Linear(), Custom(own_kernel, "mine")]), "own_kernel"),
        (LKG(kernels=[own_kernel]), "own_kernel"),
        (KernelKMeans(kernel=lambda A, B: A @ B.T), "lambda"),
        (KernelKMeans(kernel=np.dot), "numpy.dot"),
        (make_pipeline(FunctionTransformer(own_kernel), LKG()), "own_kernel"),
        (make_pipeline(OwnScaler(), LKG()), "OwnScaler"),
        (make_pipeline(EachView([OwnScaler()]), LKG()), "OwnScaler"),
        (LKG(random_state=object()), "builtins.object"),
        (LKG(random_state=np.random), "module"),
        (Own(), "Own"),
        (make_pipeline(StandardScaler(), PCA()), "Pipeline"),
        (Pipeline([("a", StandardScaler()), ("b", "passthrough")]), "Pipeline"),
        (StandardScaler(), "StandardScaler"),
        ("text", "str"),
        (None, "NoneType"),
    ],
)
def test_what_is_not_ours_is_refused_in_one_sentence(path, model, named):
    with pytest.raises(ValueError, match=named) as caught:
        save_model(model, path)
    assert str(caught.value).isprintable()
    assert "; " in str(caught.value)
    assert not path.exists()


def test_places_that_are_no_files_are_refused(tmp_path, saved):
    model = load_model(saved)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
        save_model(model, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing for a\.model; create it"):
        save_model(model, tmp_path / "missing" / "a.model")
    with pytest.raises(IsADirectoryError, match="is a folder; give a file that save_model has written"):
        load_model(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*missing; check the path"):
        load_model(tmp_path / "missing")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_write_that_fails_leaves_the_old_file(saved, monkeypatch, tmp_path):
    before = saved.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(lkg().fit(X), saved)
    assert saved.read_bytes() == before
    assert list(tmp_path.iterdir()) == [saved]


# What does not come out


def rewrite(path, **members):
    """Change members of a file."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()} | members
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)


def write_foreign(path, content):
    """Write what skops can hold, as if it were a model of this version."""
    skops.io.dump(content, path)
    rewrite(path, kernelbraid=kernelbraid.__version__)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", pickle.dumps([1])], ids=["empty", "table", "pickle"])
def test_another_file_is_no_model(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.model is no model of kernelbraid, or damaged; give a file"):
        load_model(path)


def test_another_archive_is_no_model(path):
    with path.open("wb") as file:
        np.savez(file, X=X)
    with pytest.raises(ValueError, match="is no model of kernelbraid"):
        load_model(path)
    skops.io.dump(lkg(), path)
    with pytest.raises(ValueError, match="is no model of kernelbraid"):
        load_model(path)


def test_a_file_that_is_cut_short_or_changed_is_refused(saved):
    whole = saved.read_bytes()
    for length in range(0, len(whole), 97):
        saved.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"or damaged; .* or copy it anew"):
            load_model(saved)
    with zipfile.ZipFile(saved.with_name("b"), "w") as archive:  # skops finds what it needs, and its content is wrong
        archive.writestr("kernelbraid", kernelbraid.__version__)
        archive.writestr("schema.json", json.dumps({"protocol": 2, "__class__": "LKG"}))
    with pytest.raises(ValueError, match="is no model of kernelbraid, or damaged"):
        load_model(saved.with_name("b"))


@pytest.mark.parametrize("content", [Own(), StandardScaler(), {"a": 1}, np.eye(2), os.system, own_kernel])
def test_a_type_that_is_not_ours_is_refused(path, content):
    write_foreign(path, content)
    with pytest.raises(ValueError, match=r"holds '\S+', which is no part of a model of kernelbraid; give a file"):
        load_model(path)


@pytest.mark.parametrize(
    "name", ["kernelbraid._machine.remove_drafts", "kernelbraid.kernels.banks.build_bank", "kernelbraid.kernels.no.LKG"]
)
def test_a_function_of_ours_is_never_called(path, name):
    module, _, function = name.rpartition(".")
    write_foreign(path, range(3))  # which skops makes by a call
    with zipfile.ZipFile(path) as archive:
        tree = json.loads(archive.read("schema.json"))
    assert tree["__loader__"] == "ConstructorFromReduceNode"
    rewrite(path, **{"schema.json": json.dumps({**tree, "__module__": module, "__class__": function})})
    with pytest.raises(ValueError, match=f"holds '{name}', which is no part"):
        load_model(path)


class Bomb:
    """Leaves a trace when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_a_pickle_in_the_file_is_never_loaded(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = io.BytesIO()
    np.save(file, np.array([Bomb()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(saved) as archive:
        array = next(name for name in archive.namelist() if name.endswith(".npy"))
    for content in (file.getvalue(), pickle.dumps(Bomb())):
        rewrite(saved, **{array: content})
        with pytest.raises(ValueError, match="is no model of kernelbraid, or damaged"):
            load_model(saved)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("version", ["0.2.0", "0.4.0", "1.3.0", "soon"])
def test_a_model_of_another_version_says_what_to_do(saved, version):
    rewrite(saved, kernelbraid=version)
    ours = kernelbraid.__version__
    says = f"was saved by kernelbraid '{version}', and {ours} reads models of its own .*; fit again with {ours}"
    with pytest.raises(ValueError, match=says):
        load_model(saved)


def test_a_model_of_the_same_minor_version_is_read(saved):
    rewrite(saved, kernelbraid=".".join([*kernelbraid.__version__.split(".")[:2], "99"]))
    assert load_model(saved).labels_.shape == (6,)
