import numpy as np
import pytest
from scipy import sparse

from kernelbraid.datasets import CATALOG, DataError, load, load_images, npz
from kernelbraid.datasets.bundled import BUNDLED
from kernelbraid.datasets.entries import Picture, View
from kernelbraid.datasets.images import picture_of
from problems import shared_folder

PICTURED = ["yale", "jaffe", "orl", "ar", "ba", "digits"]


def test_images_of_digits_are_those_of_scikit_learn():
    from sklearn.datasets import load_digits

    digits = load_digits()
    found = load_images("digits", n_classes=3, n_samples=4)
    assert found.classes == [0, 4, 9]
    assert (found.title, found.steps) == ("handwritten digits", ())
    for one, images in zip(found.classes, found.rows, strict=True):
        np.testing.assert_array_equal(images, digits.images[digits.target == one][:4])


def test_all_classes_and_samples_are_taken_where_there_are_fewer():
    found = load_images("digits", n_classes=99, n_samples=9999)
    assert found.classes == list(range(10))
    assert sum(map(len, found.rows)) == 1797


def test_an_image_has_as_many_pixels_as_a_sample_has_features():
    for name in [*CATALOG, *BUNDLED]:
        picture = picture_of(name)
        assert (picture is not None) == (name in PICTURED)
        if picture is not None:
            known = CATALOG.get(name) or BUNDLED[name]
            assert known.n_features == (picture.height * picture.width,)


@pytest.mark.parametrize("name", ["wine", "cora", "nuswide_view3"])
def test_a_data_set_without_images_is_told_in_one_sentence(name):
    with pytest.raises(DataError, match=f"{name} is not made of images .* yale, jaffe, orl, ar, ba, digits"):
        load_images(name)


def test_names_that_are_unknown_or_not_here_are_told():
    with pytest.raises(DataError, match="'yalle' is no known data set; choose yale"):
        load_images("yalle")
    with pytest.raises(DataError, match=r"there is no file yale\.npz"):
        load_images("yale")


@pytest.fixture
def pictured(tiny, change, samples, folder):
    """A data set of images of 2 x 3 pixels, stored with its preprocessing done."""
    X = np.arange(72.0).reshape(12, 6)
    entry = change(tiny, views=(View(6, picture=Picture(2, 3)),))
    folder.mkdir()
    npz.write(folder / "tiny.npz", [X], samples[1] - 1, origin="a test")
    return entry, X


def test_pixels_of_matlab_come_column_by_column(pictured, change):
    found = load_images("tiny", n_classes=2, n_samples=2)
    assert found.classes == [0, 2]
    np.testing.assert_array_equal(found.rows[0][0], [[0, 2, 4], [1, 3, 5]])
    assert found.rows[1].shape == (2, 2, 3)
    assert found.steps == ("zscore", "unit_norm")
    change(pictured[0], views=(View(6, picture=Picture(2, 3, "C")),))
    np.testing.assert_array_equal(load_images("tiny").rows[0][0], [[0, 1, 2], [3, 4, 5]])


@pytest.mark.reference
@pytest.mark.parametrize("name", ["yale", "jaffe", "orl", "ar"])
def test_faces_stand_upright(name, monkeypatch):
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
    found = load_images(name, n_classes=999, n_samples=99)
    assert found.steps == ()
    assert sum(map(len, found.rows)) == load(name).n_samples
    # An upright face is its own mirror image, roughly; one that lies on its side is not.
    face = np.concatenate(found.rows).mean(axis=0)
    face -= face.mean()
    assert (face * face[:, ::-1]).sum() / (face * face).sum() > 0.7
    assert (face * face[::-1]).sum() / (face * face).sum() < 0.6


@pytest.mark.reference
def test_letters_stand_upright(monkeypatch):
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
    found = load_images("ba", n_classes=36, n_samples=39)
    capital_l = found.rows[found.classes.index(21)].mean(axis=0)  # classes 10 to 35 are A to Z
    assert capital_l.shape == (20, 16)
    assert capital_l[-4:].mean() > 2 * capital_l[:4].mean()  # the foot
    assert capital_l[:, :8].mean() > 1.5 * capital_l[:, 8:].mean()  # the stem


def test_a_sparse_file_of_ones_own_is_drawn_too(pictured, folder, samples):
    npz.write(folder / "tiny.npz", [sparse.csr_array(pictured[1])], samples[1] - 1, origin="a test")
    np.testing.assert_array_equal(load_images("tiny").rows[0][0], [[0, 2, 4], [1, 3, 5]])
