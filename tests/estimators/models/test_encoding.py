import json
from dataclasses import is_dataclass

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from kernelbraid import estimators, kernels
from kernelbraid.estimators.models.encoding import MODELS, PARTS, Reader, Writer
from kernelbraid.estimators.models.saving import READABLE
from kernelbraid.kernels import functions, local


def test_every_estimator_is_on_the_list():
    public = [getattr(estimators, name) for name in estimators.__all__]
    assert set(MODELS.values()) == {entry for entry in public if isinstance(entry, type)}
    assert all(issubclass(model, BaseEstimator) for model in MODELS.values())


@pytest.mark.parametrize("module", [functions, local])
def test_a_kernel_is_exported_and_can_be_saved_by_standing_in_its_module(module):
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
    ours = {kind for kind in kinds if is_dataclass(kind) and hasattr(kind, "matrix")} - {functions.Given}
    assert len(ours) > 1
    for kind in ours:
        assert getattr(kernels, kind.__name__) is kind
        assert kind.__name__ in kernels.__all__
        assert PARTS[kind.__name__] is kind


def test_code_of_users_is_on_no_list():
    assert kernels.Custom not in PARTS.values()
    assert not [kind for kind in PARTS.values() if not kind.__module__.startswith("kernelbraid.")]


@pytest.mark.parametrize("bank", kernels.BANKS)
def test_ready_banks_come_back_from_plain_data(bank):
    for version in READABLE:
        tree = json.loads(json.dumps(Writer().encode(kernels.BANKS[bank], "bank")))
        assert Reader(None, version).decode(tree) == kernels.BANKS[bank]


def test_an_array_has_one_number():
    writer, A = Writer(), np.eye(2)
    assert writer.encode([A, A], "a") == [{"is": "array", "number": 0}] * 2
    assert writer.encode(A.copy(), "a") == {"is": "array", "number": 1}
    assert len(writer.arrays) == 2
