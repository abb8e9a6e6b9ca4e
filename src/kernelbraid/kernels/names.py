"""Names of kernels: alone, and as a kernel of one of several views."""

import re

_OF_A_VIEW = re.compile(r"view (\d+): (.+)")


def name_in_view(kernel: str, view: int) -> str:
    """Return the name of a kernel of one of several views, which are counted from 1."""
    return f"view {view}: {kernel}"


def split_name(name: str) -> tuple[int | None, str]:
    """Return the number of the view and the name of the kernel alone; None where there is one view."""
    found = _OF_A_VIEW.fullmatch(name)
    return (None, name) if found is None else (int(found[1]), found[2])
