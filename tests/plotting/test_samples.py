import numpy as np

from kernelbraid.datasets import Images, load_images
from kernelbraid.plotting.axes import BETWEEN, gap_of, render, sample_sheet, tile


def test_a_sheet_has_a_row_a_class_and_its_images_side_by_side():
    images = load_images("digits", n_classes=4, n_samples=5)
    ax = sample_sheet(images).axes[0]
    assert ax.get_title(loc="left") == "handwritten digits: 8 x 8 pixels"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["class 0", "class 3", "class 6", "class 9"]
    sheet = ax.images[0].get_array()
    assert sheet.shape == (4 * 9 - 1, 5 * 9 - 1)
    second = np.array(images.rows[2][1])  # third row, second column
    np.testing.assert_allclose(sheet[18:26, 9:17], (second - second.min()) / (second.max() - second.min()))
    assert (sheet[8] == BETWEEN).all()


def test_a_short_row_ends_early():
    sheet = tile([[np.zeros((2, 3))] * 2, [np.zeros((2, 3))]])
    assert sheet.shape == (5, 7)
    assert (sheet[3:, 4:] == BETWEEN).all()
    assert (sheet[3:, :3] == 0).all()


def test_gaps_grow_with_the_images():
    assert [gap_of(height) for height in (2, 8, 26, 32)] == [1, 1, 2, 2]


def test_an_image_of_one_value_is_black_and_the_title_tells_the_preprocessing():
    ax = sample_sheet(Images("Flat", [3], [np.full((1, 4, 4), 7.0)], ("zscore", "unit_norm"))).axes[0]
    assert not np.asarray(ax.images[0].get_array()).any()
    assert ax.get_title(loc="left") == "Flat: 4 x 4 pixels\nafter zscore and unit_norm"


def test_the_picture_is_the_same_each_time():
    images = load_images("digits", n_classes=2, n_samples=2)
    assert render(sample_sheet(images), "png") == render(sample_sheet(images), "png")
