"""Pages about packages: what they show, that nothing in a package becomes markup, and that pages of earlier versions stay."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from site_pages import HOSTILE, Html, made, to_folder

from trundle.packages import Package
from trundle.pages import NoSiteError, OtherContentError, describe, write_site
from trundle.pages._names import file_names, folder_name

TEXT = """\
Extends: io.murano.Application
Meta: {m:Title: {text: The app}, m:Description: {text: Runs things.}}
Properties:
  port: {Contract: $.int().notNull()}
  size: {Contract: $.int(), Default: 3, Meta: {m:Description: {text: How large.}}}
  next: {Contract: $.class(App), Usage: Runtime}
Methods:
  deploy: {Scope: Public, Arguments: [by: {Contract: $.string(), Default: x}]}
"""


def released(tmp_path, package, before=None):
    folder = to_folder(package, tmp_path / f"{package.name}-{package.version}")
    if before is None:
        return describe(folder)
    earlier = to_folder(before, tmp_path / f"{before.name}-{before.version}")
    return describe(folder, (earlier, before.version))


@pytest.fixture
def site(tmp_path):
    write_site(tmp_path / "site", [released(tmp_path, made(TEXT))])
    return tmp_path / "site"


def test_a_class_has_a_page_with_its_members(site):
    page = Html((site / "a/1.0.0/classes/a.App.html").read_bytes())
    for each in (
        "The app",
        "Runs things.",
        "port required",
        "$.int().notNull()",
        "How large.",
        "Default 3",
        "deploy( by ) public",
        "reportDeployed()",
    ):
        assert each.replace(" ", "") in page.text.replace(" ", ""), each
    assert {"property-port", "property-size", "method-deploy"} <= set(page.ids)
    text = (site / "a/1.0.0/classes/a.App.md").read_text()
    assert "- usage `In`, **required**\n- contract `$.int().notNull()`\n" in text
    assert "- argument `by`: contract `$.string()`, default `x`\n" in text


def targets(site):
    """Every link of every page, with the page."""
    for page in site.rglob("*.html"):
        found = Html(page.read_bytes())
        yield from ((page, link) for link in found.links)
    for page in site.rglob("*.md"):
        for token in MarkdownIt().parse(page.read_text()):
            for each in token.children or ():
                if each.type == "link_open":
                    yield page, each.attrs["href"]
    for page in site.rglob("search.js"):
        script = page.read_text()
        entries = json.loads(script.removeprefix("window.trundleSearch = ").removesuffix(";\n"))
        yield from ((page, each[3]) for each in entries)


def check_links(site):
    count = 0
    for page, link in targets(site):
        path, _, fragment = link.partition("#")
        target = (page.parent / unquote(path)).resolve() if path else page
        assert target.is_file(), (page, link)
        assert target.is_relative_to(site.resolve()), (page, link)
        if fragment and target.suffix == ".html":
            ids = Html(target.read_bytes()).ids
            assert fragment in ids or unquote(fragment) in ids, (page, link)
        count += 1
    return count


def test_every_link_leads_to_a_page_of_the_site(site):
    assert check_links(site) > 30


def test_no_page_asks_another_host(site):
    for path in site.rglob("*"):
        if path.is_file() and path.suffix in (".html", ".js", ".css"):
            assert not re.search(
                r"(https?:)?//(?!\s)[a-z]",
                re.sub(r"//.*", "", path.read_text()) if path.suffix == ".js" else path.read_text(),
            ), path


@pytest.mark.full
def test_the_page_of_a_class_says_what_changed(tmp_path):
    before, now = made(TEXT), made(TEXT.replace("size:", "amount:"), version="1.1.0")
    write_site(tmp_path / "site", [released(tmp_path, now, before), released(tmp_path, before)])
    found = Html((tmp_path / "site/a/1.1.0/classes/a.App.html").read_bytes()).text
    assert (
        "Changes since 1.0.0 major size the property is removed minor amount the property is new"
        in found
    )
    assert "2 changes since 1.0.0" in Html((tmp_path / "site/a/index.html").read_bytes()).text
    assert (
        "**major** `a.App.size`: the property is removed"
        in (tmp_path / "site/a/1.1.0/index.md").read_text()
    )
    check_links(tmp_path / "site")


def snapshot(folder):
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_pages_of_earlier_versions_stay_as_they_are(site, tmp_path):
    before = snapshot(site / "a/1.0.0")
    done = write_site(
        site, [released(tmp_path, made(TEXT, version="1.1.0")), released(tmp_path, made(TEXT))]
    )
    assert [each.name for each in done.written] == ["1.1.0"]
    assert [each.name for each in done.kept] == ["1.0.0"]
    assert snapshot(site / "a/1.0.0") == before
    assert (site / "a/versions.js").read_text() == 'window.trundleVersions = ["1.1.0","1.0.0"];\n'
    write_site(site, [released(tmp_path, made("", version="2.0.0-rc"))])
    assert "a/1.1.0/" in (site / "search.js").read_text()  # The newest is no pre-release.
    check_links(site)


def test_other_content_under_a_version_is_refused(site, tmp_path):
    before = snapshot(site)
    (tmp_path / "other").mkdir()
    other = released(tmp_path / "other", made(""))
    with pytest.raises(OtherContentError) as caught:
        write_site(site, [other])
    assert "--replace" in str(caught.value)
    assert snapshot(site) == before
    write_site(site, [other], replace=True)
    assert "deploy" not in (site / "a/1.0.0/classes/a.App.html").read_text()


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter").write_text("")
    with pytest.raises(NoSiteError):
        write_site(tmp_path / "home", [released(tmp_path, made(""))])
    assert [each.name for each in (tmp_path / "home").iterdir()] == ["letter"]


def test_looking_writes_nothing(tmp_path):
    done = write_site(tmp_path / "site", [released(tmp_path, made(""))], dry_run=True)
    assert [each.name for each in done.written] == ["1.0.0"]
    assert not (tmp_path / "site").exists()


@pytest.fixture
def hostile(tmp_path):
    quoted = json.dumps(HOSTILE)
    text = (
        f"Meta: {{m:Title: {{text: {quoted}}}, m:HelpText: {{text: {quoted}}}}}\n"
        f"Properties:\n  {quoted}: {{Contract: {quoted}, Default: {quoted}}}\n"
        f"Methods:\n  {quoted}:\n    Arguments:\n    - {quoted}: {{Contract: $, Default: {quoted}}}\n"
    )
    manifest = f"Name: {quoted}\nDescription: {quoted}\nAuthor: {quoted}\nTags: [{quoted}]\n"
    manifest += f"Meta: {{{quoted}: {{{quoted}: [{quoted}]}}}}\n"
    package = made(text, manifest)
    later = made("", manifest, version="2.0.0")
    write_site(tmp_path / "site", [released(tmp_path, package), released(tmp_path, later, package)])
    return tmp_path / "site"


def test_nothing_in_a_package_becomes_html(hostile):
    plain = {
        "a", "abbr", "article", "body", "code", "dd", "details", "div", "dl", "dt", "footer", "h1", "h2", "h3", "head", "header",
        "html", "input", "li", "link", "main", "meta", "nav", "ol", "p", "script", "section", "small", "span", "strong",
        "summary", "table", "tbody", "td", "th", "thead", "title", "tr", "ul", "wbr",
    }  # fmt: skip
    seen = 0
    for path in hostile.rglob("*.html"):
        page = Html(path.read_bytes())
        assert page.tags <= plain, path
        assert not {each for each in page.attributes if each.startswith("on")}, path
        assert not [each for each in page.links if ":" in each.split("/")[0]], path
        assert page.text.count("<script>alert(1)</script>") == path.read_text().count(
            "&lt;script&gt;alert(1)"
        )
        assert "49" not in page.text
        seen += page.text.count("<script>alert(1)")
    assert seen > 20


def test_nothing_in_a_package_becomes_markdown(hostile):
    shown = " ".join(HOSTILE.split())
    seen = 0
    for path in hostile.rglob("*.md"):
        for token in (
            MarkdownIt("commonmark", {"html": True}).enable("table").parse(path.read_text())
        ):
            assert token.type not in ("html_block", "table_open", "fence", "code_block"), path
            for each in token.children or ():
                assert each.type not in ("html_inline", "image", "em_open"), path
                if each.type == "link_open":
                    assert "alert" not in each.attrs["href"]
                if "alert(1)" in each.content:
                    seen += shown in each.content
    assert seen > 10


def test_what_is_searched_is_data(hostile):
    script = (hostile / "a/1.0.0/search.js").read_text()
    entries = json.loads(script.removeprefix("window.trundleSearch = ").removesuffix(";\n"))
    assert [HOSTILE, "property", "a.App"] in [each[:3] for each in entries]
    assert all("alert(1)" not in each[3] for each in entries)
    check_links(hostile)


def test_what_is_attached_to_a_package_is_shown(tmp_path):
    meta = "Meta:\n- {a.App: {team: db, ports: [1, 2], on: true}}\n- io.murano.metadata.Title: {text: The db}\n"
    write_site(tmp_path / "site", [released(tmp_path, made("Usage: Meta", meta))])
    page = Html((tmp_path / "site/a/1.0.0/index.html").read_bytes())
    shown = 'Meta a.App team "db" ports [1,2] on true io.murano.metadata.Title text "The db"'
    assert shown in page.text
    assert page.links.count("classes/a.App.html") >= 2  # The card, and what is attached
    text = (tmp_path / "site/a/1.0.0/index.md").read_text()
    assert (
        "## Meta\n\n- [a.App](classes/a.App.md)\n"
        '  - `team`: `"db"`\n  - `ports`: `[1,2]`\n  - `on`: `true`\n'
        "- `io.murano.metadata.Title`\n"
        '  - `text`: `"The db"`\n\n## Classes'
    ) in text
    check_links(tmp_path / "site")


def test_without_anything_attached_nothing_is_said_of_it(site):
    assert "Meta" not in (site / "a/1.0.0/index.md").read_text()


def test_a_class_that_cannot_be_read_has_a_page_that_says_so(tmp_path):
    write_site(tmp_path / "site", [released(tmp_path, made("Methods: ["))])
    assert (
        "cannot be read" in Html((tmp_path / "site/a/1.0.0/classes/a.App.html").read_bytes()).text
    )


def test_pages_that_were_not_finished_are_written_again(site, tmp_path):
    later = released(tmp_path, made(TEXT, version="1.1.0"))
    write_site(site, [later])
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    listing = site / "a/versions.json"
    found = json.loads(listing.read_text())
    found["versions"] = found["versions"][1:]  # As if the process had died before it listed 1.1.0
    listing.write_text(json.dumps(found))
    (site / "a/1.1.0/index.html").unlink()
    assert [each.name for each in write_site(site, [later]).written] == ["1.1.0"]
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before


def test_classes_of_required_packages_are_linked_and_what_they_have_is_shown(tmp_path):
    base = made("Properties: {host: {Contract: $}}\nMethods: {start: }", "Require: {}")
    user = Package.from_files(
        {
            "manifest.yaml": "FullName: b\nType: Library\nVersion: 1.0.0\nRequire: {a: 1}\nClasses: {b.B: B.yaml}\n",
            "Classes/B.yaml": "Namespaces: {=: b, a: a}\nName: B\nExtends: a:App\nProperties: {peer: {Contract: $.class(a:App)}}",
        }
    )
    alone = to_folder(user, tmp_path / "b")
    assert (
        "Besides what it has from a.App, of other packages"
        in page_of_b(tmp_path / "alone", [describe(alone)])[0].text
    )
    newer = made("", version="2.0.0")
    packages = [base, newer, user]
    found = [
        describe(to_folder(each, tmp_path / f"{each.name}-{each.version}"), None, packages)
        for each in packages
    ]
    page, text = page_of_b(tmp_path / "site", found)
    assert page.links.count("../../../a/1.0.0/classes/a.App.html") == 3
    assert "../../../a/1.0.0/classes/a.App.html#method-start" in page.links
    assert "extends [a.App](../../../a/1.0.0/classes/a.App.md)" in text
    check_links(tmp_path / "site")


def page_of_b(site, releases):
    write_site(site, releases)
    path = site / "b/1.0.0/classes/b.B.html"
    return Html(path.read_bytes()), path.with_suffix(".md").read_text()


def test_two_packages_do_not_share_a_folder(site, tmp_path):
    other = Package.from_files({"manifest.yaml": "FullName: A\nType: Library\nVersion: 3.0.0\n"})
    with pytest.raises(NoSiteError) as caught:
        write_site(site, [released(tmp_path, other)])
    assert "the pages of a" in str(caught.value)
    assert not list(site.glob("**/3.0.0"))


def test_a_meta_class_says_what_it_describes(tmp_path):
    text = "Usage: Meta\nCardinality: Many\nApplies: [Type, Method]\nInherited: true"
    write_site(tmp_path / "site", [released(tmp_path, made(text))])
    page = tmp_path / "site/a/1.0.0/classes/a.App.html"
    assert "Describes Type, Method, several times, inherited" in Html(page.read_bytes()).text
    assert (
        "- describes Type, Method, several times, inherited\n"
        in page.with_suffix(".md").read_text()
    )


@pytest.mark.full
def test_two_writers_lose_no_version(tmp_path):
    releases = [released(tmp_path, made(TEXT, version=f"1.{minor}.0")) for minor in range(6)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda each: write_site(tmp_path / "site", [each]), releases))
    found = json.loads((tmp_path / "site/a/versions.json").read_text())
    assert [each["version"] for each in found["versions"]] == [
        f"1.{minor}.0" for minor in range(5, -1, -1)
    ]
    check_links(tmp_path / "site")


def test_names_that_differ_in_letter_case_have_files_of_their_own():
    files = file_names(["a.App", "a.app", "a.APP", "../x", ".x", "", "a b", "a-b"])
    assert len({each.casefold() for each in files.values()}) == len(files)
    assert all(re.fullmatch(r"[A-Za-z0-9_+~-][A-Za-z0-9._+~-]*", each) for each in files.values())
    assert folder_name("acme/db") == "acme+db"
