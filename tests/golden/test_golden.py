"""Labels that refactoring keeps."""

import json

import pytest
from sklearn.metrics import adjusted_rand_score

from golden.cases import BUNDLED, HASWELL, LABELS, PAPER, SEVERAL, encode, fits, read

KNOWN = json.loads(LABELS.read_text())
WITHOUT_AVX512 = json.loads(HASWELL.read_text())


@pytest.mark.filterwarnings("ignore")  # how a fit ended is not the question
@pytest.mark.parametrize("name", [*BUNDLED, *PAPER, "umist", *SEVERAL])
def test_labels_are_those_of_before(name):
    content = read(name)
    if content is None:
        pytest.skip(f"{name} is not there: the data of the paper are not distributed")
    all_fits, differing = fits(name, *content), []
    assert set(all_fits) == set(KNOWN[name])
    for title, fit in all_fits.items():
        found, known = encode(fit()), KNOWN[name][title]
        if found not in (known, WITHOUT_AVX512.get(name, {}).get(title)):
            count = sum(a != b for a, b in zip(found, known, strict=True))
            differing.append(f"{title}: {count} labels, index {adjusted_rand_score(list(known), list(found)):.3f}")
    assert differing == []
