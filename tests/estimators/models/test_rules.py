import numpy as np
import pytest
from scipy import sparse

from kernelbraid.estimators.models.rules import (
    Sizes,
    check_fields,
    count,
    maybe,
    number,
    numbers,
    one_of,
    several,
    whole,
)


def holds(rule, value, **sizes):
    """Tell whether a value keeps a rule."""
    try:
        rule(value, Sizes(sizes))
    except ValueError:
        return False
    return True


def test_a_letter_stands_for_one_length():
    sizes = Sizes()
    numbers("n d")(np.ones((3, 2)), sizes)
    numbers("n")(np.ones(3), sizes)
    assert sizes == {"n": 3, "d": 2}
    with pytest.raises(ValueError, match="has length 2 instead of 3"):
        numbers("n")(np.ones(2), sizes)
    numbers("_ _ 5")(np.ones((7, 8, 5)), sizes)
    with pytest.raises(ValueError, match="has length 4 instead of 5"):
        numbers("5")(np.ones(4), sizes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_have_sum_one_up_to_rounding(dtype):
    rule = numbers("m", is_shared=True)
    weights = np.full(7, 1 / 7, dtype=dtype)
    assert holds(rule, weights)
    assert not holds(rule, weights * dtype(1.1))
    assert not holds(rule, np.array([1.5, -0.5], dtype=dtype))


def test_sparse_matrices_are_looked_through_where_they_may_be():
    A = sparse.csr_array(np.diag([1.0, np.nan]))
    assert not holds(numbers("n n", thin=True), A)
    assert holds(numbers("n n", thin=True), sparse.csr_array((2, 2)))
    assert not holds(numbers("n n"), sparse.csr_array((2, 2)))


def test_labels_are_below_their_number_and_leave_none_out():
    rule = whole("n", below="k", is_complete=True)
    assert holds(rule, np.array([0, 1, 1]), k=3)
    assert not holds(rule, np.array([0, 2, 2]), k=3)
    assert not holds(rule, np.array([0, 3, 1]), k=3)
    assert not holds(rule, np.array([0, 2**62]), k=3)
    assert not holds(rule, np.array([0, 2**64 - 1], dtype=np.uint64), k=3)


def test_single_values():
    for rule, good, bad in [
        (count(1), [1, np.int32(4)], [0, True, 1.0, "1", None, 2**63]),
        (number(), [0, 0.5, np.float32(2)], [-1, True, np.nan, np.inf, "1", None, 10**400]),
        (number(is_positive=True, is_finite=False), [1e-300, np.inf], [0, -1, np.nan]),
        (one_of(("a", "b")), ["a"], ["c", None, 1, ["a"]]),
        (maybe(count()), [None, 3], [-3]),
        (several(count(), least=1), [[1], (1, 2)], [[], [-1], "12", np.ones(2), None]),
    ]:
        assert all(holds(rule, value) for value in good)
        assert not any(holds(rule, value) for value in bad)


def test_the_first_fault_is_named_with_its_place():
    class Box:
        def __init__(self, **held):
            vars(self).update(held)

    rules = {"a": count(), "b": count(), "c": count()}
    check_fields(Box(a=1, other="anything"), rules, Sizes())
    with pytest.raises(ValueError, match="b of Box is 'x' instead of a whole number from 0 on"):
        check_fields(Box(a=1, b="x", c="y"), rules, Sizes())
