from collections import Counter

import numpy as np
import pytest
from array_api_compat import array_namespace
from hypothesis import HealthCheck, settings

settings.register_profile(
    "kernelbraid", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("kernelbraid")


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request):
    """Every array namespace that the mathematics must run on."""
    if request.param == "numpy":
        return array_namespace(np.empty(0))
    module = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    empty = module.asarray(0.0) if request.param == "array_api_strict" else module.empty(0)
    return array_namespace(empty)


def pytest_terminal_summary(terminalreporter):
    """Print how the fits of the robustness sweep ended."""
    counts = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "statuses":
                counts.update(value)
    if counts:
        ends = ", ".join(f"{status} {count}" for status, count in counts.most_common())
        terminalreporter.write_line(f"random settings: {counts.total()} fits, {ends}")
