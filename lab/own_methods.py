"""Methods that are not ours: classes in a Python file beside an experiment, or of an installed package.

A method is a class as scikit-learn's clusterers are: parameters in ``__init__``, ``fit(X)``, then ``labels_``.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from lab.methods import Method
from lab.records import LabError

T = TypeVar("T")
#: Where installed packages name their methods.
GROUP = "kernelbraid.methods"
CONTRACT = "a method is a class with fit(X) that sets labels_, as scikit-learn's clusterers have"


@dataclass(frozen=True)
class OwnMethod:
    """Where a method is found, as plain data that other processes can import it by."""

    name: str  # in records
    place: str  # as the experiment writes it, "mine.py:Mine", or the name of an entry point
    path: Path | None = None  # of the Python file; None: an entry point
    class_name: str = ""  # "": the only class with fit in the file
    version: str = ""  # checksum of the file, or name and version of the package
    settings: Mapping[str, Any] = field(default_factory=dict)  # of all fits, on every record
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    views: bool = False  # a list of matrices where there are several views, not one of all features

    @classmethod
    def at(cls, folder: Path, name: str, table: Mapping[str, Any]) -> "OwnMethod | None":
        """Return what a table of an experiment describes; None for a name that is neither a file nor installed."""
        place, more = table["class"], {key: table[key] for key in ("settings", "grid", "views") if key in table}
        file, _, class_name = place.rpartition(":") if not place.endswith(".py") else (place, "", "")
        if file:
            path = (folder / file).resolve()
            found = cls(name, place, path, class_name, _checksum(_source(path)), **more)
            class_name = class_name or found.load().__name__
            return replace(found, name=name or class_name, class_name=class_name)
        point = _entry_point(place)
        if point is None:
            if not name:
                return None
            raise LabError(f"no installed package offers a method {place!r} ({GROUP}); install it, or give a file.")
        version = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
        return cls(name or place, place, version=version, **more)

    @property
    def code(self) -> str:
        """What of the method decides an outcome beside its parameters."""
        return " ".join(filter(None, [self.version, self.class_name, "views" if self.views else ""]))

    def load(self) -> type:
        """Return the class, or say that the file or the package has none with ``fit``."""
        if self.path is None:
            found = _imported(self.place, _entry_point(self.place).load)
            classes = {self.place: found} if inspect.isclass(found) and hasattr(found, "fit") else {}
        else:
            module = _module(self.path, self.version)
            classes = {name: one for name, one in vars(module).items() if _is_method(one, module.__name__)}
        wanted = [name for name in classes if name == self.class_name or not self.class_name]
        if len(wanted) != 1:
            there = ", ".join(classes) or "none"
            raise LabError(
                f"{self.path or self.place} must have one class {self.class_name}".rstrip()
                + f" with fit, and has {there}; {CONTRACT}."
            )
        return classes[wanted[0]]

    def method(self) -> Method:
        """Return it as the others are."""
        return Method(self.place, self.load(), "features", grid=self.grid, joins="" if self.views else "columns")


def _entry_point(name: str) -> EntryPoint | None:
    return next((point for point in entry_points(group=GROUP) if point.name == name), None)


def _imported(place: Any, importing: Callable[[], T]) -> T:
    """Return what somebody else's code gives, or say why it does not."""
    try:
        return importing()
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
        raise LabError(f"{place} could not be imported ({reason}); mend it, and run it again.") from None


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LabError(f"{path} could not be read ({error.strerror}); check the path.") from None


def _checksum(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()


def _module(path: Path, checksum: str) -> ModuleType:
    """Import a file under a name that no other has; what stands beside it can be imported from it."""
    name = f"lab_method_{path.stem}_{checksum[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    source = _source(path)
    if _checksum(source) != checksum:
        raise LabError(f"{path} has changed since the run began; run the same command again.")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = ModuleType(name)
    module.__file__ = str(path)
    _imported(path, lambda: exec(compile(source, path, "exec"), vars(module)))
    sys.modules[name] = module
    return module


def _is_method(found: Any, module: str) -> bool:
    """Tell whether something is a class with ``fit`` that the file itself defines."""
    return inspect.isclass(found) and found.__module__ == module and hasattr(found, "fit")
