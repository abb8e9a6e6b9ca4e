"""Methods that are not ours: classes in a Python file beside an experiment, or of an installed package.

A method is a class as scikit-learn's clusterers are: parameters in ``__init__``, ``fit(X)``, then ``labels_``.
"""

import hashlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from lab.methods import Method
from lab.records import LabError

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
    takes_views: bool = False  # a list of matrices where there are several views, not one of all features

    @classmethod
    def at(cls, place: str, folder: Path, name: str = "", **more: Any) -> "OwnMethod":
        """Find a method by what the experiment says: ``FILE.py``, ``FILE.py:CLASS``, or an entry point."""
        file, _, class_name = place.rpartition(":") if not place.endswith(".py") else (place, "", "")
        if not file:
            point = _entry_point(place)
            version = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
            return cls(name or place, place, version=version, **more)
        path = (folder / file).resolve()
        found = cls(name, place, path, class_name, hashlib.sha256(_source(path)).hexdigest(), **more)
        class_name = class_name or found.load().__name__
        return replace(found, name=name or class_name, class_name=class_name)

    @property
    def code(self) -> str:
        """What of the method decides an outcome beside its parameters."""
        return " ".join(filter(None, [self.version, self.class_name, "views" if self.takes_views else ""]))

    def load(self) -> type:
        """Return the class, or say that the file or the package has none with ``fit``."""
        if self.path is None:
            found = _load(_entry_point(self.place))
        else:
            classes = _classes(_module(self.path, self.version))
            if not self.class_name and len(classes) != 1:
                there = f"has {len(classes)} classes with fit: {', '.join(classes)}" if classes else "has no class"
                raise LabError(f"{self.path} {there}; {CONTRACT}, and is named as {self.path.name}:CLASS.")
            if self.class_name and self.class_name not in classes:
                there = ", ".join(classes) or "none"
                raise LabError(f"{self.path} has no class {self.class_name!r} with fit, but {there}; {CONTRACT}.")
            found = classes[self.class_name or next(iter(classes))]
        if not inspect.isclass(found) or not callable(getattr(found, "fit", None)):
            raise LabError(f"{self.place!r} has no fit; {CONTRACT}.")
        return found

    def method(self) -> Method:
        """Return it as the others are."""
        return Method(self.place, self.load(), "features", grid=self.grid, joins="" if self.takes_views else "columns")


def is_method_file(name: str) -> bool:
    """Tell whether a word of an experiment is a Python file, not the name of a method."""
    return name.endswith(".py") or name.rpartition(":")[0].endswith(".py")


def installed_methods() -> set[str]:
    """Return the names of methods that installed packages offer."""
    return {point.name for point in entry_points(group=GROUP)}


def _entry_point(name: str) -> EntryPoint:
    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        raise LabError(f"no installed package offers a method {name!r} ({GROUP}); install it, or give a file.")
    return found[0]


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise LabError(f"the method {point.name!r} could not be imported ({_reason(error)}); {CONTRACT}.") from None


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LabError(f"{path} could not be read ({error.strerror}); check the path.") from None


def _module(path: Path, checksum: str) -> ModuleType:
    """Import a file under a name that no other has; what stands beside it can be imported from it."""
    name = f"lab_method_{path.stem}_{checksum[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    source = _source(path)
    if hashlib.sha256(source).hexdigest() != checksum:
        raise LabError(f"{path} has changed since the run began; run the same command again.")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    try:
        exec(compile(source, path, "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise LabError(f"{path} could not be imported ({_reason(error)}); mend it, and run it again.") from None
    return module


def _classes(module: ModuleType) -> dict[str, type]:
    """Return the classes that a file itself defines and that have ``fit``."""
    found = inspect.getmembers(module, inspect.isclass)
    return {name: one for name, one in found if one.__module__ == module.__name__ and hasattr(one, "fit")}


def _reason(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
