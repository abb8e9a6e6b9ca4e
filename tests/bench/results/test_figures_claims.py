import numpy as np
import pytest

from bench.synthetic_records import record
from kernelbraid.bench.results.claims import ROBUST
from kernelbraid.bench.results.figures_claims import STYLES, UNITS, robustness
from kernelbraid.bench.trials.corruption import LEVELS
from kernelbraid.plotting.drawing import render

LEVELS_RUN = {"noise": (0, 0.5, 2), "shuffled": (0, 1)}


def records(*methods, changes=("noise", "shuffled")):
    return [
        record(0.9 - 0.1 * place - 0.2 * level, method=method, changes={change: level})
        for change in changes
        for place, method in enumerate(methods)
        for level in LEVELS_RUN[change]
    ]


@pytest.fixture(scope="module")
def figure():
    return robustness(records("MKKM", "LKGr", "KMeans"))


def test_there_is_a_panel_a_change_and_a_line_a_method(figure):
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["noise", "shuffled"]
    assert [len(ax.lines) for ax in figure.axes] == [3, 3]
    line = figure.axes[0].lines[1]  # methods by name
    np.testing.assert_allclose(line.get_xdata(), [0, 0.5, 2])
    np.testing.assert_allclose(line.get_ydata(), [80, 70, 40])


def test_the_legend_names_each_method_once_and_ours_first(figure):
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["LKGr", "KMeans", "MKKM"]


def test_a_method_looks_the_same_in_every_panel(figure):
    looks = [[(line.get_color(), line.get_linestyle(), line.get_marker()) for line in ax.lines] for ax in figure.axes]
    assert looks[0] == looks[1]
    assert len(set(looks[0])) == 3


def test_axes_say_what_a_level_is(figure):
    assert [ax.get_xlabel() for ax in figure.axes] == [
        "deviations of the entries",
        "share of the samples, in one kernel",
    ]
    assert set(UNITS) == set(ROBUST) <= set(LEVELS)


def test_methods_differ_in_colour_and_in_marker():
    assert len({colour for colour, _, _ in STYLES}) == len({marker for _, _, marker in STYLES}) == len(STYLES)


def test_a_legend_of_many_methods_stays_inside_a_figure_of_one_panel():
    figure = robustness(records("LKGr", "LKGs", "KMeans", "SC-knn", "MKKM", "RMKKM", changes=["noise"]))
    render(figure, "png")
    box, [legend] = figure.bbox, figure.legends
    frame = legend.get_window_extent()
    assert box.x0 <= frame.x0
    assert frame.x1 <= box.x1


def test_a_method_without_all_levels_has_no_line():
    [ax] = robustness([*records("LKGr", changes=["noise"]), record(0.1, method="KKM", changes={"noise": 2})]).axes
    assert len(ax.lines) == 1


def test_without_changed_data_there_is_no_figure():
    assert robustness([]) is None
    assert robustness([record(0.5), record(0.5, method="LKGr/whole")]) is None
