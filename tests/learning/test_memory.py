import pytest

from kernelbraid.learning import effort as memory
from kernelbraid.learning.effort import choose_storage, predict_bytes

SIZE = {"n_samples": 1000, "n_kernels": 12, "n_views": 1, "itemsize": 8}


def test_stored_kernels_cost_one_matrix_each_and_lazy_ones_one_a_view():
    square = 1000 * 1000 * 8
    working = predict_bytes(**{**SIZE, "n_kernels": 0}, stored=True)
    assert predict_bytes(**SIZE, stored=True) - working == 12 * square
    assert predict_bytes(**SIZE, stored=False) - working == square
    assert predict_bytes(**{**SIZE, "n_kernels": 99}, stored=False) == predict_bytes(**SIZE, stored=False)


def test_inner_products_are_double_also_for_single_precision():
    single = {**SIZE, "itemsize": 4}
    assert predict_bytes(**single, stored=False) == int(1000 * 1000 * (memory.WORKING_MATRICES * 4 + 8))


def test_storage_follows_what_is_free(monkeypatch):
    for storage, free, stored in [
        ("auto", 10**9, True),
        ("auto", 120_000_000, False),
        ("lazy", 10**9, False),
        ("stored", 10**9, True),
    ]:
        monkeypatch.setattr(memory, "available_bytes", lambda free=free: free)
        assert choose_storage(storage, **SIZE) is stored


def test_the_memory_of_a_device_counts(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: pytest.fail("asked the machine"))
    assert choose_storage("auto", 10**9, **SIZE)
    assert not choose_storage("auto", 120_000_000, **SIZE)
    with pytest.raises(MemoryError, match="1 KB are free"):
        choose_storage("auto", 1000, **SIZE)


def test_without_any_knowledge_the_fit_is_tried(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert choose_storage("auto", None, **SIZE)


def test_the_ways_out_are_those_that_help():
    with pytest.raises(MemoryError, match=r"needs about 84 MB, .* use float32 data \(46 MB\) or fewer samples\."):
        choose_storage("auto", 58_000_000, **SIZE)
    with pytest.raises(MemoryError, match="40 MB are free; use fewer samples"):
        choose_storage("auto", 40_000_000, **SIZE)
    with pytest.raises(MemoryError, match="are free; use fewer samples"):
        choose_storage("auto", 1_000_000, **{**SIZE, "itemsize": 4})


def test_clustering_takes_a_batch_of_runs_or_one_if_that_is_larger():
    one = memory.clustering_bytes(1000, 5, 1)
    assert one < memory.clustering_bytes(1000, 5, 20) < 20 * one
    many = memory.clustering_bytes(100_000, 50, 20)
    assert many == memory.clustering_bytes(100_000, 50, 1)
    assert predict_bytes(**SIZE, stored=True, beside=many) - predict_bytes(**SIZE, stored=True) == many
