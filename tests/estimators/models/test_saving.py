import io
import json
import math
import os
import pickle
import zipfile
from hashlib import sha256

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelbraid
from kernelbraid import (
    LKG,
    KernelKMeans,
    KernelSpectralClustering,
    LandmarkLKG,
    LKGClassifier,
    MultipleKernelKMeans,
    load_model,
    save_model,
)
from kernelbraid._arrays import to_numpy
from kernelbraid.estimators.models import saving
from kernelbraid.estimators.models.members import CHECKSUMS
from kernelbraid.kernels import Custom, Gaussian, Linear, Neighbours, Polynomial, SelfTuning, build_bank
from problems import blobs

samples, classes = blobs(n=45, d=4)
X, new = samples[:30], samples[30:]
NAMES = np.array(["ash", "birch", "cedar"])[classes[:30]]
TREE = saving.TREE


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
    if isinstance(A, np.ndarray):
        return A.dtype == B.dtype and np.array_equal(A, B, equal_nan=A.dtype.kind == "f")
    return type(A) is type(B) and (A == B or (A != A and B != B))


FITTED = {
    "dense": (LKG(3, random_state=0), X, new),
    "learned kernel": (LKG(3, gamma=10.0, kernels="rmkkm", random_state=0), X, new),
    "sparse": (LKG(3, random_state=0), thin(X), thin(new)),
    "views": (LKG(3, random_state=0), two(X), two(new)),
    "a bank per view": (LKG(3, kernels=["near", [Linear(), Polynomial(1.0, 2)]], random_state=0), two(X), two(new)),
    "views with gaps": (LKG(3, random_state=0), holed(X), holed(new)),
    "weights of views": (LKG(3, view_weights=[1, 3], random_state=0), two(X), two(new)),
    "joined kernels": (LKG(3, fusion="kernels", random_state=0), two(X), two(new)),
    "learned weights of views": (LKG(3, gamma=10.0, random_state=0), two(X), two(new)),
    "kernels of two sources": (
        *(LKG(3, kernels="precomputed", random_state=0), list(kernels(range(30))), list(kernels(range(30, 45)))),
    ),
    "precomputed": (LKG(3, kernels="precomputed", random_state=0), kernels(range(30)), kernels(range(30, 45))),
    "local": (LKG(3, kernels=(SelfTuning(5), Neighbours(5), Gaussian(1.0)), random_state=0), X, new),
    "float32": (LKG(3, random_state=0), X.astype(np.float32), new.astype(np.float32)),
    "chosen number": (LKG("auto", random_state=0), X, new),
    "numpy parameters": (LKG(np.int64(3), alpha=np.float32(0.5), random_state=np.int32(0)), X, new),
    "landmarks": (LandmarkLKG(3, n_landmarks=12, random_state=0), X, new),
    "sparse landmarks": (LandmarkLKG(3, landmarks=thin(X[::2]), kernels="local", random_state=0), thin(X), thin(new)),
    "landmarks of views": (LandmarkLKG(3, n_landmarks=12, random_state=0), two(X), two(new)),
    "kernel k-means": (KernelKMeans(3, kernel=Gaussian(0.7), random_state=0), X, new),
    "robust": (MultipleKernelKMeans(3, robust=True, random_state=0), two(X), two(new)),
}


@pytest.mark.parametrize("case", FITTED)
def test_a_loaded_model_is_the_one_that_was_saved(twin, case):
    model, fitted, unseen = FITTED[case]
    model = clone(model).fit(fitted)
    loaded = twin(model)
    assert type(loaded) is type(model)
    for data in (fitted, unseen):
        assert same(loaded.predict(data), model.predict(data))
        if hasattr(model, "transform"):
            assert same(loaded.transform(data), model.transform(data))
    assert same(loaded.get_params(), model.get_params())
    public = {name: value for name, value in vars(model).items() if not name.startswith("_")}
    assert same({name: getattr(loaded, name) for name in public}, public)
    assert set(vars(loaded)) == set(vars(model))
    assert np.array_equal(clone(loaded).fit(fitted).labels_, model.labels_)


@pytest.mark.parametrize("case", ["views", "views with gaps", "kernels of two sources", "learned weights of views"])
def test_a_pickled_fit_of_several_views_is_the_same(case):
    model, fitted, unseen = FITTED[case]
    model = clone(model).fit(fitted)
    model.predict(unseen)  # what it keeps for the next ones is left out
    copy = pickle.loads(pickle.dumps(model))
    for data in (fitted, unseen):
        assert same(copy.predict(data), model.predict(data))
        assert same(copy.transform(data), model.transform(data))
    assert copy.view_report_ == model.view_report_


def test_a_fit_that_leaves_out_views_is_saved_with_its_reasons(twin):
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    views = [rng.normal(0, 3, (3, 4))[truth] + rng.normal(0, 0.7, (60, 4)) for _ in range(2)]
    views += [rng.normal(size=(60, 20))]
    views[0][3] = views[1][3] = np.nan  # which the noise alone has
    with pytest.warns(UserWarning, match="view 3 shares neighbours with no other view and is left out"):
        model = LKG(3, random_state=0).fit(views)
    loaded = twin(model)
    assert same(loaded.predict(views), model.labels_)
    unseen = [np.full((1, 4), np.nan), np.full((1, 4), np.nan), rng.normal(size=(1, 20))]
    assert same(loaded.transform(unseen), model.transform(unseen))
    assert loaded.view_report_ == model.view_report_
    assert same(loaded.sample_view_weights_, model.sample_view_weights_)
    with pytest.raises(AttributeError, match="fuses the graphs of several views: there is no kernel of all of them"):
        _ = loaded.kernel_weights_


def test_a_fit_of_several_views_holds_no_matrix_of_all_samples(path):
    model = LKG(3, random_state=0).fit(two(X))
    model.predict(two(new))  # what it keeps for the next ones is not saved
    save_model(model, path)
    with zipfile.ZipFile(path) as archive:
        shapes = [np.load(io.BytesIO(archive.read(name))).shape for name in archive.namelist() if "npy" in name]
    assert (30, 30) not in shapes


FEW_NAMES = np.where(np.arange(30) % 2 == 0, NAMES.astype(object), -1)


@pytest.mark.parametrize(
    "labels",
    [NAMES, NAMES.astype(object), FEW_NAMES, classes[:30]],
    ids=["text", "objects", "objects, some unknown", "numbers"],
)
def test_a_classifier_keeps_its_classes(twin, labels):
    model = LKGClassifier().fit(X, labels)
    loaded = twin(model)
    assert same(loaded.predict(new), model.predict(new))
    assert same(loaded.predict_proba(new), model.predict_proba(new))
    assert same(loaded.classes_, model.classes_)
    assert same(loaded.graph_model_.labels_, model.graph_model_.labels_)


def test_feature_names_are_kept_and_checked(twin):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    loaded = twin(LKG(3, random_state=0).fit(frame))
    assert loaded.feature_names_in_.tolist() == list("abcd")
    assert same(loaded.predict(frame), loaded.labels_)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


def test_arrays_of_other_libraries_become_numpy_arrays(twin, foreign):
    model = LKG(3, random_state=0).fit(foreign.asarray(X))
    loaded = twin(model)
    assert isinstance(loaded.labels_, np.ndarray)
    assert np.array_equal(loaded.predict(new), to_numpy(model.predict(foreign.asarray(new))))
    np.testing.assert_allclose(loaded.transform(new), to_numpy(model.transform(foreign.asarray(new))), atol=1e-8)


def test_methods_without_predict_are_saved_too(twin):
    spectral = KernelSpectralClustering(3, random_state=0).fit(X)
    assert same(twin(spectral).labels_, spectral.labels_)


def test_callbacks_and_states_of_generators_are_left_out(twin):
    model = LKG(3, callback=lambda *_: None, random_state=np.random.RandomState(0)).fit(X)
    loaded = twin(model)
    assert loaded.callback is None
    assert loaded.random_state is None
    assert same(loaded.predict(new), model.predict(new))


def test_dask_arrays_are_left_out(twin):
    dask = pytest.importorskip("dask.array", reason="dask is not installed")
    model = LandmarkLKG(3, n_landmarks=12, random_state=0).fit(X)
    wanted, placed = model.predict(new), model.transform(new)
    model.labels_, model.embedding_ = dask.from_array(model.labels_), dask.from_array(model.embedding_)
    loaded = twin(model)
    assert not hasattr(loaded, "labels_")
    assert not hasattr(loaded, "embedding_")
    assert same(loaded.predict(new), wanted)
    assert same(loaded.transform(new), placed)


def test_an_array_that_is_used_twice_is_written_once(path):
    model = LKG(3, keep_matrices=True, random_state=0).fit(X)
    assert model.auxiliary_graph_ is model.coefficients_
    save_model(model, path)
    loaded = load_model(path)
    assert loaded.auxiliary_graph_ is loaded.coefficients_
    assert path.stat().st_size < 8 * 30 * 30 * 4 + 30_000


def test_a_default_model_holds_no_matrix_of_all_samples(path):
    fitted, _ = blobs(n=300, d=4)
    model = LKG(3, random_state=0).fit(fitted)
    model.predict(fitted[:3] + 0.1)  # what it needs for that is not saved
    save_model(model, path)
    assert path.stat().st_size < 8 * 300 * 300 / 4
    assert same(load_model(path).predict(fitted + 0.1), model.predict(fitted + 0.1))


def test_equal_models_make_equal_files_that_numpy_can_open(path, tmp_path):
    for name in (path, tmp_path / "b.model"):
        save_model(LKG(3, random_state=0).fit(X), str(name))
    assert path.read_bytes() == (tmp_path / "b.model").read_bytes()
    with np.load(path, allow_pickle=False) as content:
        assert TREE in content
        assert all(isinstance(content[name], np.ndarray) for name in content if name not in (TREE, CHECKSUMS))


def test_no_number_changes_in_the_file(twin):
    model = LKG(3, alpha=0.1 + 0.2, gamma=math.inf, memory_budget=2**60 + 1, random_state=0).fit(X)
    model.odd_ = {"nan": math.nan, "pair": (1, [None, True, -math.inf]), 3: np.float32(0.1), "text": "ö\n\ud800"}
    loaded = twin(model)
    assert loaded.get_params() == model.get_params()
    assert repr(loaded.odd_) == repr(model.odd_)


# What cannot be saved


@pytest.mark.parametrize("kernel", [Custom(lambda A, B: A @ B.T, "mine"), np.dot], ids=["Custom", "function"])
def test_functions_are_refused_by_name_with_a_remedy(path, kernel):
    name = "'mine'" if isinstance(kernel, Custom) else "'dot'"
    model = LKG(3, kernels=[Linear(), Custom(lambda A, B: A @ B.T)], random_state=0).fit(X)
    model.set_params(kernels=[Linear(), kernel])
    with pytest.raises(ValueError, match=rf"LKG.kernels\[1\] is the kernel {name}.* or fit on its matrix"):
        save_model(model, path)
    single = KernelKMeans(3, random_state=0).fit(X).set_params(kernel=kernel)
    with pytest.raises(ValueError, match=f"KernelKMeans.kernel is the kernel {name}"):
        save_model(single, path)
    assert not path.exists()


class Own(LKG):
    """Somebody's own estimator."""


@pytest.mark.parametrize("model", [Own(2).fit(X), "text", None], ids=str)
def test_what_is_not_ours_is_refused(path, model):
    with pytest.raises(ValueError, match=f"cannot save a {type(model).__name__}; give a fitted estimator"):
        save_model(model, path)
    assert not path.exists()


def test_an_attribute_that_is_no_data_is_named(path):
    model = KernelKMeans(2).fit(X)
    for value in (object(), {1, 2}, 1j, np.complex128(1j), np.array([object()])):
        model.extra_ = value
        with pytest.raises(ValueError, match=r"KernelKMeans\.extra_.* cannot hold; "):
            save_model(model, path)
    assert not path.exists()


def test_an_unfitted_model_is_refused(path):
    with pytest.raises(NotFittedError, match="This LKG is not fitted yet; call fit before save_model"):
        save_model(LKG(2), path)
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

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(LKG(3, random_state=0).fit(X), saved)
    assert saved.read_bytes() == before
    assert list(tmp_path.iterdir()) == [saved]


# Files that are no models


def rewrite(path, change=None, **members):
    """Change the tree of a file, or its arrays by number, with checksums of what is there then."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(content[TREE])
    if change is not None:
        change(tree)
    content[TREE] = json.dumps(tree).encode()
    content |= {f"arrays/{name[1:]}.npy": value for name, value in members.items()}
    content.pop(CHECKSUMS)
    content[CHECKSUMS] = json.dumps({name: sha256(value).hexdigest() for name, value in content.items()})
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", pickle.dumps([1])], ids=["empty", "table", "pickle"])
def test_another_file_is_no_model(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.model is no model of kernelbraid; give a file that save_model"):
        load_model(path)


def test_another_archive_is_no_model(path):
    with path.open("wb") as file:
        np.savez(file, X=X)
    with pytest.raises(ValueError, match="is no model of kernelbraid"):
        load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(TREE, '{"format": "something else"}')
    with pytest.raises(ValueError, match="is no model of kernelbraid"):
        load_model(path)


def test_a_file_that_was_cut_or_changed_is_damaged(saved):
    whole = saved.read_bytes()
    flipped = whole.replace(X[0, 0].tobytes(), X[1, 1].tobytes(), 1)
    assert flipped != whole
    for content in (whole[:-1], whole[: len(whole) // 2], whole[:10], flipped):
        saved.write_bytes(content)
        with pytest.raises(ValueError, match=r"is cut short or damaged \(.+\); copy it anew"):
            load_model(saved)


def test_another_version_says_what_to_install(saved):
    ours = kernelbraid.__version__
    for version, told in [(0, "0"), (3, "3"), (7, "7"), ("2", "'2'"), (None, "None"), ([9] * 99, r"'\[9, .{,20}'")]:
        rewrite(saved, lambda tree, version=version: tree.update(version=version, kernelbraid="9.9.0"))
        newer = ", which is newer" if version in (3, 7) else ""
        with pytest.raises(
            ValueError,
            match=f"has version {told} of the model format{newer}, and kernelbraid {ours} reads versions up to 2; "
            "install kernelbraid 9.9.0",
        ):
            load_model(saved)


def test_names_are_looked_up_in_our_lists_only(saved):
    def change(tree, owner, **names):
        (tree["model"] if owner is None else tree["model"]["attributes"][owner]).update(names)

    whole = saved.read_bytes()
    for owner, names, told in [
        (None, {"class": "Popen"}, "the class 'Popen'"),
        (None, {"class": "FittedBank"}, "the class 'FittedBank'"),
        ("_fitted", {"class": "os.system"}, "the class 'os.system'"),
        ("_fitted", {"class": "Custom"}, "the class 'Custom'"),
        ("_fitted", {"is": "call"}, "the type 'call'"),
        ("labels_", {"is": None}, "the type None"),
        ("labels_", {"is": "scalar", "dtype": "O", "value": 1}, "a number of the type 'O'"),
    ]:
        saved.write_bytes(whole)
        rewrite(saved, lambda tree, owner=owner, names=names: change(tree, owner, **names))
        with pytest.raises(ValueError, match=rf"damaged \(it holds {told}, which is unknown\)"):
            load_model(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.pop("model"),
        lambda tree: tree.update(model="text"),
        lambda tree: tree.update(model={"is": "dict", "pairs": []}),
        lambda tree: tree["model"].update({"class": ["LKG"]}),
        lambda tree: tree["model"]["parameters"].update(no_parameter=1),
        lambda tree: tree["model"]["parameters"].update(n_clusters=0),
        lambda tree: tree["model"]["attributes"].clear(),
        lambda tree: tree["model"]["attributes"]["labels_"].update(number=99),
        lambda tree: tree["model"]["attributes"]["labels_"].update(number="../labels"),
        lambda tree: tree["model"]["attributes"]["_fitted"]["fields"].pop("views"),
    ],
)
def test_a_tree_that_was_changed_is_damaged(saved, change):
    rewrite(saved, change)
    with pytest.raises(ValueError, match="is cut short or damaged"):
        load_model(saved)


class Bomb:
    """Leaves a trace when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_a_pickle_in_the_file_is_never_loaded(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = io.BytesIO()
    np.save(file, np.array([Bomb()], dtype=object), allow_pickle=True)
    for content in (file.getvalue(), pickle.dumps(Bomb())):
        rewrite(saved, _0=content)
        with pytest.raises(ValueError, match="is cut short or damaged"):
            load_model(saved)
    assert not (tmp_path / "exploded").exists()


def test_compressed_members_are_not_unpacked(saved):
    with zipfile.ZipFile(saved) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    with pytest.raises(ValueError, match="is no model of kernelbraid"):
        load_model(saved)


def test_an_attribute_cannot_take_the_place_of_a_method(saved):
    rewrite(saved, lambda tree: tree["model"]["attributes"].update(predict=5))
    with pytest.raises(ValueError, match=r"damaged \('predict' is no attribute of a fit\)"):
        load_model(saved)


# Checksums, and what a newer version wrote


def test_a_change_behind_the_sums_of_the_archive_is_found(saved):
    with zipfile.ZipFile(saved) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    for name, changed in [("arrays/0.npy", content["arrays/0.npy"][:-1] + b"\1"), (TREE, content[TREE] + b" ")]:
        with zipfile.ZipFile(saved, "w") as archive:
            for key, value in {**content, name: changed}.items():
                archive.writestr(key, value)
        with pytest.raises(ValueError, match=rf"damaged \({name} has another checksum than it was written with\)"):
            load_model(saved)


def test_members_that_were_added_or_taken_away_are_found(saved):
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("arrays/99.npy", b"")
    with pytest.raises(ValueError, match=r"damaged \(it has other members than were written\)"):
        load_model(saved)


def test_a_file_without_checksums_is_read(saved):
    with zipfile.ZipFile(saved) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    assert content.pop(CHECKSUMS)
    with zipfile.ZipFile(saved, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    assert load_model(saved).labels_.shape == (6,)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda node: node["parameters"].update(new_option=1), "it holds the parameter 'new_option' of KernelKMeans"),
        (lambda node: node["parameters"].update(init="orbit"), "KernelKMeans takes no such init"),
        (lambda node: node.update({"class": "LKG3"}), "it holds the class 'LKG3'"),
        (
            lambda node: node["attributes"]["_fitted"]["fields"].update(zeta=1),
            "it holds the field 'zeta' of FittedBank",
        ),
    ],
    ids=["parameter", "value", "class", "field"],
)
def test_what_a_newer_version_wrote_is_called_newer(saved, change, told):
    rewrite(saved, lambda tree: (tree.update(kernelbraid="12.0.1"), change(tree["model"])))
    ours = kernelbraid.__version__
    with pytest.raises(
        ValueError,
        match=rf"is newer than kernelbraid {ours}, which cannot read it \({told}.*\); install kernelbraid 12\.0\.1, "
        "which wrote it, or save the model with this version",
    ):
        load_model(saved)
    rewrite(saved, lambda tree: tree.update(kernelbraid="0.1.0"))
    with pytest.raises(ValueError, match=rf"is cut short or damaged \({told}"):
        load_model(saved)


def test_a_fit_with_fewer_clusters_than_coordinates_is_kept(twin):
    copies = np.repeat(X[:2], 8, axis=0)
    with pytest.warns(UserWarning, match="found 2 clusters instead of 3"):
        model = LKG(3, random_state=0).fit(copies)
    loaded = twin(model)
    assert loaded.n_clusters_ == 2
    assert same(loaded.predict(copies), model.labels_)
    assert same(loaded.predict_proba(copies), model.membership_)
