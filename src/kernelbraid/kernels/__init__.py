"""From samples to kernel matrices: kernel functions, ready banks, precomputed kernels."""

from kernelbraid.kernels.banks import (
    AUTO,
    BANKS,
    KERNELS,
    bank_names,
    banks_for,
    build_bank,
    n_matrices,
    resolve_bank,
    resolve_banks,
    resolve_kernel,
    stack_bank,
    stack_given,
    stack_pairs,
)
from kernelbraid.kernels.fitted import FittedBank
from kernelbraid.kernels.functions import Custom, Gaussian, Kernel, Linear, Polynomial
from kernelbraid.kernels.local import LocalKernel, Neighbours, SelfTuning
from kernelbraid.kernels.names import name_in_view, split_name
from kernelbraid.kernels.pairs import pairs_of
from kernelbraid.kernels.precomputed import as_matrix, check_kernel, list_kernels, stack_kernels
from kernelbraid.kernels.stacks import KernelStack, LazyStack, StoredStack, without_spread

__all__ = [
    "build_bank",
    "AUTO",
    "BANKS",
    "KERNELS",
    "FittedBank",
    "Linear",
    "Polynomial",
    "Gaussian",
    "SelfTuning",
    "Neighbours",
    "Custom",
    "Kernel",
    "LocalKernel",
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
