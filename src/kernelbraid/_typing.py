"""Shared type aliases."""

from typing import Any, TypeAlias

# An array of any namespace that array-api-compat knows. The standard has no runtime class for it.
Array: TypeAlias = Any
# An array namespace (``xp``): a module or an object with the functions of the array API standard.
Namespace: TypeAlias = Any
