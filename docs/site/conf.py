"""How Sphinx makes the documentation site; `make docs` runs it."""

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from collections.abc import Callable, Iterator, Mapping

from docutils import nodes
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.transforms import SphinxTransform

import trundle
from pages import linked, start_page, write_pages
from trundle.project import _proof_run
from trundle.verify.limits import Limit
from trundle.verify.proofs import Counterexample, Proof

# What the module imports for type checkers alone: the signature of a struct needs it.
for each in (Callable, Iterator, Mapping, Limit, Counterexample, Proof):
    setattr(_proof_run, each.__name__, each)

project = "Trundle"
author = "the Trundle authors"
version = release = trundle.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_external_toc",
]
external_toc_path = "site/toc.yml"
suppress_warnings = [
    "myst.header",  # Some pages begin with a heading of the second level.
    "ref.python",  # A type `object` in a docstring is the builtin one, not an attribute of that name.
]

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
default_role = "code"

html_theme = "furo"
html_title = "Trundle"
html_static_path = ["static"]
templates_path = ["templates"]
html_js_files = ["site.js"]
html_css_files = ["site.css"]
html_favicon = "static/icon.svg"
html_show_sourcelink = False
html_copy_source = False
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_logo = "static/icon.svg"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5bc4",
        "color-brand-content": "#1f5bc4",
        "color-code-background": "#f5f7fa",
    },
    "dark_css_variables": {"color-brand-primary": "#8db4ff", "color-brand-content": "#8db4ff"},
}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copyright = "the Trundle authors; Apache License 2.0"  # noqa: A001 - Sphinx calls it so


_DOCSTRINGS = Config(napoleon_use_ivar=True)
write_pages(ROOT)


def _read(app: Any, name: str, content: list[str]) -> None:
    """Makes the start page, and links to examples; decisions are found by their list."""
    del app
    depth = name.count("/")
    text = start_page(ROOT) if name == "index" else linked(content[0], "../" * depth)
    content[0] = f"---\norphan: true\n---\n{text}" if name.startswith("decisions/0") else text


def _read_docstring(
    app: Any, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Reads the sections of a docstring. Of attributes, Napoleon itself takes what stands before a colon for a type."""
    del app, what, name, value, options
    lines[:] = GoogleDocstring(lines, _DOCSTRINGS).lines()


def _signature(
    app: Any, what: str, name: str, value: object, options: object, given: str, returned: str
) -> tuple[str, str] | None:
    """The signature of a class; that of a protocol says nothing, as objects are not made of it."""
    del app, name, options, given
    return ("", returned) if what == "class" and getattr(value, "_is_protocol", False) else None


def _level_captions(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Gives the headings of the navigation the level that screen readers need."""
    del app, page, template, doctree
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


class _PicturesOfBothThemes(SphinxTransform):
    """Shows pictures in the colours of the site, where one in dark colours stands beside that in light ones."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        del kwargs
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for light in [*self.document.findall(nodes.image)]:
            where = Path(light["uri"])
            beside = where.with_stem(f"{where.stem}-dark")
            if not (folder / beside).is_file():
                continue
            dark = light.copy()
            dark["uri"] = beside.as_posix()
            light["classes"] = [*light["classes"], "only-light"]
            dark["classes"] = [*dark["classes"], "only-dark"]
            light.replace_self([light, dark])


def setup(app: Any) -> None:
    """Registers what is made here."""
    app.add_transform(_PicturesOfBothThemes)
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _read_docstring)
    app.connect("autodoc-process-signature", _signature)
    app.connect("html-page-context", _level_captions, priority=900)
