from bench.synthetic_records import record
from kernelbraid.bench.results.figures import all_figures
from kernelbraid.plotting.drawing import new_figure, render


def test_pictures_are_the_same_each_time():
    def picture(kind):
        return render(dict(all_figures([record(0.5)]))["dots_acc_best100"], kind)

    assert picture("png").startswith(b"\x89PNG")
    assert b"<svg" in picture("svg")
    assert picture("svg") == picture("svg")


def test_panels_fill_rows_and_none_is_left_over():
    figure, panels = new_figure(4, 1.0, 1.0, columns=3)
    assert len(panels) == 4
    assert [ax.axison for ax in figure.axes] == [True] * 4 + [False] * 2
    assert figure.get_size_inches().tolist() == [3.0, 2.0]
