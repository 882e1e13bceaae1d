"""Packages for tests of pages, and what their pages say."""

from html.parser import HTMLParser

from trundle.packages import Package

HOSTILE = """<script>alert(1)</script> & "quoted" 'text' `code` *bold* [link](javascript:alert(2)) | \\ <img src=x onerror=alert(3)> {{ 7*7 }}"""


class Html(HTMLParser):
    """The texts, tags, attributes and links of a page, as a parser of the standard library reads it."""

    def __init__(self, content):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.links, self.ids = set(), set(), [], [], []
        self.feed(content.decode())
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("td", "dd", "dt", "li", "p"):
            self.texts.append(" ")
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src"):
                self.links.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join("".join(self.texts).split())


def to_folder(package, folder):
    """Writes the files of a package into a folder."""
    for name in package.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(package.file(name))
    return folder


def made(text, manifest="", version="1.0.0"):
    """A package with one class, `a.App`."""
    return Package.from_files(
        {
            "manifest.yaml": f"FullName: a\\nType: Library\\nVersion: {version}\\nClasses: {{a.App: App.yaml}}\\n{manifest}".replace(
                "\\n", "\n"
            ),
            "Classes/App.yaml": "Namespaces: {=: a, m: io.murano.metadata}\nName: App\n" + text,
        }
    )
