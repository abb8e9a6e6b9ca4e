from pathlib import Path

import numpy as np
import pytest

from kernelbraid import Blocks
from kernelbraid.blocks.source import check_again

X = np.arange(12.0).reshape(6, 2)


class Drawn:
    def __iter__(self):
        yield X[:4]
        yield X[4:]


def test_blocks_start_anew_every_time():
    for given in [[X[:4], X[4:]], (X[:4], X[4:]), Drawn(), Blocks(Drawn())]:
        blocks = Blocks(given)
        for _ in range(2):
            np.testing.assert_array_equal(np.vstack(list(blocks)), X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((block for block in [X]), "what Blocks got is a generator, which can be gone through once, .* of a list"),
        (iter([X]), "what Blocks got is a list_iterator, which can be gone through once"),
        (X, "Blocks takes several blocks of rows, not one ndarray; give that to the fit itself"),
        ("X.npy", "not one str; give that to the fit itself"),
        (Path("X.npy"), r"not one \w*Path; give that to the fit itself"),
        (3, "Blocks cannot go through int; give a list of matrices, or an object that yields them"),
    ],
)
def test_what_holds_no_blocks_gets_a_clear_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        Blocks(given)


def test_samples_that_are_used_up_are_refused_by_their_name():
    check_again(Drawn(), "X")
    with pytest.raises(ValueError, match=r"^X is a generator, which can be gone through once"):
        check_again((block for block in [X]), "X")
