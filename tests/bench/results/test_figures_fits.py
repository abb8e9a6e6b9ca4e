import numpy as np

from bench.synthetic_records import SIZES, experiment, keeping, record
from kernelbraid.bench.results.figures import all_figures
from kernelbraid.bench.results.figures_fits import LOOKS, consensus_kernels, convergence

FITS = [keeping(record(0.5, data=data, method=method)) for data in ("yale", "jaffe") for method in ("LKGr", "LKGs")]


def test_convergence_has_a_panel_a_fit_and_a_line_a_quantity():
    figure = convergence(FITS)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "yale, LKGr: converged after 12 steps",
        "yale, LKGs: converged after 12 steps",
        "jaffe, LKGr: converged after 12 steps",
        "jaffe, LKGs: converged after 12 steps",
    ]
    ax = figure.axes[0]
    assert ax.get_yscale() == "log"
    history = FITS[0].kept["history"]
    for line, name in zip(ax.lines, ("objective", "kernel_change", "kernel_residual", "graph_residual"), strict=True):
        values = np.array(history[name])
        np.testing.assert_array_equal(line.get_ydata(), np.where(values > 0, values, np.nan))
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 13))


def test_the_legend_names_each_quantity_once():
    [legend] = convergence(FITS).legends
    assert [text.get_text() for text in legend.get_texts()] == list(LOOKS)


def test_curves_differ_in_colour_and_in_dashes():
    assert len({colour for colour, _ in LOOKS.values()}) == len({dashes for _, dashes in LOOKS.values()}) == 4


def test_a_collapsed_fit_says_how_it_ended():
    figure = convergence([keeping(record(0.1, "graph_diagonal"), 3)])
    assert figure.axes[0].get_title(loc="left") == "yale, LKGr: graph diagonal after 3 steps"


def test_a_kernel_is_drawn_with_lines_between_its_clusters():
    figure = consensus_kernels(FITS[:1])
    ax = figure.axes[0]
    assert ax.get_title(loc="left") == "yale, LKGr: 100 samples in 3 clusters"
    [image] = ax.images
    np.testing.assert_array_equal(image.get_array(), FITS[0].kept["kernel"]["image"])
    assert image.get_extent() == [0, 100, 100, 0]
    borders = [np.unique(line.get_ydata() if line.get_xdata() == [0, 1] else line.get_xdata()) for line in ax.lines]
    assert sorted(np.concatenate(borders).tolist()) == [30, 30, 80, 80]
    assert sum(SIZES) == 100


def test_the_best_fits_of_an_experiment_are_among_its_figures():
    figures = dict(all_figures(experiment()))
    for name in ("convergence", "consensus_kernels"):
        figure = figures[f"{name}_best100"]
        titles = [ax.get_title(loc="left").split(":")[0] for ax in figure.axes]
        assert [title for title in titles if title] == ["yale, LKGr", "yale, LKGs", "jaffe, LKGr", "jaffe, LKGs"]
    assert "converged after 12 steps" in figures["convergence_mean20"].axes[0].get_title(loc="left")
    assert not any("cons" in name or "conv" in name for name, _ in all_figures([record(0.5)]))
