import sys

import pytest

from bench.synthetic_records import KERNELS, experiment, lost, record
from kernelbraid.bench.results.figures import all_figures, dot_plot, kernel_weights, sensitivity
from kernelbraid.bench.results.published import DATA
from kernelbraid.bench.results.selection import Conditions, pools, surfaces

BEST = Conditions("best100")


@pytest.fixture(scope="module")
def results():
    return pools(experiment(), BEST)


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_the_dot_plot_has_a_panel_a_data_set_and_a_dot_a_figure(results):
    figure = dot_plot(results, BEST)
    assert [ax.get_title(loc="left") for ax in figure.axes] == list(DATA)
    yale = figure.axes[0]
    assert [label.get_text() for label in yale.get_yticklabels()][-1] == "SC-knn"
    lines = [line for line in yale.lines if line.get_marker() == "o"]
    assert len(lines) == 15 + 11  # ours and published


def test_unsound_cells_are_hatched_and_labelled(results):
    found = surfaces(results["yale", "LKGr"])
    ax = figure_axes = sensitivity(found).axes[0]
    assert figure_axes.get_title(loc="left") == "alpha = 1e-05"
    hatched = [patch for patch in ax.patches if patch.get_hatch()]
    labels = [text.split("\n")[0] for text in words(ax)]
    assert len(ax.patches) == 36
    assert len(hatched) == labels.count("collapsed") + labels.count("failed") == 5


def test_cells_that_were_not_run_say_so():
    def at(beta, gamma):
        return record(0.5, parameters={"alpha": 1.0, "beta": beta, "gamma": gamma})

    results = pools([at(1, 1), at(1, 2), at(2, 1)], BEST)
    assert "not run" in words(sensitivity(surfaces(results["yale", "LKGr"])).axes[0])


def test_kernel_weights_are_bars_with_names(results):
    ax = kernel_weights([results["yale", "LKGr"]]).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(KERNELS)
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(1)


def test_figures_are_made_of_what_there_is():
    assert list(all_figures([lost("failed", "boom")])) == []
    names = [name for name, _ in all_figures([record(0.5)])]
    assert names == ["dots_acc_best100", "dots_nmi_best100"]


def test_the_dot_plot_shows_data_and_methods_that_were_run_alone():
    results = pools([record(0.5, data="wine", method="Mine"), record(0.6, data="wine", method="KMeans")], BEST)
    [ax] = dot_plot(results, BEST).axes
    assert ax.get_title(loc="left") == "wine"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["KMeans", "Mine"]
    assert len(ax.lines) == 2


def test_a_missing_matplotlib_is_told(monkeypatch, results):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"kernelbraid\[bench\]"):
        dot_plot(results, BEST)
