"""Settings of Sphinx for the site; `python -m pages.site` copies this file beside the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

from understudy import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "understudy"
release = version = __version__
copyright = "the understudy authors, Apache-2.0"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []
suppress_warnings: list[str] = []
nitpicky = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
default_role = "literal"
# A longer signature has one line for each parameter.
maximum_signature_line_length = 80
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Privacy", "Source", "Sources", "Proof"]

html_theme = "furo"
html_title = f"understudy {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "monokai"
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}


def setup(app: Sphinx) -> None:
    """Show the lists of layers and steps as plain text, and docstrings of properties as written."""
    for name in ("layers", "walk"):
        app.add_lexer(name, TextLexer)
    app.connect("autodoc-process-docstring", _without_types, priority=100)


def _without_types(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Keep words before a colon from being read as the type of a property."""
    del app, name, value, options
    if what in ("property", "attribute", "data") and lines:
        lines[0] = lines[0].replace(": ", " – ")
