import numpy as np
import pytest
from array_api_compat import array_namespace
from hypothesis import HealthCheck, settings

settings.register_profile(
    "kernelbraid", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("kernelbraid")


def load(name):
    if name == "numpy":
        return array_namespace(np.empty(0))
    module = pytest.importorskip(name, reason=f"{name} is not installed")
    return array_namespace(module.asarray(0.0))


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request):
    """Every array namespace that the mathematics must run on."""
    return load(request.param)


@pytest.fixture(params=["array_api_strict", "torch"])
def foreign(request):
    """Every array namespace but NumPy's."""
    return load(request.param)
