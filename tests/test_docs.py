"""Pages and examples are where readers look for them."""

import ast
import re
from pathlib import Path

from kernelbraid.methods import METHODS

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}


def order():
    """Return the examples in the order of the gallery, without the tools that build it."""
    tree = ast.parse((ROOT / "docs" / "gallery_order.py").read_text(encoding="utf-8"))
    assigned = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    return ast.literal_eval(assigned["ORDER"])


def test_the_gallery_lists_every_example_once():
    assert sorted(order()) == [path.stem.removeprefix("plot_") for path in EXAMPLES]


def test_an_example_is_a_short_script_with_a_title_and_a_picture():
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        title, line = ast.get_docstring(ast.parse(text)).splitlines()[:2]
        assert line == "=" * len(title)
        assert "plt.show()" in text or "plt.subplots" in text
        assert len(text.splitlines()) <= 150
        for line in re.findall(r"^(?:import|from) (?:matplotlib|anndata|mudata)\b.*", text, re.MULTILINE):
            assert '# pip install "kernelbraid[' in line  # which Python shows where the library is missing


def test_the_index_leads_to_every_page():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = " ".join(re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)).split()
    assert set(listed) >= PAGES


def test_every_page_is_two_clicks_from_the_readme():
    first = set(re.findall(r"\(docs/(\w+)\.md", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert first >= PAGES - {"api", "changelog"}


def test_links_between_pages_lead_somewhere():
    for page in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text(encoding="utf-8")):
            assert target.startswith("gallery/") or (page.parent / target).exists(), (page.name, target)


def test_links_to_examples_lead_somewhere():
    for page in sorted(PAGES):
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        linked = set(re.findall(r"gallery/plot_(\w+)\)", text))
        assert linked <= set(order())


def test_the_page_on_estimators_counts_the_methods_that_there_are():
    text = (ROOT / "docs" / "which_estimator.md").read_text(encoding="utf-8")
    assert sum(not name.startswith("LKG") for name in METHODS) == 13
    assert "thirteen others" in text
    assert "nine others" not in text
