import pytest

from bench.results.test_comparison import everything, run
from kernelbraid.bench.results.comparison import BESIDE, FIFTEEN, Compared
from kernelbraid.bench.results.figures_comparison import comparison_figures
from kernelbraid.plotting.drawing import render


def picture(records):
    [(name, figure)] = comparison_figures(records)
    assert name == "comparison_ranks"
    return figure


def texts(ax):
    return [text.get_text().split() for text in ax.texts]


def test_every_method_stands_in_the_picture_with_its_mean_rank():
    records = everything("yale", "jaffe", "ngs")
    figure, ranking = picture(records), Compared.of(records).ranking("acc")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Accuracy, 3 data sets", "NMI, 3 data sets"]
    for ax in figure.axes:
        shown = {frozenset(words) for words in texts(ax)}
        assert {frozenset((name, f"{ranking.mean_ranks[name]:.1f}")) for name in FIFTEEN} <= shown
        assert {frozenset((name, "1.0")) for name in BESIDE} <= shown


def test_bars_join_the_groups():
    records = everything("yale", "jaffe", "ngs", "orl", "tr11", "tr41", "tr45", "ar", "ba")
    ranking = Compared.of(records).ranking("acc")
    assert len(ranking.groups) > 1
    bars = [line.get_xdata() for line in picture(records).axes[0].lines if line.get_linewidth() > 3]
    expected = [(ranking.mean_ranks[group[0]], ranking.mean_ranks[group[-1]]) for group in ranking.groups]
    assert [tuple(bar) for bar in bars] == [pytest.approx(ends, abs=0.1) for ends in expected]


def test_the_critical_difference_is_drawn_to_scale():
    records = everything("yale", "jaffe", "ngs")
    length = Compared.of(records).ranking("acc").critical_difference
    ax = picture(records).axes[0]
    assert f"{length:.2f}" in [words[-1] for words in texts(ax)]
    assert [1, 1 + length] in [list(line.get_xdata()) for line in ax.lines]


def test_there_is_no_picture_of_one_method_or_one_data_set():
    assert list(comparison_figures([run(0.5), run(0.6, "jaffe")])) == []
    assert list(comparison_figures(everything("yale"))) == []
    assert list(comparison_figures([])) == []


def test_it_can_be_written_and_is_the_same_for_the_same_records():
    records = everything("yale", "jaffe")
    first, second = (render(picture(records), "svg") for _ in range(2))
    assert first == second
    assert render(picture(records), "png").startswith(b"\x89PNG")
