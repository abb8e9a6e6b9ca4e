"""From samples to kernel matrices: kernels and ready banks. What `__all__` names is public, and nothing else."""

from kernelbraid.kernels.banks import AUTO, BANKS, bank_names, banks_for, build_bank, name_in_view, split_name
from kernelbraid.kernels.banks import KERNELS as KERNELS
from kernelbraid.kernels.banks import resolve_bank as resolve_bank
from kernelbraid.kernels.banks import resolve_banks as resolve_banks
from kernelbraid.kernels.banks import resolve_kernel as resolve_kernel
from kernelbraid.kernels.banks import stack_bank as stack_bank
from kernelbraid.kernels.banks import stack_given as stack_given
from kernelbraid.kernels.functions import Custom, Gaussian, Linear, Polynomial
from kernelbraid.kernels.functions import Kernel as Kernel
from kernelbraid.kernels.local import LocalKernel as LocalKernel
from kernelbraid.kernels.local import Neighbours, SelfTuning
from kernelbraid.kernels.pairs import FittedBank as FittedBank
from kernelbraid.kernels.pairs import n_matrices as n_matrices
from kernelbraid.kernels.pairs import pairs_of as pairs_of
from kernelbraid.kernels.pairs import stack_pairs as stack_pairs
from kernelbraid.kernels.precomputed import as_matrix as as_matrix
from kernelbraid.kernels.precomputed import check_kernel as check_kernel
from kernelbraid.kernels.precomputed import list_kernels as list_kernels
from kernelbraid.kernels.precomputed import stack_kernels as stack_kernels
from kernelbraid.kernels.stacks import KernelStack as KernelStack
from kernelbraid.kernels.stacks import LazyStack as LazyStack
from kernelbraid.kernels.stacks import StoredStack as StoredStack
from kernelbraid.kernels.stacks import without_spread as without_spread

__all__ = [
    "Gaussian",
    "Linear",
    "Polynomial",
    "SelfTuning",
    "Neighbours",
    "Custom",
    "AUTO",
    "BANKS",
    "build_bank",
    "banks_for",
    "bank_names",
    "name_in_view",
    "split_name",
]
