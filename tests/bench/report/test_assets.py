import json
import sys

import pytest

from kernelbraid.bench.report.assets import css, embed, javascript, plotly


def test_style_and_script_are_files_of_the_package():
    assert "{" in css()
    assert "document" in javascript()


@pytest.mark.parametrize("read", [css, javascript, plotly])
def test_nothing_ends_the_element_that_it_stands_in(read):
    assert not any(end in read().lower() for end in ("</script", "</style"))


def test_data_cannot_end_the_element_that_it_stands_in():
    payload = {"text": "</script><b>&", "values": [1.5, None]}
    text = embed("data", payload)
    head, tail = "<script type='application/json' id='data'>", "</script>"
    assert text.startswith(head)
    inside = text.removeprefix(head).removesuffix(tail)
    assert "<" not in inside
    assert json.loads(inside) == payload


def test_what_json_cannot_say_is_refused():
    with pytest.raises(ValueError, match="JSON compliant"):
        embed("data", [float("nan")])


def test_a_missing_plotly_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"kernelbraid\[bench\]"):
        plotly()
