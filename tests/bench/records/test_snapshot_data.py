from dataclasses import replace

import pytest

from bench.synthetic_records import keeping
from bench.synthetic_records import record as made_up
from kernelbraid.bench.records.snapshot_data import Curves, best_kept, block_edges, colour_range, ending, kept_fits
from kernelbraid.bench.results.selection import Conditions


def test_of_one_fit_the_newest_record_counts_whatever_its_scoring():
    first = keeping(made_up(0.5, scoring="best100"))
    second = keeping(made_up(0.6, scoring="mean20"))
    other = keeping(made_up(0.7, parameters={"alpha": 1.0}))
    plain = made_up(0.9)
    assert kept_fits([second, first, plain]) == [first]
    newer = replace(second, created="2026-02-01T00:00:00Z")
    assert set(map(id, kept_fits([newer, first, other]))) == {id(newer), id(other)}


def test_the_best_kept_record_of_each_data_set_and_method_is_drawn():
    low, high = keeping(made_up(0.5)), keeping(made_up(0.6, parameters={"alpha": 1.0}))
    others = [keeping(made_up(0.9, scoring="mean20")), keeping(made_up(0.4, data="jaffe", method="LKGs"))]
    found = best_kept([low, high, *others], Conditions("best100"), "history", order=["jaffe", "yale"])
    assert found == [others[1], high]
    only_kernel = replace(high, kept={"kernel": high.kept["kernel"]})
    assert best_kept([low, only_kernel], Conditions("best100"), "history", order=["yale"]) == [low]


def test_curves_leave_out_what_a_logarithmic_axis_cannot_show():
    history = {
        "mu": [1.0, 1.1, 1.2, 1.3],
        "kernel_change": [1e-17, 1e-2, 3e-3, None],
        "graph_residual": [1.0, 0.0, 2, 3],
    }
    curves = Curves.of(history)
    assert list(curves.series) == ["relative change of K", "graph residual, norm of Z − J"]
    assert list(curves.series.values()) == [(1e-17, 1e-2, 3e-3, None), (1.0, None, 2, 3)]
    assert curves.bottom == pytest.approx(1e-3)  # the first two steps do not count
    assert Curves.of({"kernel_change": [1.0, 1.0, 1e-15]}).bottom == 1e-8
    assert Curves.of({"kernel_change": []}).bottom > 0


def test_an_ending_is_told_in_words():
    assert ending(keeping(made_up(0.5, "kernel_vanished"), 1)) == "kernel vanished after 1 step"
    assert ending(keeping(made_up(0.5), 12)) == "converged after 12 steps"


def test_blocks_differ_by_one_sample_at_most():
    assert block_edges(3).tolist() == [0, 1, 2, 3]
    edges = block_edges(250)
    assert (len(edges), edges[0], edges[-1]) == (97, 0, 250)
    assert set((edges[1:] - edges[:-1]).tolist()) == {2, 3}


def test_the_colours_of_a_kernel_leave_out_its_extremes():
    image = [[0.5 + 0.001 * (row + column) for column in range(20)] for row in range(20)]
    image[0][1], image[5][6] = 99.0, None
    for at in range(20):
        image[at][at] = 50.0
    low, high = colour_range(image)
    assert 0.5 <= low < high < 0.6
    assert colour_range([[0.0, 0.0], [0.0, 0.0]]) == (-0.5, 0.5)
    assert colour_range([[2.0]]) == (1.5, 2.5)
