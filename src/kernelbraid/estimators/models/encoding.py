"""Models as plain data and arrays, and back; a fixed list says which classes there are."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from kernelbraid import kernels
from kernelbraid._arrays import detach, is_foreign, to_numpy
from kernelbraid.blocks.dask_parts import is_dask
from kernelbraid.estimators.classifier import LKGClassifier
from kernelbraid.estimators.diffusion import CrossViewDiffusion
from kernelbraid.estimators.graph_fusion import MultiViewGraphFusion
from kernelbraid.estimators.kernel_kmeans import KernelKMeans, MultipleKernelKMeans
from kernelbraid.estimators.landmarks.estimator import LandmarkLKG
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.min_max_kmeans import SimpleMultipleKernelKMeans
from kernelbraid.estimators.models.members import PLAIN, MembersIn
from kernelbraid.estimators.models.upgrading import PARTS_OF_VERSION_1, upgrade
from kernelbraid.estimators.self_weighted import SelfWeightedMultipleKernel
from kernelbraid.estimators.similarity import MultipleKernelTwinGraph, SimplexGraph, TwinGraph
from kernelbraid.estimators.spectral import AffinityAggregation, KernelSpectralClustering
from kernelbraid.kernels import Custom, FittedBank
from kernelbraid.kernels.functions import Given, Pairs
from kernelbraid.learning.extension import Extension
from kernelbraid.learning.fused_extension import FusedExtension, ViewMember
from kernelbraid.learning.graph_extension import GraphExtension, GraphMember
from kernelbraid.solvers.extension import Expression, Placement
from kernelbraid.solvers.fused_landmarks import FusedExpression
from kernelbraid.solvers.kernel_kmeans import KernelCentres
from kernelbraid.solvers.landmark_centres import Centres
from kernelbraid.solvers.landmarks import BipartiteEmbedding, LandmarkExpression

#: Estimators that a file may hold. Names in a file are looked up here and in `PARTS`, nowhere else.
MODELS: dict[str, type] = {
    model.__name__: model
    for model in (
        *(LKG, LandmarkLKG, LKGClassifier, KernelKMeans, MultipleKernelKMeans, KernelSpectralClustering),
        *(AffinityAggregation, SimplexGraph, TwinGraph, MultipleKernelTwinGraph),
        *(SimpleMultipleKernelKMeans, CrossViewDiffusion, MultiViewGraphFusion, SelfWeightedMultipleKernel),
    )
}
# The kernels of `kernelbraid.kernels`; functions of users are none of them.
KERNELS = [
    kind
    for kind in (getattr(kernels, name) for name in kernels.__all__)
    if isinstance(kind, type) and is_dataclass(kind) and hasattr(kind, "matrix")
]
#: What their attributes are made of, beside numbers, text and arrays.
PARTS: dict[str, type] = {
    part.__name__: part
    for part in (
        *(*KERNELS, Given, Pairs, FittedBank, Extension),
        *(FusedExtension, ViewMember, FusedExpression, GraphExtension, GraphMember),
        *(Expression, Placement, LandmarkExpression, BipartiteEmbedding, Centres, KernelCentres),
    )
}
SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


class UnknownNameError(Exception):
    """A name in a file that is on no list of ours; the text is what it stands for."""


def member(number: int) -> str:
    """Return the name of an array in the archive."""
    return f"arrays/{number:d}.npy"


def _names(part: type) -> list[str]:
    """Return the constructor's arguments, from which a part is made again."""
    return [field.name for field in fields(part) if field.init]


class Writer:
    """Turns a model into a tree that JSON can hold, and a list of arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}  # from the identity of an array: one that is used twice is written once
        self._alive: list[Any] = []  # identities are those of objects that live

    def encode(self, value: Any, where: str) -> Any:
        """Return a value as plain data; `where` is its place in the model, for messages."""
        if value is None or isinstance(value, np.random.RandomState) or value is np.random:
            return None
        for kinds, encode in self._KINDS:
            if isinstance(value, kinds):
                return encode(self, value, where)
        name = type(value).__name__
        if type(value) is PARTS.get(name):
            return {"is": "part", "class": name, "fields": self._encode_all(value, _names(type(value)), where)}
        if type(value) is MODELS.get(name):
            return self._encode_model(value, where)
        if isinstance(value, BaseEstimator):
            return self._encode_step(value, where)
        if is_foreign(value) and not is_dask(value):
            return self._encode_array(value, where)
        if hasattr(value, "__array__") and not is_dask(value):  # a data frame
            return self._encode_array(np.asarray(value), where)
        raise ValueError(_refusal(value, where))

    def _encode_model(self, model: BaseEstimator, where: str) -> dict[str, Any]:
        given = model.get_params(deep=False)
        kept = [name for name, value in vars(model).items() if name not in given and not is_dask(value)]
        return {
            "is": "model",
            "class": type(model).__name__,
            "parameters": self._encode_all(model, given, where),
            "attributes": self._encode_all(model, kept, where),
        }

    def _encode_step(self, step: Any, where: str) -> dict[str, Any]:
        from kernelbraid.estimators.models import steps  # when it is needed: it loads more of scikit-learn

        name = type(step).__name__
        if isinstance(step, steps.Pipeline):
            each = [[label, self.encode(one, f"{where}[{label!r}]")] for label, one in step.steps]
            return {"is": "pipeline", "steps": each}
        if not steps.is_step(step):
            raise ValueError(_refusal(step, where))
        kept = [attribute for attribute in vars(step) if attribute not in step.get_params(deep=False)]
        return {
            "is": "step",
            "class": name,
            "parameters": self._encode_all(step, steps.changed_parameters(step), where),
            "attributes": self._encode_all(step, kept, where),
        }

    def _encode_all(self, owner: Any, names: Iterable[str], where: str) -> dict[str, Any]:
        values = {name: getattr(owner, name) for name in names}
        return {name: self.encode(value, f"{where}.{name}") for name, value in _without_callback(values).items()}

    def _encode_number(self, value: Any, where: str) -> Any:
        return value if math.isfinite(value) else {"is": "float", "value": str(value)}

    def _encode_scalar(self, value: np.generic, where: str) -> dict[str, Any]:
        item = value.item()
        if not isinstance(item, bool | int | float | str):
            raise ValueError(_refusal(value, where))
        return {"is": "scalar", "dtype": value.dtype.str, "value": self.encode(item, where)}

    def _encode_list(self, value: list[Any] | tuple[Any, ...], where: str) -> Any:
        values = [self.encode(entry, f"{where}[{i}]") for i, entry in enumerate(value)]
        return values if isinstance(value, list) else {"is": "tuple", "values": values}

    def _encode_dict(self, value: Mapping[Any, Any], where: str) -> dict[str, Any]:
        pairs = [
            [self.encode(key, where), self.encode(entry, f"{where}[{key!r}]")]
            for key, entry in _without_callback(value).items()
        ]
        return {"is": "dict", "pairs": pairs}

    def _encode_array(self, value: Any, where: str) -> dict[str, Any]:
        if id(value) not in self._numbers:
            array = to_numpy(detach(value)) if is_foreign(value) else np.asarray(value)
            if array.dtype == object:
                entries = [self.encode(entry, f"{where}[{i}]") for i, entry in enumerate(array.ravel().tolist())]
                return {"is": "objects", "shape": list(array.shape), "values": entries}
            if array.dtype.kind not in PLAIN:
                raise ValueError(_refusal(value, where))
            self._numbers[id(value)] = len(self.arrays)
            self._alive.append(value)
            self.arrays.append(array)
        return {"is": "array", "number": self._numbers[id(value)]}

    def _encode_sparse(self, value: Any, where: str) -> dict[str, Any]:
        kind = "csr_array" if isinstance(value, sparse.sparray) else "csr_matrix"
        matrix = value.tocsr()
        parts = {name: self._encode_array(getattr(matrix, name), where) for name in ("data", "indices", "indptr")}
        return {"is": kind, "shape": list(matrix.shape), **parts}

    # In this order: a bool is an int, and NumPy's float64 a float.
    _KINDS: tuple[tuple[Any, Callable[..., Any]], ...] = (
        (np.generic, _encode_scalar),
        (bool | str, lambda _, value, __: value),
        (int, lambda _, value, __: int(value)),
        (float, _encode_number),
        (list | tuple, _encode_list),
        (dict, _encode_dict),
        (np.ndarray, _encode_array),
        ((sparse.sparray, sparse.spmatrix), _encode_sparse),
    )


def _without_callback(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return parameters with None for a function that was called during the fit."""
    return {name: None if name == "callback" and callable(value) else value for name, value in values.items()}


def _refusal(value: Any, where: str) -> str:
    """Say that a value cannot be saved, and what to do."""
    if isinstance(value, Custom) or hasattr(value, "matrix") or callable(value):
        name = getattr(value, "name", None) or getattr(value, "__name__", type(value).__name__)
        return (
            f"{where} is the kernel {name!r}, which is your own code, and a model file holds none; use kernels of "
            "kernelbraid.kernels, or fit on its matrix as a precomputed kernel."
        )
    return (
        f"{where} is a {type(value).__name__}, which a model file cannot hold; give numbers, text, lists or arrays, "
        "and fit again."
    )


class Reader:
    """Makes a model from its tree and the arrays of an archive.

    Parameters
    ----------
    members : MembersIn
        Those of the file.
    version : int
        Of its format.
    """

    def __init__(self, members: MembersIn, version: int) -> None:
        self._members = members
        self._parts: Mapping[str, Callable[..., Any]] = {**PARTS, **(PARTS_OF_VERSION_1 if version == 1 else {})}
        self._arrays: dict[int, np.ndarray] = {}

    def decode(self, node: Any) -> Any:
        """Return what a node of the tree stands for."""
        if isinstance(node, list):
            return [self.decode(entry) for entry in node]
        if not isinstance(node, dict):
            return node
        if node.get("is") not in self._KINDS:
            raise UnknownNameError(f"the type {node.get('is')!r}")
        return self._KINDS[node["is"]](self, node)

    def _decode_all(self, nodes: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.decode(node) for name, node in nodes.items()}

    def _decode_model(self, node: Mapping[str, Any]) -> Any:
        return upgrade(self._decode_estimator(node, MODELS))

    def _decode_step(self, node: Mapping[str, Any]) -> Any:
        from kernelbraid.estimators.models import steps

        return self._decode_estimator(node, steps.STEPS)

    def _decode_pipeline(self, node: Mapping[str, Any]) -> Any:
        from kernelbraid.estimators.models import steps

        return steps.Pipeline([(str(label), self.decode(step)) for label, step in node["steps"]])

    def _decode_estimator(self, node: Mapping[str, Any], known: Mapping[str, type]) -> Any:
        kind = _look_up(known, node["class"])
        for name in node["attributes"]:
            if hasattr(kind, name):
                raise ValueError(f"{name!r} is no attribute of a fit")
        _refuse_unknown(node["parameters"], inspect.signature(kind).parameters, "parameter", node["class"])
        model = kind(**self._decode_all(node["parameters"]))
        vars(model).update(self._decode_all(node["attributes"]))
        return model

    def _decode_part(self, node: Mapping[str, Any]) -> Any:
        make = _look_up(self._parts, node["class"])
        if isinstance(make, type):
            _refuse_unknown(node["fields"], _names(make), "field", node["class"])
        return make(**self._decode_all(node["fields"]))

    def _decode_scalar(self, node: Mapping[str, Any]) -> Any:
        dtype = np.dtype(node["dtype"])
        if dtype.kind not in "biufU":
            raise UnknownNameError(f"a number of the type {node['dtype']!r}")
        return dtype.type(self.decode(node["value"]))

    def _decode_tuple(self, node: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(self.decode(entry) for entry in node["values"])

    def _decode_array(self, node: Mapping[str, Any]) -> np.ndarray:
        number = node["number"]
        if number not in self._arrays:
            self._arrays[number] = self._members.read_array(member(number))
        return self._arrays[number]

    def _decode_objects(self, node: Mapping[str, Any]) -> np.ndarray:
        if not node["values"] and len(node["shape"]) > 1:  # nothing can have any length beside it
            raise ValueError("it holds a table of nothing")
        array = np.empty(len(node["values"]), dtype=object)
        for i, entry in enumerate(node["values"]):
            array[i] = self.decode(entry)
        return array.reshape(node["shape"])

    def _decode_sparse(self, node: Mapping[str, Any]) -> Any:
        data, indices, indptr = (self.decode(node[name]) for name in ("data", "indices", "indptr"))
        if any(array.dtype.kind != kind for array, kind in ((data, "f"), (indices, "i"), (indptr, "i"))):
            raise ValueError("a sparse matrix has indices that are none")
        n, d = (int(length) for length in node["shape"])
        if len(indptr) != n + 1:  # before memory is taken for so many rows
            raise ValueError("a sparse matrix has another number of rows than it says")
        if (indptr[1:] < indptr[:-1]).any():  # not checked below if there seem to be less than no entries
            raise ValueError("a sparse matrix has rows of less than no entries")
        matrix = SPARSE[node["is"]]((n, d), dtype=data.dtype)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr  # the constructor changes their types
        matrix.check_format(full_check=True)  # indices out of range would be read from memory
        return matrix

    _KINDS: Mapping[str, Callable[..., Any]] = {
        "model": _decode_model,
        "step": _decode_step,
        "pipeline": _decode_pipeline,
        "part": _decode_part,
        "float": lambda _, node: float(node["value"]),
        "scalar": _decode_scalar,
        "tuple": _decode_tuple,
        "dict": lambda self, node: {self.decode(key): self.decode(value) for key, value in node["pairs"]},
        "array": _decode_array,
        "objects": _decode_objects,
        **dict.fromkeys(SPARSE, _decode_sparse),
    }


def _look_up(known: Mapping[str, Callable[..., Any]], name: Any) -> Callable[..., Any]:
    """Return a class of a list by its name."""
    if name not in known:
        raise UnknownNameError(f"the class {name!r}")
    return known[name]


def _refuse_unknown(given: Iterable[str], known: Iterable[str], kind: str, owner: str) -> None:
    """Say which name is none that we know."""
    names = set(known)
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise UnknownNameError(f"the {kind} {unknown!r} of {owner}")
