"""Labels that refactoring keeps."""

import json

import pytest
from sklearn.metrics import adjusted_rand_score

from golden.cases import BUNDLED, HASWELL, LABELS, PAPER, SEVERAL, encode, fits, read

KNOWN = json.loads(LABELS.read_text())
WITHOUT_AVX512 = json.loads(HASWELL.read_text())
FITS = [(name, title) for name, found in KNOWN.items() for title in found]


def test_every_fit_is_known():
    for name in (*BUNDLED, *PAPER, "umist", *SEVERAL):
        content = read(name)
        assert content is None or set(fits(name, *content)) == set(KNOWN[name])


@pytest.mark.filterwarnings("ignore")  # how a fit ended is not the question
@pytest.mark.parametrize(("name", "title"), FITS)
def test_labels_are_those_of_before(name, title):
    content = read(name)
    if content is None:
        pytest.skip(f"{name} is not there: the data of the paper are not distributed")
    found, known = encode(fits(name, *content)[title]()), KNOWN[name][title]
    agreement = adjusted_rand_score(list(known), list(found))
    assert found in (known, WITHOUT_AVX512.get(name, {}).get(title)), (
        f"{sum(a != b for a, b in zip(found, known, strict=True))} labels differ, index {agreement:.3f}"
    )
