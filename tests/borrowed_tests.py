"""Tests that other packages install with themselves, run with our estimators in the place of theirs.

Nothing is copied: the installed module is loaded once more, under another name, while the names that it imports stand
for ours. A test that fails has its reason in the dictionary ``EXPECTED_FAILURES`` of the module that borrows it.
"""

import importlib
import importlib.util
from contextlib import ExitStack
from fnmatch import fnmatchcase
from unittest.mock import patch

import pytest


def borrow(module, replaced, *, without=()):
    """Return the tests of an installed module, or skip the module that borrows them where they are not installed.

    Parameters
    ----------
    module : str
        Full name of the module.
    replaced : dict
        What stands for ``"package.name"`` while the module is loaded.
    without : sequence of str
        Names of tests that use nothing of what is replaced, and would tell nothing about us.

    Returns
    -------
    dict
        Test functions by name, with their own parametrisation.
    """
    try:
        origin = importlib.util.find_spec(module).origin
    except (ModuleNotFoundError, AttributeError):
        pytest.skip(f"{module} is not installed", allow_module_level=True)
    spec = importlib.util.spec_from_file_location(f"borrowed_{module.replace('.', '_')}", origin)
    loaded = importlib.util.module_from_spec(spec)
    with ExitStack() as stack:
        for name, stand_in in replaced.items():
            package, attribute = name.rsplit(".", 1)
            stack.enter_context(patch.object(importlib.import_module(package), attribute, stand_in))
        spec.loader.exec_module(loaded)
    return {name: test for name, test in vars(loaded).items() if name.startswith("test_") and name not in without}


def mark_expected_failures(items):
    """Mark tests whose failure has a reason, so that they must fail."""
    for item in items:
        for pattern, reason in getattr(item.module, "EXPECTED_FAILURES", {}).items():
            if matches(item.name, pattern):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def unmatched(request, borrowed, expected):
    """Return the expected failures that no test of the requesting module has the name of."""
    items = [item for item in request.session.items if item.path == request.path]
    if not borrowed.keys() <= {item.originalname for item in items}:
        pytest.skip("some of the borrowed tests are deselected")
    return [pattern for pattern in expected if not any(matches(item.name, pattern) for item in items)]


def matches(name, pattern):
    """Compare the name of a test with one in which a star stands for anything; brackets are brackets."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))
