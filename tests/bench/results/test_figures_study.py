import pytest

from bench.synthetic_records import label_free, study
from kernelbraid.bench.results.figures_study import LOOKS, study_figures
from kernelbraid.bench.results.published import DATA
from kernelbraid.bench.results.study import TUNED
from kernelbraid.plotting.drawing import render


@pytest.fixture(scope="module")
def figure():
    [(name, drawn)] = study_figures(study())
    assert name == "study"
    return drawn


def points(figure):
    return {line.get_label(): line for line in figure.axes[0].lines if line.get_label() in LOOKS}


def test_every_method_has_a_dot_a_data_set_and_one_for_the_mean(figure):
    assert list(points(figure)) == list(LOOKS)
    assert all(list(line.get_ydata()) == list(range(len(DATA) + 1)) for line in points(figure).values())
    assert points(figure)["LKGSearch"].get_xdata()[-1] == pytest.approx(70)


def test_what_labels_would_have_picked_is_open_and_the_rest_is_filled(figure):
    filled = {name: line.get_markerfacecolor() != "white" for name, line in points(figure).items()}
    assert [name for name, full in filled.items() if not full] == [TUNED]


def test_markers_tell_the_methods_apart(figure):
    looks = [(line.get_marker(), line.get_markerfacecolor()) for line in points(figure).values()]
    assert len(set(looks)) == len(LOOKS)


def test_a_method_without_all_data_sets_has_no_mean():
    [(_, drawn)] = study_figures([*study()[:-1]])
    assert len(points(drawn)["KMeans"].get_xdata()) == len(DATA) - 1


def test_the_legend_stays_inside(figure):
    render(figure, "png")
    [legend] = figure.legends
    frame = legend.get_window_extent()
    assert figure.bbox.x0 <= frame.x0 <= frame.x1 <= figure.bbox.x1


def test_without_results_there_is_no_picture():
    assert list(study_figures([])) == []
    assert list(study_figures([label_free(0.5, changes={"noise": 1})])) == []
