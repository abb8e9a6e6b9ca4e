"""Shared type aliases."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from numpy.typing import NDArray

# An array of any namespace that array-api-compat knows. The standard has no runtime class for it.
Array: TypeAlias = Any
# An array namespace (``xp``): a module or an object with the functions of the array API standard.
Namespace: TypeAlias = Any
# A number type of such a namespace, or a name or class that NumPy takes for one.
DType: TypeAlias = Any
# A NumPy array whose entries may be numbers of any type, or text.
Host: TypeAlias = NDArray[Any]
# Parameters of an estimator by name; what each of them may be stands in the class of the estimator.
Parameters: TypeAlias = Mapping[str, Any]
