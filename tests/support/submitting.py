"""What a browser does with a form of a page: it reads the HTML, and sends what its fields have.

It follows the standard where that changes a text: a null character is replaced, a line break after `<textarea>` is dropped, fields on one line have no line breaks, line breaks are sent as CR LF, and a select without a choice has its first one.
"""

import re
from html.parser import HTMLParser


class _Form(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.fields: dict[str, str] = {}
        self.buttons: list[str] = []
        self.area = ""
        self.select = ""
        self.chosen = False

    def handle_starttag(self, tag, attrs):
        given = {key: value or "" for key, value in attrs}
        name = given.get("name", "")
        if tag == "input" and name:
            assert given.get("type", "text") in {"text", "hidden", "password"}
            value = given.get("value", "")
            hidden = given.get("type") == "hidden"
            self.fields[name] = value if hidden else re.sub(r"[\r\n]", "", value)
        elif tag == "textarea":
            self.area, self.fields[name] = name, ""
        elif tag == "select":
            self.select, self.chosen = name, False
        elif tag == "option" and self.select:
            if "selected" in given or self.select not in self.fields:
                self.fields[self.select] = given["value"]
        elif tag == "button" and given.get("name") == "do":
            self.buttons.append(given["value"])

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.fields[self.area] = self.fields[self.area].removeprefix("\n")
            self.area = ""
        elif tag == "select":
            self.select = ""

    def handle_data(self, data):
        if self.area:
            self.fields[self.area] += data


def form_in(page: str) -> tuple[dict[str, str], list[str]]:
    """The fields of the form of a page as they are sent, and what its buttons do."""
    found = _Form()
    found.feed(re.sub(r"\r\n?", "\n", page).replace("\0", "\ufffd"))
    found.close()
    fields = {key: re.sub(r"\r\n?|\n", "\r\n", each) for key, each in found.fields.items()}
    return fields, found.buttons
