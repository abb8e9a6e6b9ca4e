"""Shared type aliases."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy import sparse

# An array of any namespace that array-api-compat knows. The standard has no runtime class for it.
Array: TypeAlias = Any
# An array namespace (``xp``): a module or an object with the functions of the array API standard.
Namespace: TypeAlias = Any
# A number type of such a namespace, or a name or class that NumPy takes for one.
DType: TypeAlias = Any
# A NumPy array whose entries may be numbers of any type, or text.
Host: TypeAlias = NDArray[Any]
# Such arrays of numbers in double precision, with one axis or more.
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
# Such arrays of whole numbers: of clusters, or of places of samples.
Labels: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int64]
# Parameters of an estimator by name; what each of them may be stands in the class of the estimator.
Parameters: TypeAlias = Mapping[str, Any]
# A matrix as users have it: rows of numbers, an array of any library, a data frame, or a sparse matrix.
InputMatrix: TypeAlias = "ArrayLike | sparse.sparray | sparse.spmatrix"
# What users hand over: samples, several views of them, or a stack or list of kernels.
Input: TypeAlias = "InputMatrix | Sequence[InputMatrix]"
# Takes an array to a device, or to another library.
Place: TypeAlias = Callable[[Array], Array]
