import json
from dataclasses import replace
from math import log10

import pytest

from bench.synthetic_records import SIZES, keeping, record
from kernelbraid.bench.records.snapshot_data import kept_fits
from kernelbraid.bench.report.fits import fits_payload, fits_section
from kernelbraid.bench.report.page import report

FIT = keeping(record(0.5, parameters={"alpha": 0.1, "mu": 1.0}, bank="rmkkm"))


def test_every_kept_fit_can_be_chosen():
    others = [keeping(record(0.5, data="jaffe", seed=2)), record(0.7)]
    text = fits_section([FIT, *others])
    assert text.count("<option") == 2
    assert "yale, LKGr, bank rmkkm, alpha 0.1, mu 1.0<" in text
    assert "jaffe, LKGr, seed 2<" in text
    assert [record.trial.data for record in kept_fits([FIT, *others])] == ["jaffe", "yale"]


def test_a_fit_on_changed_data_says_so():
    text = fits_section([FIT, keeping(record(0.5, changes={"noise": 0.5}))])
    assert text.count("<option") == 2
    assert "yale, LKGr, changed: noise 0.5<" in text


def test_the_payload_has_the_numbers_of_the_record():
    [fit] = json.loads(json.dumps(fits_payload([FIT]), allow_nan=False))
    assert fit["ending"] == "Converged after 12 steps. Accuracy 50.00 per cent (best100)."
    curves = fit["curves"]
    values = {line["label"]: line["values"] for line in curves["lines"]}
    assert values["relative change of K"] == FIT.kept["history"]["kernel_change"]
    assert values["graph residual, norm of Z − J"][0] is None
    assert curves["besides"][1] == "mu 1.1"  # a rank of -1 is none
    assert len(curves["besides"]) == 12
    assert curves["range"] == pytest.approx([log10(2.0**-33 / 3) if 2.0**-33 / 3 > 1e-8 else -8, log10(22.5)])
    assert fit["kernel"]["sizes"] == list(SIZES)
    assert fit["kernel"]["edges"][0] == 0
    assert fit["kernel"]["edges"][-1] == 100
    assert len(fit["kernel"]["edges"]) == len(fit["kernel"]["image"]) + 1
    low, high = fit["kernel"]["range"]
    assert 0.2 < low < high < 0.8


@pytest.mark.parametrize(("part", "other"), [("history", "kernel"), ("kernel", "curves")])
def test_one_part_may_be_missing(part, other):
    [fit] = fits_payload([replace(FIT, kept={part: FIT.kept[part]})])
    assert fit[other] is None


def test_a_store_that_kept_nothing_has_no_such_part():
    text = report([record(0.5)])
    assert "Inside the fits" not in text
    assert "Inside the fits" in report([FIT])
    assert "id='kept'>[]</script>" in text
    assert "<select id='fit'>" not in text


def test_text_of_a_fit_is_text():
    text = fits_section([keeping(record(0.5, parameters={"<b>": "</script>"}))])
    assert "<b>" not in text
    assert "&lt;b&gt; &lt;/script&gt;" in text
