from kernelbraid.plotting.axes import new_figure, render


def test_pictures_are_the_same_each_time():
    def picture(kind):
        figure, (ax,) = new_figure(1, 2.0, 2.0)
        ax.plot([0, 1], label="a line")
        ax.legend()
        return render(figure, kind)

    assert picture("png").startswith(b"\x89PNG")
    assert b"<svg" in picture("svg")
    assert picture("svg") == picture("svg")


def test_panels_fill_rows_and_none_is_left_over():
    figure, panels = new_figure(4, 1.0, 1.0, columns=3)
    assert len(panels) == 4
    assert [ax.axison for ax in figure.axes] == [True] * 4 + [False] * 2
    assert figure.get_size_inches().tolist() == [3.0, 2.0]
