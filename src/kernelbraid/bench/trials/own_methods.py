"""Methods that are not ours: classes in a Python file beside an experiment, or of an installed package.

A method is a class as scikit-learn's clusterers are: parameters in ``__init__``, ``fit(X)``, then ``labels_``.
"""

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelbraid._typing import Parameters
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.methods import Method

#: Where installed packages name their methods.
GROUP = "kernelbraid.methods"
CONTRACT = "a method is a class with fit(X) that sets labels_, as scikit-learn's clusterers have"
SUFFIX = ".py"


@dataclass(frozen=True)
class OwnMethod:
    """Where a method is found, as plain data that other processes can import it by."""

    name: str  # in records
    place: str  # as the experiment writes it, "mine.py:Mine", or the name of an entry point
    path: Path | None = None  # of the Python file; None: an entry point
    class_name: str = ""  # "": the only class with fit in the file
    version: str = ""  # checksum of the file, or name and version of the package
    settings: Parameters = field(default_factory=dict)  # of all fits, on every record
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    takes_views: bool = False  # a list of matrices where there are several views, not one of all features

    @classmethod
    def at(cls, place: str, folder: Path, name: str = "", **more: Any) -> "OwnMethod":
        """Find a method by what the experiment says: ``FILE.py``, ``FILE.py:CLASS``, or an entry point."""
        file, _, class_name = place.rpartition(":") if not place.endswith(SUFFIX) else (place, "", "")
        if not file:
            return cls(name or place, place, version=_version(_entry_point(place)), **more)
        path = (folder / file).resolve()
        found = cls(name, place, path, class_name, _checksum(path, place), **more)
        class_name = class_name or found.load().__name__
        return replace(found, name=name or class_name, class_name=class_name)

    @property
    def code(self) -> str:
        """What of the method decides an outcome beside its parameters."""
        words = [self.version, self.class_name, "views" if self.takes_views else ""]
        return " ".join(word for word in words if word)

    def load(self) -> type:
        """Return the class.

        Raises
        ------
        ProtocolError
            The file is not there or has changed, does not import, or has no such class with ``fit``.
        """
        if self.path is None:
            found = _load(_entry_point(self.place), self.place)
        else:
            if _checksum(self.path, self.place) != self.version:
                raise ProtocolError(f"{self.path} has changed since the run began; run the same command again.")
            module = _module(self.path, self.version)
            found = getattr(module, self.class_name, None) if self.class_name else _only_class(module, self.path)
            if found is None:
                there = ", ".join(_classes(module)) or "none"
                raise ProtocolError(f"{self.path} has no class {self.class_name!r}, its classes: {there}; name one.")
        if not inspect.isclass(found) or not callable(getattr(found, "fit", None)):
            raise ProtocolError(f"{self.class_name or self.place} of {self.path or self.place} has no fit; {CONTRACT}.")
        return found

    def method(self) -> Method:
        """Return it as the others are."""
        return Method(self.place, self.load(), "features", grid=self.grid, joins=not self.takes_views)


def is_method_file(name: str) -> bool:
    """Return whether a word of an experiment is a Python file, not the name of a method."""
    return name.partition(":")[0].endswith(SUFFIX) or name.rpartition(":")[0].endswith(SUFFIX)


def installed_methods() -> list[str]:
    """Return the names of methods that installed packages offer."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def _entry_point(name: str) -> EntryPoint:
    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        raise ProtocolError(f"no installed package offers a method {name!r} ({GROUP}); install it, or give a file.")
    return found[0]


def _version(point: EntryPoint) -> str:
    """Return the package of an entry point and its version, or what it names where that is not known."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value


def _load(point: EntryPoint, name: str) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise ProtocolError(f"the method {name!r} could not be imported ({_reason(error)}); {CONTRACT}.") from None


def _checksum(path: Path, place: str) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        raise ProtocolError(f"there is no file {path} for the method {place!r}; check the path.") from None
    except OSError as error:
        raise ProtocolError(f"{path} could not be read ({error.strerror}); check its permissions.") from None


class _Uncached(SourceFileLoader):
    """Takes the file as it is now, and leaves no bytecode beside it."""

    def path_stats(self, path: Any) -> Any:
        raise OSError(path)


def _module(path: Path, checksum: str) -> ModuleType:
    """Import a file under a name that no other has; what stands beside it can be imported from it."""
    name = f"kernelbraid_method_{path.stem}_{checksum[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    loader = _Uncached(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # there is a loader
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ProtocolError(f"{path} could not be imported ({_reason(error)}); mend it, and run it again.") from None
    return module


def _classes(module: ModuleType) -> dict[str, type]:
    """Return the classes that a file itself defines and that have ``fit``."""
    found = inspect.getmembers(module, inspect.isclass)
    return {name: one for name, one in found if one.__module__ == module.__name__ and hasattr(one, "fit")}


def _only_class(module: ModuleType, path: Path) -> type:
    found = _classes(module)
    if len(found) != 1:
        count = f"{len(found)} classes with fit: {', '.join(found)}" if found else "no class with fit"
        raise ProtocolError(f"{path} has {count}; {CONTRACT}, and is named as {path.name}:CLASS.")
    return next(iter(found.values()))


def _reason(error: BaseException) -> str:
    """Return an error as part of a sentence, with the line of a file that is no Python."""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
