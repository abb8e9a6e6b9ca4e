import json
from dataclasses import is_dataclass

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from kernelbraid import estimators, kernels
from kernelbraid.estimators.models.encoding import MODELS, PARTS, Reader, Writer
from kernelbraid.estimators.models.saving import READABLE


def test_every_estimator_and_every_kernel_is_on_the_lists():
    public = [getattr(estimators, name) for name in estimators.__all__]
    assert set(MODELS.values()) == {entry for entry in public if isinstance(entry, type)}
    assert all(issubclass(model, BaseEstimator) for model in MODELS.values())
    known = [getattr(kernels, name) for name in kernels.__all__]
    ours = {entry for entry in known if isinstance(entry, type) and is_dataclass(entry) and hasattr(entry, "matrix")}
    assert ours <= set(PARTS.values())
    assert kernels.Custom not in PARTS.values()


@pytest.mark.parametrize("bank", kernels.BANKS)
@pytest.mark.parametrize("version", READABLE)
def test_ready_banks_come_back_from_plain_data(bank, version):
    tree = json.loads(json.dumps(Writer().encode(kernels.BANKS[bank], "bank")))
    assert Reader(None, version).decode(tree) == kernels.BANKS[bank]


def test_an_array_has_one_number():
    writer, A = Writer(), np.eye(2)
    assert writer.encode([A, A], "a") == [{"is": "array", "number": 0}] * 2
    assert writer.encode(A.copy(), "a") == {"is": "array", "number": 1}
    assert len(writer.arrays) == 2
