from types import SimpleNamespace

import numpy as np
import pytest

from kernelbraid.plotting import plot_levels


def test_every_level_is_a_row_of_all_samples(draw, chooser):
    ax = draw(plot_levels, chooser)
    rows = {}
    for bar in ax.patches[:-1]:
        rows.setdefault(round(bar.get_y() + bar.get_height() / 2), []).append(bar)
    assert [len(rows[row]) for row in sorted(rows)] == [level.n_clusters for level in chooser.levels_]
    for bars in rows.values():
        assert sum(bar.get_width() for bar in bars) == 270
        ends = [bar.get_x() + bar.get_width() for bar in bars]
        np.testing.assert_allclose([bar.get_x() for bar in bars][1:], ends[:-1])


def test_the_level_that_is_taken_is_framed_and_named(draw, chooser):
    ax = draw(plot_levels, chooser)
    taken = next(at for at, level in enumerate(chooser.levels_) if level.is_taken)
    frame = ax.patches[-1]
    assert frame.get_y() + frame.get_height() / 2 == pytest.approx(taken)
    assert ax.get_title(loc="left") == f"Levels: {chooser.n_clusters_} clusters taken"
    assert [label.get_text() for label in ax.get_yticklabels()][taken] == f"{chooser.n_clusters_} clusters"


def test_smaller_clusters_stand_below_the_larger_ones_that_they_are_parts_of(draw, chooser):
    coarse, fine = chooser.levels_[0], chooser.levels_[1]
    assert coarse.n_clusters < fine.n_clusters
    bars = draw(plot_levels, chooser).patches
    upper = bars[: coarse.n_clusters]
    for bar in bars[coarse.n_clusters : coarse.n_clusters + fine.n_clusters]:
        middle = bar.get_x() + bar.get_width() / 2
        above = next(one for one in upper if one.get_x() <= middle <= one.get_x() + one.get_width())
        assert bar.get_facecolor()[:3] == above.get_facecolor()[:3]


def test_a_given_number_has_no_levels():
    with pytest.raises(ValueError, match="n_clusters=4 was given, not chosen; fit with n_clusters='auto'"):
        plot_levels(SimpleNamespace(n_clusters=4, levels_=None))
