"""What the lab may know of the library, and the library of the lab."""

import ast
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Rooms that are documented; what they name is in their `__all__`.
ROOMS = {
    "kernelbraid",
    *(
        f"kernelbraid.{name}"
        for name in ("datasets", "kernels", "learning", "methods", "metrics", "plotting", "scverse")
    ),
}
MODULES = sorted((ROOT / "lab").rglob("*.py"))


def test_the_lab_imports_documented_names_only():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {name.name for name in node.names if name.name.startswith("kernelbraid")} <= ROOMS
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kernelbraid"):
                assert node.module in ROOMS
                offered = [*import_module(node.module).__all__, *(room.rpartition(".")[2] for room in ROOMS)]
                assert [name.name for name in node.names if name.name not in offered] == []
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in ("model", "models")
            ):
                assert not node.attr.startswith("_")


def test_the_lab_is_not_installed():
    assert not (ROOT / "src" / "lab").exists()
    assert not list((ROOT / "src").rglob("*lab*.toml"))
