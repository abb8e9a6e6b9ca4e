import pytest

from kernelbraid.learning import effort

PARTS = {
    "factor": effort.factor,
    "refine": effort.refine,
    "basis": lambda n: effort.basis(n, 50),
    "evidence": lambda n: effort.evidence(n, 10, 6, 3),
    "separation": effort.separation,
    "cloud": effort.cloud,
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_effort_grows_with_the_samples(part):
    assert 0 < part(10) < part(100) < part(1000)


def test_effort_grows_with_clusters_graphs_and_restarts():
    assert effort.evidence(100, 10, 6, 3) < effort.evidence(100, 20, 6, 3) < effort.evidence(100, 20, 9, 3)
    assert effort.evidence(100, 10, 6, 1) < effort.evidence(100, 10, 6, 3)
    assert effort.basis(100, 10) < effort.basis(100, 20)
