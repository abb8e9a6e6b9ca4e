from kernelbraid.plotting.axes import new_figure, render


def test_pictures_are_the_same_each_time():
    def picture(kind):
        figure, ax = new_figure(2.0, 2.0)
        ax.plot([0, 1], label="a line")
        ax.legend()
        return render(figure, kind)

    assert picture("png").startswith(b"\x89PNG")
    assert b"<svg" in picture("svg")
    assert picture("svg") == picture("svg")
