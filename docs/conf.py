"""Sphinx configuration: builds without a network, and every warning is an error (see the Makefile).

Only the standard library is imported here at the top, so that tools that collect Python files can import it.
"""

import html
import re
import sys
from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # gallery_order

project = "kernelbraid"
author = "The kernelbraid developers"
copyright = author
release = version = installed_version("kernelbraid")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "gallery/**/*.md5", "**/sg_execution_times.rst", "sg_execution_times.rst"]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

# API pages
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give the types
numpydoc_show_class_members = False  # the template lists them
numpydoc_validation_checks = {
    "all",
    "ES01",  # no extended summary: one sentence may be enough
    "EX01",  # no example: dataclass members and plots have none
    "SA01",  # no See Also section
    "SA04",  # See Also without description
    "GL01",  # text starts on the line of the quotes: the style of this code base
    "GL03",  # blank line at the end of a docstring is left by autodoc for attributes
    "RT03",  # "Returns" whose type says it all
    "PR08",  # a description may start with the letter of the equation
}
numpydoc_validation_exclude = {r"\.(get_params|set_params|fit_predict)$"}  # scikit-learn's own

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.ReadingOrder",
    "show_memory": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "thumbnail_size": (420, 300),
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Pages
html_theme = "pydata_sphinx_theme"
html_title = f"kernelbraid {release}"
html_static_path = ["_static"]
html_css_files = ["kernelbraid.css"]
PAGES = sorted(page.stem for page in Path(__file__).parent.glob("*.md"))
# Tables need the whole width.
WIDE = ("data", "lab", "methods", "paper_and_code", "reproduction", "scale", "study", "views")
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": {
        **{page: [] if page in WIDE else ["page-toc"] for page in PAGES},
        "gallery/*": ["page-toc"],
        "api/generated/*": [],  # one object each
    },
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page: [] for page in (*PAGES, "gallery/*") if page != "api"}  # these have nothing below them
html_show_sourcelink = False
html_math_renderer = "mathml"


def to_mathml(node, block):
    """Return LaTeX as MathML, which a browser shows without any script from elsewhere."""
    from docutils.utils.math import MathError
    from docutils.utils.math.latex2mathml import tex2mathml
    from sphinx.util import logging

    tex = re.sub(r"\\[Bb]ig{1,2}[lr]?(?![a-zA-Z])", "", node.astext())  # MathML stretches delimiters by itself
    tex = re.sub(r"frac(\d)(\d)", r"frac{\1}{\2}", tex)  # the converter reads \frac12 as one number
    try:
        return tex2mathml(tex, as_block=block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s in the formula %s", error, tex, location=node)
        return f"<code>{html.escape(tex)}</code>"


def visit_math(self, node):
    from docutils import nodes

    self.body.append(to_mathml(node, block=False))
    raise nodes.SkipNode


def visit_math_block(self, node):
    from docutils import nodes
    from sphinx.util.math import get_node_equation_number

    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(to_mathml(node, block=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>")
    raise nodes.SkipNode


def mark_fitted_attributes(app, what, name, obj, options, lines):
    """Quote a fitted attribute inside a shape: its last underscore would be read as a link."""
    lines[:] = [re.sub(r"shape \((\w+_),\)", r"shape (``\1``,)", line) for line in lines]


def list_names(app, config):
    """Write a page for every room, with what its ``__all__`` names and docstrings document: autosummary reads files."""
    folder = Path(app.srcdir) / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    for room in ("", ".kernels", ".methods", ".metrics", ".plotting", ".scverse", ".datasets"):
        module = import_module(f"kernelbraid{room}")
        found = [getattr(module, name) for name in module.__all__]
        names = [one.__name__ for one in found if callable(one) and "---" in (one.__doc__ or "")]
        title, indented = module.__name__, "".join(f"   {name}\n" for name in names)
        listed = f".. currentmodule:: {title}\n.. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{indented}"
        (folder / f"{title}.rst").write_text(f"{title}\n{'=' * len(title)}\n\n{listed}", encoding="utf-8")


def show_tables(app, docname, source):
    """Show a table of the lab in the place of a line that is nothing but a link to it."""
    link = r"^\[[^\]\n]*\]\((\.\./(?:results/tables|lab/judged)/\S+\.md)\)$"
    source[0] = re.sub(link, r"```{include} \1\n:start-line: 2\n```", source[0], flags=re.MULTILINE)


def strip_last_line(app, doctree):
    """Drop the blank line that ends a doctest in Markdown: without it the fence would belong to the output."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.astext().rstrip("\n")
            block.children = [nodes.Text(block.rawsource)]


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("config-inited", list_names)
    app.connect("source-read", show_tables)
    app.connect("doctree-read", strip_last_line)
    app.connect("autodoc-process-docstring", mark_fitted_attributes, priority=400)  # before numpydoc
    return {"parallel_read_safe": True}
