import threading

import numpy as np

from kernelbraid.blocks.parts import LocalParts


def test_functions_follow_each_other_and_results_keep_their_order():
    for n_jobs in [None, 1, 3]:
        parts = LocalParts(range(20), n_jobs).map(lambda item: item + 1).map(lambda item: [item, -item])
        expected = [value for item in range(20) for value in (item + 1, -item - 1)]
        assert parts.total() == expected
        np.testing.assert_array_equal(parts.array(None, np.int64), expected)


def test_parts_are_formed_when_they_are_needed_and_once_if_kept():
    formed = []
    parts = LocalParts(range(3), None).map(lambda item: formed.append(item) or item)
    assert formed == []
    assert (parts.total(), parts.total()) == (3, 3)
    assert formed == [0, 1, 2] * 2
    kept = parts.keep()
    assert (kept.total(), kept.map(str).total()) == (3, "012")
    assert formed == [0, 1, 2] * 3


def test_as_many_threads_as_asked_work_at_a_time():
    meet = threading.Barrier(2, timeout=20)
    assert LocalParts(range(4), 2).map(lambda item: meet.wait() * 0 + item).total() == 6


def test_few_items_are_taken_ahead():
    taken = []
    parts = iter(LocalParts((taken.append(item) or item for item in range(100)), 2))
    next(parts)
    assert len(taken) <= 3
