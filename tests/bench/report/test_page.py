import json
import re
import sys
from html.parser import HTMLParser

import pytest

from bench.synthetic_records import BESIDE, experiment, lost, record, study
from kernelbraid.bench.report import assets
from kernelbraid.bench.report import page as module
from kernelbraid.bench.report.page import report, write_report
from kernelbraid.bench.results.published import DATA, METHODS

SMALL = [record(0.7), record(0.6, method="KKM"), lost("failed", "<b>boom</b> & </script>", data="ba")]
VOID = {"meta", "link", "br", "input"}


class Page(HTMLParser):
    """Collects tags, attributes and whether every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.wrong = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_report(experiment(), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def page(path):
    parser = Page()
    parser.feed(path.read_text())
    return parser


def test_the_page_is_well_formed(page):
    assert page.wrong == []
    assert page.open == []


def test_the_page_loads_nothing(page):
    for tag, attributes in page.seen:
        for name in ("src", "href", "srcset", "data", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    policy = next(a["content"] for t, a in page.seen if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"url\(|@import", assets.css())


def test_plotly_stands_in_it_once(path):
    assert path.read_text().count("* plotly.js v") == 1


def test_headers_are_buttons_and_frames_can_be_reached_by_key(page):
    heads = sum(tag == "th" and attributes.get("scope") == "col" for tag, attributes in page.seen)
    assert heads == sum(tag == "button" and "data-set" not in attributes for tag, attributes in page.seen)
    frames = [attributes for tag, attributes in page.seen if attributes.get("class") == "frame"]
    assert all(frame["tabindex"] == "0" and frame["aria-label"] for frame in frames)


def test_text_of_records_is_text(tmp_path):
    text = write_report(SMALL, tmp_path / "a.html").read_text()
    assert "<b>boom" not in text
    assert "&lt;b&gt;boom&lt;/b&gt; &amp; &lt;/script&gt;" in text
    parser = Page()
    parser.feed(text)
    assert parser.open == parser.wrong == []


def test_the_payload_is_json_with_one_point_per_cell(tmp_path):
    text = write_report(SMALL, tmp_path / "a.html").read_text()
    payload = json.loads(re.search(r"id='data'>(.*?)</script>", text, re.DOTALL)[1])
    point = next(p for p in payload[0]["points"] if (p["data"], p["method"], p["measure"]) == ("YALE", "LKGr", "acc"))
    assert (point["ours"], point["published"]) == (70.0, 66.06)


def headings(text):
    return re.findall(r"<h[23]>(.*?)</h[23]>", text)


def body(text):
    return re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)


def test_the_page_shows_what_was_run_alone():
    text = body(report([record(0.5, data="flowers", method="Mine"), record(0.6, data="flowers", method="KMeans")]))
    assert headings(text) == [
        "Overview",
        "Results",
        "Accuracy in per cent",
        "NMI in per cent",
        "By data set and by method",
    ]
    assert not [word for word in ("not run", "ublished", "YALE", "LKG", "the paper") if word in text]
    assert "<title>Clustering experiments</title>" in text


def test_published_figures_stand_beside_data_of_the_paper_and_are_told_from_ours():
    text = body(report([record(0.7), record(0.5, data="flowers", method="Mine")]))
    assert "<small class='theirs'>○ 66.06</small><small class='gap'>+3.94</small>" in text
    assert "○ published</span>: as printed in the paper" in text
    assert "JAFFE" not in text.partition("About the published figures")[0]
    assert "KKM" not in text.partition("id='remarks'")[0]


def test_the_title_is_that_of_the_experiment():
    assert "<title>Mine &amp; yours</title>" in report([record(0.5)], "Mine & yours")
    assert "<h1>Mine &amp; yours</h1>" in report([record(0.5)], "Mine & yours")


def test_counts_are_over_all_records():
    records = [*experiment(), *study()]
    text = report(records)
    assert f"<b>{len(records):,}</b> records" in text
    table = text[text.index("<summary>Data sets</summary>") :].partition("</table>")[0]
    assert sum(int(count) for count in re.findall(r"<td>(\d+)</td></tr>", table)) == len(records)


def test_every_data_set_and_method_can_be_left_out(page):
    values = [attributes["value"] for tag, attributes in page.seen if tag == "input"]
    assert values == [*DATA, "cora", "nuswide_view3", *METHODS, *BESIDE]


def test_all_but_the_first_parts_are_folded(page):
    parts = [attributes for tag, attributes in page.seen if tag == "details" and attributes.get("class") == "part"]
    assert 2 < sum("open" in attributes for attributes in parts) < len(parts) / 2


def test_an_empty_store_gives_a_report_of_what_is_published(tmp_path):
    assert "66.06" in write_report([], tmp_path / "a.html").read_text()


def test_a_report_is_whole_or_not_there(tmp_path, monkeypatch):
    path = write_report(SMALL, tmp_path / "deep" / "a.html")
    before = path.read_bytes()
    monkeypatch.setattr(module.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report([], path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_plotly_is_told(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"kernelbraid\[bench\]"):
        write_report(SMALL, tmp_path / "a.html")
