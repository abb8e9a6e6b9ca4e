"""Contents that no fit can have written, in files whose checksums are right."""

import io
import json
import zipfile

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG, KernelKMeans, LandmarkLKG, LKGClassifier, MultipleKernelKMeans, load_model
from kernelbraid import save_model as save
from kernelbraid.estimators.models.contents import MODEL_RULES, NEEDED
from kernelbraid.estimators.models.encoding import KERNELS, MODELS, PARTS
from kernelbraid.estimators.models.members import CHECKSUMS
from kernelbraid.estimators.models.parts import KERNELS as CHECKED_KERNELS
from kernelbraid.estimators.models.saving import TREE
from kernelbraid.kernels import Gaussian, Neighbours, SelfTuning, build_bank
from problems import blobs

X, classes = blobs(n=24, d=3)
VIEWS = [X[:, :2].copy(), X[:, 1:].copy()]
HOLED = [view.copy() for view in VIEWS]
HOLED[0][1] = HOLED[1][2] = np.nan
GAPPED = [np.where(np.arange(24)[:, None] % 7 == number, np.nan, view) for number, view in enumerate(VIEWS)]
H = np.array(build_bank(X, [Gaussian(2.0), Gaussian(0.5)]))
MODELS_OF = {
    "samples": lambda: LKG(3, keep_matrices=True, random_state=0).fit(X),
    "local": lambda: LKG(3, kernels=[SelfTuning(3), Neighbours(3)], random_state=0).fit(X),
    "sparse": lambda: LKG(3, random_state=0).fit(sparse.csr_array(np.maximum(X, 0))),
    "kernels": lambda: LKG(3, kernels="precomputed", random_state=0).fit(H),
    "views": lambda: LKG(3, random_state=0).fit(HOLED),
    "landmarks": lambda: LandmarkLKG(3, n_landmarks=8, random_state=0).fit(X),
    "landmark views": lambda: LandmarkLKG(3, n_landmarks=8, random_state=0).fit(VIEWS),
    "landmark gaps": lambda: LandmarkLKG(3, n_landmarks=12, view_weights=[1, 1], random_state=0).fit(GAPPED),
    "classifier": lambda: LKGClassifier().fit(X, np.array(["ash", "birch", "cedar"])[classes]),
    "k-means": lambda: MultipleKernelKMeans(3, kernels=[Gaussian(1.0), SelfTuning(3)], random_state=0).fit(X),
    "kernel k-means": lambda: KernelKMeans(3, kernel="precomputed", random_state=0).fit(H[0]),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the members of the file of a model."""
    kept = {}

    def content_of(name):
        if name not in kept:
            path = tmp_path_factory.mktemp("models") / "a.model"
            save(MODELS_OF[name](), path)
            with zipfile.ZipFile(path) as archive:
                kept[name] = {key: archive.read(key) for key in archive.namelist() if key != CHECKSUMS}
        return dict(kept[name])

    return content_of


@pytest.fixture
def read(written, tmp_path):
    """Change a value of a model, by the path to it, in its file, and read that."""

    def change_and_read(name, place, change):
        content = written(name)
        tree = json.loads(content[TREE])
        *owners, last = (int(key) if key.isdigit() else key for key in place.split("/"))
        node = tree["model"]
        for key in owners:
            node = holder(node, key)[key]
        node = holder(node, last)
        value = node[last]
        member = f"arrays/{value['number']}.npy" if isinstance(value, dict) and value.get("is") == "array" else None
        value = change(value if member is None else np.load(io.BytesIO(content[member])))
        if isinstance(value, np.ndarray):
            file = io.BytesIO()
            np.save(file, value)
            content[member] = file.getvalue()
        else:
            node[last] = value
        content[TREE] = json.dumps(tree).encode()
        path = tmp_path / "changed.model"
        with zipfile.ZipFile(path, "w") as archive:
            for key, value in content.items():
                archive.writestr(key, value)
        return load_model(path)

    return change_and_read


def holder(node, key):
    """Return the part of a node that has a value by its name or place."""
    if not isinstance(node, dict):
        return node
    return next((node[part] for part in ("parameters", "attributes", "fields") if key in node.get(part, ())), node)


def put(A, value):
    """Return an array with another first entry."""
    A.flat[0] = value
    return A


def to(value):
    return lambda _: value


def without(name):
    return lambda found: {key: value for key, value in found.items() if key != name}


DAMAGE = [
    ("samples", "labels_", lambda A: A * 0 + 2**40, "labels_ of LKG holds 1099511627776, which is not below 3"),
    ("samples", "labels_", lambda A: put(A, -1), "labels_ of LKG holds -1"),
    ("samples", "labels_", lambda A: np.where(A == 1, 2, A), "labels_ of LKG leaves out a number below its largest"),
    ("samples", "labels_", lambda A: A[:-1], "labels_ of LKG has length 23 instead of 24"),
    ("samples", "labels_", lambda A: A.astype(float), "labels_ of LKG is a ndarray instead of an array of whole"),
    ("samples", "kernel_", lambda A: A * np.nan, "kernel_ of LKG holds NaN or infinity"),
    ("samples", "kernel_", lambda A: A[:, :-1], "kernel_ of LKG has length 23 instead of 24"),
    ("samples", "embedding_", lambda A: put(A, np.nan), "embedding_ of LKG holds NaN or infinity"),
    ("samples", "embedding_", lambda A: put(A, np.inf), "embedding_ of LKG holds NaN or infinity"),
    ("samples", "embedding_", lambda A: A * 0 - 1e300, r"embedding_ of LKG holds 1e\+300, which is too large"),
    ("samples", "embedding_", lambda A: A.astype(complex), "embedding_ of LKG holds complex128 values"),
    ("samples", "embedding_", lambda A: A.astype(np.float16), "embedding_ of LKG holds float16 values"),
    ("samples", "embedding_", lambda A: A[None], "embedding_ of LKG has 3 axes instead of 2"),
    ("samples", "embedding_", to([1]), "embedding_ of LKG is"),
    ("samples", "kernel_weights_", lambda A: A * -100, "kernel_weights_ of LKG holds .*, which is too small"),
    ("samples", "kernel_weights_", lambda A: A * 2, "kernel_weights_ of LKG holds weights whose sum is not one"),
    ("samples", "kernel_weights_", lambda A: A[:-1] / A[:-1].sum(), "kernel_names_ of LKG has length"),
    ("samples", "n_clusters_", to(10**10), "n_clusters_ of LKG is 10000000000, more than the 3 coordinates"),
    ("samples", "n_clusters_", to(True), "n_clusters_ of LKG is True instead of a whole number from 1 on"),
    ("samples", "settings_", to([1]), "settings_ of LKG is"),
    ("samples", "settings_/pairs", to([["colour", "red"]]), "settings_ of LKG holds what is no parameter of LKG"),
    (
        "samples",
        "settings_/pairs",
        to([["n_clusters", 0]]),
        "settings_ of LKG is 0 instead of a whole number from 1 on",
    ),
    ("samples", "n_features_in_", to(4), "holds other features than were fitted"),
    ("samples", "_fitted", to(None), "_fitted of LKG is None instead of Extension or FusedExtension"),
    ("samples", "_fitted/ridge", to(-1.0), "ridge of Extension is -1.0 instead of a positive number"),
    ("samples", "_fitted/n_neighbors", to(0), "n_neighbors of Extension is 0 instead of a whole number from 1 on"),
    ("samples", "_fitted/edge_weights", to("heavy"), "edge_weights of Extension is 'heavy' instead of one of binary"),
    ("samples", "_fitted/bank", to(None), "lacks the kernel of the fitted samples"),
    ("samples", "_fitted/bank/views/0", lambda A: put(A, np.nan), "views of FittedBank holds NaN or infinity"),
    ("samples", "_fitted/bank/banks/0", lambda found: found[1:], "bank of Extension has 6 kernels instead of 7"),
    ("samples", "_fitted/bank/banks/0", to([]), "banks of FittedBank has 0 entries"),
    ("samples", "why_", to({"is": "objects", "shape": [10**9, 10**9, 0], "values": []}), "it holds a table of nothing"),
    ("samples", "_fitted/bank/banks/0/0/scale", to(10**400), "scale of Gaussian is a int instead of a positive"),
    ("samples", "_fitted/placement/basis", lambda A: A[:, 1:], "basis of Placement has length 2 instead of 3"),
    ("local", "_fitted/bank/banks/0/0/widths", lambda A: put(A, 0.0), "widths of SelfTuning holds 0, which is too"),
    ("local", "_fitted/bank/banks/0/0/widths", to(None), "widths of SelfTuning is"),
    ("local", "_fitted/bank/banks/0/1/graph/data", lambda A: put(A, np.nan), "graph of Neighbours holds NaN"),
    ("sparse", "_fitted/bank/views/0/indices", lambda A: A.astype(float), "a sparse matrix has indices that are none"),
    ("sparse", "_fitted/bank/views/0/indptr", lambda A: -A, "a sparse matrix has rows of less than no entries"),
    ("kernels", "_fitted/kernel", lambda A: put(A, np.nan), "kernel of Extension holds NaN or infinity"),
    ("kernels", "_fitted/digests", lambda A: A[:, 1:], "digests of Extension has length 15 instead of 16"),
    ("views", "_fitted/members/0/rows", lambda A: A[::-1], "counts a sample twice"),
    ("views", "_fitted/members/0/rows", lambda A: put(A[::-1], 2**40)[::-1], "rows of ViewMember holds 1099511627776"),
    ("views", "_fitted/members/0/view", to(2), "names views that there are not"),
    ("views", "_fitted/members/0/degrees", lambda A: -A, "degrees of ViewMember holds .*, which is too small"),
    ("views", "_fitted/members", to([]), "members of FusedExtension has 0 entries"),
    ("views", "_fitted/widths", to([2, 3]), "holds other features than were fitted"),
    ("landmarks", "cluster_centers_", lambda A: put(A, np.nan), "cluster_centers_ of LandmarkLKG holds NaN"),
    ("landmarks", "_expression/expression/inverse", lambda A: A[1:], "inverse of Expression has length 7 instead of 8"),
    ("landmarks", "_placement/spectrum", to("blue"), "spectrum of BipartiteEmbedding is 'blue'"),
    ("landmarks", "block_size", to(0), "LandmarkLKG takes no such block_size"),
    ("landmark views", "_expression/weights", lambda A: A * 0, "weights of FusedExpression holds weights whose sum"),
    ("landmark views", "_expression/widths/values/0", to(20), "_expression of LandmarkLKG holds other features"),
    ("landmark gaps", "_expression/rows/0", lambda A: A[::-1], "counts a landmark twice"),
    ("landmark gaps", "_expression/rows/0", lambda A: A + 2**40, "rows of FusedExpression holds"),
    ("landmark gaps", "_expression/size", to(None), "does not tell how many landmarks there are"),
    ("landmark gaps", "_expression/reserve/values", to([0, 1]), "has no view that counts"),
    ("landmark gaps", "_expression/reserve/values", to([7]), "names views that there are not"),
    ("landmark gaps", "landmarks_", lambda A: A * np.nan, "landmarks_ of LandmarkLKG holds NaN or infinity"),
    ("landmark views", "_expression/weights", lambda A: A[1:], "weights of FusedExpression has length"),
    ("classifier", "classes_", lambda A: A[[0, 0, 1]], "classes_ of LKGClassifier holds no classes"),
    ("classifier", "transduction_", lambda A: put(A, "oak"), "transduction_ holds other classes"),
    ("classifier", "label_distributions_", lambda A: A * 2, "label_distributions_ of LKGClassifier holds weights"),
    ("classifier", "graph_model_/attributes", without("graph_"), "graph_model_ of LKGClassifier lacks graph_"),
    ("k-means", "_centres/V", lambda A: A * np.inf, "centre_weights_ of MultipleKernelKMeans holds NaN or infinity"),
    ("k-means", "n_clusters", to(0), "MultipleKernelKMeans takes no such n_clusters"),
    ("kernel k-means", "n_features_in_", to(5), "_fitted holds other features than were fitted"),
]


def test_what_no_fit_can_have_written_is_named(read):
    for name, place, change, told in DAMAGE:
        with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=rf"damaged \(.*({told})"):
            read(name, place, change)


def test_what_a_fit_has_written_is_read(read):
    for name in MODELS_OF:
        assert type(read(name, "n_features_in_", lambda count: count)) in MODELS.values()


def test_arrays_of_the_other_byte_order_are_read(read):
    loaded = read("samples", "embedding_", lambda A: A.astype(">f8"))
    assert loaded.embedding_.dtype == np.dtype("=f8")
    assert loaded.embedding_.dtype.isnative


def test_what_a_model_needs_has_rules():
    for kind in NEEDED:
        assert set(NEEDED[kind]) - set(MODEL_RULES[kind]) <= {"transduction_"}  # which is compared with the classes


def test_every_estimator_and_kernel_has_rules():
    assert set(MODEL_RULES) == set(MODELS.values())
    assert set(CHECKED_KERNELS) == set(KERNELS) & set(PARTS.values())
