"""Templates: for HTML everything is escaped that no template wrote, for Markdown likewise."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from trundle.pages import _markdown
from trundle.pages._names import anchor, link

if TYPE_CHECKING:
    import jinja2


@cache
def _html() -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415 - needs an extra

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("trundle.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["as_json"] = _as_json
    environment.filters["paragraphs"] = lambda value: re.split(r"\n\s*\n", value.strip())
    return environment


@cache
def _for_markdown() -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415 - needs an extra

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("trundle.pages"),
        autoescape=False,  # noqa: S701 - what is printed goes through `finalize`
        finalize=_markdown.text,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["as_json"] = _as_json
    environment.filters["paragraphs"] = _markdown.paragraphs
    environment.filters["code"] = _markdown.code
    environment.filters["coded"] = _markdown.coded
    environment.globals["linked"] = _markdown.linked
    return environment


def _as_json(value: Any) -> str:
    """A plain value in one line."""
    return msgspec.json.encode(value).decode()


def render(template: str, page: str, values: Mapping[str, Any]) -> bytes:
    """A page.

    Args:
        template: the name of its template.
        page: its path within the site; links start there.
        values: what the template shows.
    """
    environment = _html() if template.endswith(".html") else _for_markdown()
    found = environment.get_template(template).render(
        values, page=page, anchor=anchor, to=lambda target: link(target, page)
    )
    return re.sub(r"\n{3,}", "\n\n", found).encode()


def pieces(text: str, links: Mapping[str, tuple[str, str]]) -> list[tuple[str, str, str]]:
    """A text taken apart at names: the text of each piece, what it stands for, and its target; the last two may be empty.

    Args:
        text: the text.
        links: what each name stands for, and the target of its link, which may be empty.
    """
    if not links:
        return [(text, "", "")]
    names = sorted(map(re.escape, links), key=len, reverse=True)
    found = re.split(rf"(?<![\w.:])({'|'.join(names)})(?![\w.])", text)
    return [(each, *links.get(each, ("", ""))) for each in found if each]
