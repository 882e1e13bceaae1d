"""The frame around each page: templates, files that belong to them, and what answers say to the browser."""

import datetime as dt
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import jinja2
from markupsafe import Markup, escape
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import Response

HOME = "/ui/"
ASSETS = "/ui/assets/"
SIGN_IN = "/ui/sign-in"
SIGN_OUT = "/ui/sign-out"
THEMES = ("auto", "light", "dark")
_THEME_COOKIE = "trundle-theme"
_MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


class Section(NamedTuple):
    """A part of the page that is reached from every other one.

    Attributes:
        name: its name.
        path: where it begins.
    """

    name: str
    path: str


VERSIONS = Section("Versions", "/ui/versions")
OBJECTS = Section("Objects", "/ui/objects")
STORAGE = Section("Storage", "/ui/storage")
PACKAGES = Section("Packages", "/ui/packages")
CHANNELS = Section("Channels", "/ui/packages/channels")
ENVIRONMENTS = Section("Environments", "/ui/environments")
INSTALLED = Section("Installed", "/ui/installed")

_TITLES = {
    400: "The address cannot be read",
    401: "You are not signed in",
    403: "You may not see this",
    404: "There is no such page",
    405: "There is no page to open here",
    409: "Something else came first",
    413: "That is too much",
    422: "This is refused",
    429: "Too many requests",
    503: "Something does not answer",
}


def is_of_page(path: str) -> bool:
    """Whether a path is the page's."""
    return path == "/ui" or path.startswith(HOME)


def address(path: str, **parameters: str | list[str] | None) -> str:
    """An address with parameters; those that are None are left out."""
    given = {key: value for key, value in parameters.items() if value is not None}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def sign_in_path(request: Request) -> str:
    """Where a user signs in, and goes on from to what a request asks for."""
    if request.method != "GET":
        return SIGN_IN
    return address(SIGN_IN, next=own_path(path_of(request)))


def path_of(request: Request) -> str:
    """The path of a request with its parameters."""
    return _with_parameters(request.url)


def own_path(text: str) -> str:
    """A path of the page; that of its start where a text is none."""
    return text if re.fullmatch(r"/ui/[^\\\s]*", text) else HOME


def _with_parameters(url: URL | SplitResult) -> str:
    return f"{url.path}?{url.query}".rstrip("?")


def _page_before(request: Request) -> str:
    """The path of the page with the form that a request sends; empty where the request shows a page, or comes from none."""
    try:
        before = urlsplit(request.headers.get("referer", ""))
    except ValueError:  # It is no address.
        return ""
    if request.method == "GET" or before.netloc != request.url.netloc:
        return ""
    path = _with_parameters(before)
    return path if own_path(path) == path else ""


@cache
def _templates() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("trundle.dashboard"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["paragraphs"] = lambda value: re.split(r"\n\s*\n", value.strip())
    found.filters["anchor"] = lambda value: f"type-{quote(value, safe='')}"
    found.filters["coded"] = _coded
    found.filters["divided"] = _divided
    found.filters["moment"] = _moment
    found.filters["thousands"] = "{:,}".format
    found.globals |= {"address": address, "asset": _asset_path}
    return found


def _moment(at: dt.datetime | str) -> str:
    """A time, which may be written as the API writes it, to the minute and in UTC."""
    if isinstance(at, str):
        at = dt.datetime.fromisoformat(at)
    return at.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _divided(name: str) -> Markup:
    """A name that may go on in a new line behind a dot or a slash."""
    return Markup("<wbr>").join(re.split(r"(?<=[./])(?=\w)", name))


def _coded(text: str) -> Markup:
    """A text of a report in which names stand between backquotes."""
    parts = text.split("`")
    coded = (
        escape(x) if at % 2 == 0 else Markup("<code>{}</code>").format(x)
        for at, x in enumerate(parts)
    )
    return Markup("").join(coded)


@cache
def _assets() -> Mapping[str, bytes]:
    folder = files("trundle.dashboard") / "assets"
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@cache
def _asset_path(name: str) -> str:
    """The path of a file of the page; another one for each content, so that browsers may keep it."""
    return f"{ASSETS}{name}?{hashlib.sha256(_assets()[name]).hexdigest()[:12]}"


def prepare() -> None:
    """Reads all templates and files, so that no request waits for that."""
    for each in _templates().list_templates(["html"]):
        _templates().get_template(each)
    _assets()


class Frame:
    """Makes answers out of templates.

    Args:
        sections: the parts that every page leads to.
    """

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = tuple(sections)

    def shown(
        self,
        request: Request,
        template: str,
        values: Mapping[str, Any] | None = None,
        code: int = 200,
    ) -> Response:
        """A page.

        Args:
            request: what asks for it.
            template: the name of its template.
            values: what the template shows.
            code: the status of HTTP.
        """
        theme = request.cookies.get(_THEME_COOKIE, "")
        user = request.scope.get("user")
        text = (
            _templates()
            .get_template(template)
            .render(
                {
                    "path": request.url.path,
                    "sections": self._sections,
                    "theme": theme if theme in THEMES else "auto",
                    "user": user.name if user and "authorization" in request.headers else "",
                    **(values or {}),
                }
            )
        )
        return Response(text, code, self._headers(), media_type="text/html")

    def refused(self, request: Request, code: int, message: str) -> Response:
        """A page that says why there is no other one."""
        title = _TITLES.get(code, "That did not work")
        values = {
            "title": title,
            "message": message,
            "code": code,
            "back": _page_before(request),
            "around": self._around(request.url.path),
        }
        return self.shown(request, "refused.html", values, code)

    def _around(self, path: str) -> Section | None:
        """The part of the page that a path lies in; None for its own beginning, and where it lies in none."""
        return next((each for each in self._sections if path.startswith(f"{each.path}/")), None)

    def redirect(self, request: Request, path: str) -> Response:
        """Sends the browser to another page; as a whole, where it asked for a part of one."""
        if "hx-request" in request.headers:
            return Response(status_code=204, headers={**self._headers(), "hx-redirect": path})
        return Response(status_code=303, headers={**self._headers(), "location": path})

    def asset(self, name: str) -> Response | None:
        """A file of the page; None where there is no such file."""
        content = _assets().get(name)
        if content is None:
            return None
        headers = {**_HEADERS, "cache-control": "public, max-age=31536000, immutable"}
        media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
        return Response(content, 200, {**headers, "content-type": media_type})

    def _headers(self) -> dict[str, str]:
        return {**_HEADERS, "cache-control": "no-store"}
