"""From samples to kernel matrices: kernel functions, ready banks, precomputed kernels."""

from kernelbraid.kernels import functions, local
from kernelbraid.kernels.banks import (
    AUTO,
    BANKS,
    KERNELS,
    bank_names,
    banks_for,
    build_bank,
    name_in_view,
    resolve_bank,
    resolve_banks,
    resolve_kernel,
    split_name,
    stack_bank,
    stack_given,
)
from kernelbraid.kernels.functions import *  # noqa: F403 (its __all__ says what)
from kernelbraid.kernels.local import *  # noqa: F403 (its __all__ says what)
from kernelbraid.kernels.pairs import FittedBank, n_matrices, pairs_of, stack_pairs
from kernelbraid.kernels.precomputed import as_matrix, check_kernel, list_kernels, stack_kernels
from kernelbraid.kernels.stacks import KernelStack, LazyStack, StoredStack, without_spread

__all__ = [
    "build_bank",
    "AUTO",
    "BANKS",
    "KERNELS",
    "FittedBank",
    "n_matrices",
    "bank_names",
    "banks_for",
    "resolve_bank",
    "resolve_banks",
    "resolve_kernel",
    "as_matrix",
    "check_kernel",
    "list_kernels",
    "stack_kernels",
    "stack_bank",
    "stack_given",
    "stack_pairs",
    "pairs_of",
    "name_in_view",
    "split_name",
    "KernelStack",
    "LazyStack",
    "StoredStack",
    "without_spread",
]
__all__ += functions.__all__
__all__ += local.__all__
