import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from kernelbraid import LKG, align_views, load_model, save_model
from kernelbraid.methods import CrossViewDiffusion, MultiViewGraphFusion
from problems import blobs

X, _ = blobs()
FIRST = pd.DataFrame(X, columns=[f"a{i}" for i in range(X.shape[1])])
SECOND = pd.DataFrame(X[:, ::-1] ** 2, columns=[f"b{i}" for i in range(X.shape[1])])
NAMED = [f"sample {i}" for i in range(len(X))]
MODELS = [LKG(3, random_state=0)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
class TestColumns:
    def test_the_names_of_all_views_are_kept(self, model, tmp_path):
        model.fit([FIRST, SECOND])
        assert model.feature_names_in_.tolist() == [*FIRST.columns, *SECOND.columns]
        save_model(model, tmp_path / "a.model")
        read = load_model(tmp_path / "a.model")
        assert_array_equal(read.predict([FIRST, SECOND]), model.labels_)
        with pytest.raises(ValueError, match="column 1 of view 1 of X is 'b0', and was 'a0' in the fit; give"):
            read.predict([SECOND, FIRST])

    def test_columns_in_another_order_are_refused(self, model):
        model.fit([FIRST, SECOND])
        turned = SECOND[SECOND.columns[::-1]]
        with pytest.raises(ValueError, match=rf"column 1 of view 2 of X is '{turned.columns[0]}', and was 'b0'"):
            model.predict([FIRST, turned])

    def test_polars_says_the_same(self, model):
        model.fit([pl.from_pandas(FIRST), pl.from_pandas(SECOND)])
        with pytest.raises(ValueError, match="column 1 of view 1 of X is 'b0'"):
            model.predict([pl.from_pandas(SECOND), pl.from_pandas(FIRST)])

    def test_matrices_have_no_names_to_compare(self, model):
        model.fit([FIRST, SECOND])
        assert_array_equal(model.predict([FIRST.to_numpy(), SECOND]), model.labels_)
        model.fit([FIRST, SECOND.to_numpy()])
        assert not hasattr(model, "feature_names_in_")
        assert_array_equal(model.predict([FIRST, SECOND]), model.labels_)


@pytest.mark.parametrize(
    "model", [*MODELS, MultiViewGraphFusion(3), CrossViewDiffusion(3)], ids=lambda model: type(model).__name__
)
class TestRows:
    def test_rows_in_another_order_are_matched_by_name(self, model):
        first, second = FIRST.set_axis(NAMED), SECOND.set_axis(NAMED)
        by_position = model.fit([FIRST, SECOND]).labels_
        assert_array_equal(model.fit([first, second.iloc[::-1]]).labels_, by_position)
        assert_array_equal(model.fit([X, second, first.iloc[::-1]]).labels_, model.fit([X, SECOND, FIRST]).labels_)

    def test_rows_of_other_names_are_refused(self, model):
        first, second = FIRST.set_axis(NAMED), SECOND.set_axis([f"cell {i}" for i in range(len(X))])
        with pytest.raises(ValueError, match=r"row 0 is called 'cell 0' in view 2 of X and 'sample 0' in view 1"):
            model.fit([first, second])
        twice = SECOND.set_axis([NAMED[1], *NAMED[1:]])
        with pytest.raises(ValueError, match="row 0 is called 'sample 1' in view 2 of X and 'sample 0' in view 1"):
            model.fit([first, twice])

    def test_aligned_rows_give_what_positions_give(self, model):
        first, second = FIRST.set_axis(NAMED), SECOND.set_axis(NAMED)
        by_position = model.fit([FIRST, SECOND]).labels_
        aligned, _ = align_views([first, second.iloc[::-1]])
        assert_array_equal(model.fit(aligned).labels_, by_position)

    def test_rows_that_are_only_counted_have_no_names(self, model):
        assert model.fit([FIRST.set_axis(NAMED), SECOND]).labels_.shape == (len(X),)


def test_rows_of_a_later_view_are_compared_with_the_first_that_has_names():
    views = [X, FIRST.set_axis(NAMED), SECOND, SECOND.set_axis([*NAMED[:-1], "another"])]
    with pytest.raises(ValueError, match=r"row \d+ is called 'another' in view 4 of X and 'sample \d+' in view 2"):
        LKG(3).fit(views)


def test_parts_of_longer_frames_are_told_apart():
    longer = pd.concat([FIRST, FIRST], ignore_index=True)
    n = len(FIRST)
    with pytest.raises(ValueError, match=f"row 0 is called 1 in view 2 of X and {n} in view 1"):
        LKG(3).fit([longer.iloc[n:], longer.iloc[1 : n + 1]])
    assert np.unique(LKG(3).fit([longer.iloc[n:], SECOND]).labels_).size == 3
