from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.estimators.presets import PRESETS, Preset
from problems import blobs

AUTHORS, PAPER = PRESETS["authors"], PRESETS["paper"]
NAMES = [field.name for field in fields(Preset)]
DIFFERING = [name for name in NAMES if getattr(AUTHORS, name) != getattr(PAPER, name)]


def test_every_field_is_a_parameter_that_is_none_by_default():
    defaults = LKG().get_params()
    assert all(defaults[name] is None for name in NAMES)


def test_without_a_preset_the_fit_is_the_recommended_one():
    assert LKG().preset == "recommended"


def test_an_explicit_parameter_wins():
    settings = AUTHORS.resolve({"alpha": 7.0, "beta": None, "tol": 0.5})
    assert settings == {"alpha": 7.0, "beta": AUTHORS.beta, "tol": 0.5}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_equals_its_values_written_out(preset):
    X, _ = blobs(n=24)
    short = LKG(3, preset=preset, max_iter=8, tol=0, random_state=0).fit(X)
    values = {name: getattr(PRESETS[preset], name) for name in NAMES if name not in ("max_iter", "tol")}
    other = next(name for name in PRESETS if name != preset)
    long = LKG(3, preset=other, max_iter=8, tol=0, random_state=0, **values).fit(X)
    np.testing.assert_array_equal(short.kernel_, long.kernel_)
    np.testing.assert_array_equal(short.labels_, long.labels_)


# An embedding by magnitude and by value differ only where the graph has large negative eigenvalues.
@pytest.mark.parametrize("name", [name for name in DIFFERING if name not in ("embedding",)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
def test_every_difference_changes_the_fit(name):
    X, _ = blobs(n=24)
    plain = LKG(3, preset="authors", max_iter=8, random_state=0).fit(X)
    changed = LKG(3, preset="authors", max_iter=8, random_state=0, **{name: getattr(PAPER, name)}).fit(X)
    assert not np.allclose(plain.graph_, changed.graph_, atol=1e-8)


def test_the_documentation_lists_every_difference():
    page = Path(__file__).parents[2] / "docs" / "paper_and_code.md"
    if not page.exists():
        pytest.skip("the documentation is not beside the tests")
    text = page.read_text(encoding="utf-8")
    assert [name for name in DIFFERING if f"`{name}`" not in text] == []
