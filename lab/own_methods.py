"""Methods that are not ours: classes in a Python file beside an experiment, or of an installed package.

A method is a class as scikit-learn's clusterers are: parameters in ``__init__``, ``fit(X)``, then ``labels_``.
"""

import hashlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from lab.methods import Method
from lab.records import LabError, to_json

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
    settings: Mapping[str, Any] = field(default_factory=dict)  # of all fits
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    views: bool = False  # whether it gets a list of matrices where there are several views, not one of all features

    @classmethod
    def at(cls, folder: Path, name: str, table: Mapping[str, Any]) -> "OwnMethod | None":
        """Return what a table of an experiment describes; None for a name that is neither a file nor installed."""
        place, more = table["class"], {key: table[key] for key in ("settings", "grid", "views") if key in table}
        file, _, class_name = place.rpartition(":") if not place.endswith(".py") else (place, "", "")
        if file:
            path = (folder / file).resolve()
            found = cls(name, place, path, class_name, hashlib.sha256(_source(path)).hexdigest(), **more)
            class_name = found.load().__name__
            return replace(found, name=name or class_name, class_name=class_name)
        point = next(iter(entry_points(group=GROUP, name=place)), None)
        if point is None and not name:
            return None
        if point is None:
            raise LabError(f"no installed package offers a method {place!r} ({GROUP}); install it, or give a file.")
        version = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
        return cls(name or place, place, version=version, **more)

    def load(self) -> type:
        """Return the class, or say that the file or the package has none with ``fit``."""
        try:
            found = _defined(self.path, self.version) if self.path else [entry_points(group=GROUP)[self.place].load()]
        except LabError:
            raise
        except (Exception, SystemExit) as error:  # of somebody else's code
            reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
            raise LabError(f"{self.path or self.place} could not be imported ({reason}); mend it.") from None
        methods = {one.__name__: one for one in found if inspect.isclass(one) and hasattr(one, "fit")}
        chosen = [name for name in methods if self.class_name in ("", name)]
        if len(chosen) != 1:
            there = f"has {', '.join(methods)}" if methods else "has no fit"
            raise LabError(f"{self.place!r} {there}; {CONTRACT}, and is named as FILE.py:CLASS.")
        return methods[chosen[0]]

    def method(self) -> Method:
        """Return it as the others are."""
        code = " ".join([self.version, self.class_name, to_json({"settings": self.settings, "views": self.views})])
        joins: Any = "" if self.views else "columns"
        return Method(self.place, self.load(), "features", self.settings, self.grid, joins=joins, code=code)


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LabError(f"{path} could not be read ({error.strerror}); check the path.") from None


def _defined(path: Path, checksum: str) -> list[Any]:
    """Return what a file itself defines, imported once; it may import what stands beside it."""
    name = f"lab_method_{path.stem}_{checksum[:16]}"
    if name not in sys.modules:
        source, module = _source(path), ModuleType(name)
        if hashlib.sha256(source).hexdigest() != checksum:
            raise LabError(f"{path} has changed since the run began; run the same command again.")
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        exec(compile(source, path, "exec"), vars(module))
        sys.modules[name] = module
    return [found for found in vars(sys.modules[name]).values() if getattr(found, "__module__", "") == name]
