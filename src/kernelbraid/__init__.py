"""Clustering with several kernels or several views of the data."""

from importlib import import_module
from typing import TYPE_CHECKING

from kernelbraid._version import __version__

if TYPE_CHECKING:
    from kernelbraid.estimators import ADMM, LKG, LKGClassifier
    from kernelbraid.estimators.each_view import EachView
    from kernelbraid.estimators.gathering import Blocks
    from kernelbraid.io.align import align_views
    from kernelbraid.io.models import load_model, save_model

__all__ = [
    "LKG",
    "ADMM",
    "Blocks",
    "LKGClassifier",
    "EachView",
    "align_views",
    "save_model",
    "load_model",
    "__version__",
]

# Packages that are attributes without an import of their own, as in ``kernelbraid.kernels.build_bank``.
_ROOMS = (
    "datasets",
    "estimators",
    "io",
    "kernels",
    "learning",
    "methods",
    "metrics",
    "ops",
    "plotting",
    "scverse",
    "solvers",
)

# Names that are no estimators, and where they are.
_ELSEWHERE = {
    "Blocks": "kernelbraid.estimators.gathering",
    "EachView": "kernelbraid.estimators.each_view",
    "align_views": "kernelbraid.io.align",
    "load_model": "kernelbraid.io.models",
    "save_model": "kernelbraid.io.models",
}


if not TYPE_CHECKING:  # a type checker would take every name for one of the package

    def __getattr__(name: str) -> object:
        """Load what a name needs when it is asked for: the command line's help needs no estimator."""
        if name in _ROOMS:
            return import_module(f"kernelbraid.{name}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_ELSEWHERE.get(name, "kernelbraid.estimators")), name)
        return found


def __dir__() -> list[str]:
    """Return the names of the package, loaded or not."""
    return sorted({*globals(), *__all__})
