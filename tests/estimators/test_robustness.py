"""Whatever the setting, a fit ends with finite arrays, the right number of labels and a truthful status."""

import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelbraid import LKG
from kernelbraid.kernels import build_bank
from problems import blobs, random_settings, survives_unguarded

PARTS = 10
X, _ = blobs(n=60, d=6, k=3)


@pytest.mark.parametrize("part", range(PARTS))
def test_five_hundred_random_settings(part, record_property):
    H = build_bank(X, "rmkkm")
    statuses = Counter()
    for settings in random_settings(500)[part::PARTS]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LKG(n_clusters=3, kernels="precomputed", n_init=5, random_state=0, **settings).fit(H)
        statuses[model.status_] += 1
        for array in (model.graph_, model.kernel_, model.coefficients_, model.auxiliary_graph_, model.embedding_):
            assert np.isfinite(array).all(), settings
        assert model.kernel_.any(), settings
        assert len(set(model.labels_)) == 3, settings
        if survives_unguarded(H, settings):
            assert model.status_ in ("converged", "max_iter"), settings
    record_property("statuses", dict(statuses))  # summed up and printed at the end of the run
