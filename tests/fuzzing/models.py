"""Damaged and forged models: bytes of the archive, values of the tree, arrays with their checksums computed anew."""

import copy
import hashlib
import io
import json
import random
import warnings
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from estimators.models.write_models import CASES, FITTED, LABELS, NEW, two
from fuzzing.mutation import LENGTHS, flip_bits, mutate
from fuzzing.target import Target, all_refused, may_refuse, outcome_of
from kernelbraid import LKG, EachView, LandmarkLKG, load_model, save_model

TREE, CHECKSUMS = "model.json", "checksums.json"
RELEASED = Path(__file__).resolve().parents[1] / "estimators" / "models"
FILE, PLAN = "fuzzed.model", "plan.json"


# Pipelines, which no released version has written.
PIPELINES = {
    "scaled": (make_pipeline(StandardScaler(), PCA(2, whiten=True), LKG(2, random_state=0)), FITTED, NEW),
    "ranged": (
        make_pipeline(MinMaxScaler(), RobustScaler(), LandmarkLKG(2, n_landmarks=6, random_state=0)),
        FITTED,
        NEW,
    ),
    "turned": (make_pipeline(MaxAbsScaler(), TruncatedSVD(2), Normalizer(), LKG(2, random_state=0)), FITTED, NEW),
    "each": (make_pipeline(EachView([StandardScaler(), "passthrough"]), LKG(2, random_state=0)), two(FITTED), two(NEW)),
}
ALL = {**CASES, **PIPELINES}


def _array(number: Any) -> dict[str, Any]:
    return {"is": "array", "number": number}


def _part(name: str, **fields: Any) -> dict[str, Any]:
    return {"is": "part", "class": name, "fields": fields}


VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 5, 14, 10**6, 10**10, *LENGTHS, 2**63, -(2**63), 10**400, 0.5),
    *(1e308, -1e308, 1e-308, 1e150, "", "x", "precomputed", "auto", "cuda", "all", "all\x1b[31m", [], [0, 1], {}),
    *({"is": "float", "value": text} for text in ("nan", "inf", "x")),
    *({"is": "tuple", "values": values} for values in ([], [1, 2])),
    *({"is": "dict", "pairs": pairs} for pairs in ([], [[[1], 2]], [["a", 1], ["a", 2]])),
    *map(_array, (0, 1, 2, 3, 5, 8, 99, -1, True, 0.0, 1e300)),
    *({"is": "objects", "shape": shape, "values": []} for shape in ([0], [10**9, 10**9, 0])),
    *({"is": "scalar", "dtype": dtype, "value": 3} for dtype in ("<i8", "<f8", "O", "<U1000000000")),
    *(_part("os"), _part("Linear", normalise=None), _part("Gaussian", scale=1e-300), _part("SelfTuning")),
    *(_part("Polynomial", offset=1e308, degree=10**6, normalise=None), _part("Neighbours", n_neighbors=10**9)),
    *(_part("Polynomial", offset=0.0, degree=10**18), _part("Given", values=_array(0))),
    {"is": "model", "class": "LKG", "parameters": {}, "attributes": {}},
    *({"is": "step", "class": name, "parameters": {}, "attributes": {}} for name in ("PCA", "Normalizer", "EachView")),
    *({"is": "pipeline", "steps": steps} for steps in ([], [["a", "passthrough"]])),
]


@cache
def written() -> dict[str, bytes]:
    """Return models by name: of the versions that were released, and of this one."""
    found = {f"{path.parent.name} {path.stem}": path.read_bytes() for path in sorted(RELEASED.glob("*/*.model"))}
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few samples are hardly clusters
        for name, (model, fitted, _) in ALL.items():
            model.fit(fitted, LABELS) if name == "classifier" else model.fit(fitted)
            save_model(model, Path(folder) / FILE)
            found[f"now {name}"] = (Path(folder) / FILE).read_bytes()
    return found


@cache
def members(name: str) -> dict[str, bytes]:
    """Return what a model consists of."""
    with zipfile.ZipFile(io.BytesIO(written()[name])) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def make(rng: random.Random, folder: Path) -> None:
    """Write a model that is damaged, or one whose content is another while all checksums are right."""
    name = rng.choice(list(written()))
    how = rng.choice(("bits", "bytes", "tree", "tree", "arrays", "arrays", "members", "both"))
    if how in ("bits", "bytes"):
        content = written()[name]
        content = mutate(rng, content) if how == "bytes" else flip_bits(rng, content, rng.choice((1, 1, 3, 20)))
    else:
        parts = dict(members(name))
        if how in ("tree", "both"):
            parts[TREE] = _change_tree(rng, parts[TREE])
        if how in ("arrays", "both"):
            _change_array(rng, parts)
        if how == "members":
            other = rng.choice(list(parts))
            parts[other] = mutate(rng, parts[other])
        content = _archive(parts, is_summed=rng.random() < 0.97 and CHECKSUMS in parts)
    (folder / FILE).write_bytes(content)
    (folder / PLAN).write_text(json.dumps({"of": name, "how": how}), encoding="utf-8")


def _archive(parts: dict[str, bytes], is_summed: bool) -> bytes:
    if is_summed:
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items() if name != CHECKSUMS}
        parts[CHECKSUMS] = json.dumps(sums).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def _walk(node: Any, *place: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all values below a node."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in entries:
        yield (*place, key)
        yield from _walk(value, *place, key)


def _change_tree(rng: random.Random, content: bytes) -> bytes:
    """Return the tree with a value replaced, left out, moved or scaled."""
    tree = json.loads(content)
    for _ in range(rng.choice((1, 1, 1, 2))):
        places = list(_walk(tree["model"] if rng.random() < 0.95 and "model" in tree else tree))
        if not places:
            break
        place, other = rng.choice(places), rng.choice(places)
        owner = tree["model"] if place in list(_walk(tree.get("model"))) else tree
        donor = owner
        try:
            for key in place[:-1]:
                owner = owner[key]
            for key in other:
                donor = donor[key]
        except (KeyError, TypeError, IndexError):
            continue
        way, old = rng.random(), owner[place[-1]]
        if way < 0.15:
            del owner[place[-1]]
        elif way < 0.3:
            owner[place[-1]] = copy.deepcopy(donor)
        elif way < 0.4 and isinstance(old, int | float) and not isinstance(old, bool):
            owner[place[-1]] = old * rng.choice((2, -1, 10, 10**10)) + rng.choice((0, 1, -1))
        else:
            owner[place[-1]] = copy.deepcopy(rng.choice(VALUES))
    return json.dumps(tree).encode()


def _change_array(rng: random.Random, parts: dict[str, bytes]) -> None:
    """Put another array in the place of one."""
    names = [name for name in parts if name.endswith(".npy")]
    for name in rng.choices(names, k=rng.choice((1, 1, 2))) if names else ():
        array = np.lib.format.read_array(io.BytesIO(parts[name]))
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                changed = rng.choice(CHANGES)(array, rng)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            continue  # there is no such array
        file = io.BytesIO()
        np.lib.format.write_array(file, changed, allow_pickle=False)
        parts[name] = file.getvalue()


def _with(value: float):
    """Return a change that puts a value somewhere."""

    def change(array, rng):
        changed = array.astype(np.result_type(array.dtype, type(value))) if array.dtype.kind in "biuf" else array.copy()
        if changed.size:
            changed.flat[rng.randrange(changed.size)] = value
        return changed

    return change


CHANGES = [
    *map(_with, (np.nan, np.inf, -np.inf, -1, 0, 1, 7, 100, 2**40, 1e300, 1e-300)),
    *(lambda array, rng, factor=factor: array * factor for factor in (0, -1, -100, 1e-100, 1e100, 1e200, 100)),
    *(
        lambda array, rng, kind=kind: array.astype(kind)
        for kind in ("f4", "f2", "g", "i8", "u1", "?", "U8", "c16", "M8[s]")
    ),
    lambda array, rng: array[:-1],
    lambda array, rng: array[:0],
    lambda array, rng: array[None],
    lambda array, rng: array[::-1],
    lambda array, rng: array.T,
    lambda array, rng: array.ravel(),
    lambda array, rng: np.concatenate([array, array]),
    lambda array, rng: array[rng.sample(range(len(array)), len(array))],
    lambda array, rng: array.astype(array.dtype.newbyteorder(">")),
]


@cache
def expected(name: str) -> tuple[list[Any], list[Any]]:
    """Return labels and predictions of a model that is not damaged."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        path.write_bytes(written()[name])
        return _said(load_model(path), name)


def _said(model: Any, name: str) -> tuple[list[Any], list[Any]]:
    """Return the labels of a model and of new samples."""
    new = ALL[name.split()[1]][2]
    predictor = getattr(model, "best_estimator_", model)
    labels = np.asarray(getattr(model, "labels_", [])).tolist()
    if new is None or not hasattr(predictor, "predict"):
        return labels, []
    found = predictor.predict(new)
    classes = getattr(predictor, "classes_", None)
    n_new = new[0].shape[0] if isinstance(new, list) else new.shape[-2]
    assert found.shape == (n_new,), f"predictions of shape {found.shape} for {n_new} samples"
    if classes is not None:
        assert np.isin(found, classes).all(), "predictions that are no classes"
    else:
        assert found.dtype.kind in "iu", f"predictions of type {found.dtype}"
        assert found.min() >= 0, "negative predictions"
        assert found.max() < 1000, "predictions of clusters that there cannot be"
    if hasattr(predictor, "transform"):
        coordinates = predictor.transform(new)
        finite = coordinates.data if sparse.issparse(coordinates) else coordinates
        assert np.isfinite(finite).all(), "coordinates that are not finite"
    return labels, found.tolist()


def check(folder: Path) -> None:
    """Load and predict; a damaged file is refused, or says what it said before."""
    plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    path = folder / FILE
    with may_refuse(ValueError, about=path):
        model = load_model(path)
    said = outcome_of(lambda: _said(model, plan["of"]), ValueError)
    all_refused(said)
    if plan["how"] in ("bits", "bytes"):
        assert said == expected(plan["of"]), "a damaged model says something else"


TARGETS = [Target("models", make, check, share=3.0)]
