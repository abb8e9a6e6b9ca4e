import pytest

from kernelbraid.kernels import BANKS, bank_names, name_in_view, resolve_banks, split_name


def test_names_of_kernels_on_views_come_apart_again():
    assert name_in_view("gaussian t=1", 2) == "view 2: gaussian t=1"
    assert split_name(name_in_view("gaussian t=1", 2)) == (2, "gaussian t=1")
    assert split_name("view 12: view 3: linear") == (12, "view 3: linear")


@pytest.mark.parametrize("name", ["polynomial (1 + x.y)^2", "view", "view x: linear", "view 2:", "a view 2: linear"])
def test_a_name_without_a_view_stays_whole(name):
    assert split_name(name) == (None, name)


@pytest.mark.parametrize("bank", BANKS)
def test_names_of_a_bank_have_a_view_where_there_are_several(bank):
    for n_views in [1, 3]:
        found = [split_name(name) for name in bank_names(resolve_banks(bank, n_views))]
        views = [None] if n_views == 1 else [1, 2, 3]
        assert found == [(view, kernel.name) for view in views for kernel in BANKS[bank]]
