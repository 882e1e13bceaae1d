"""Reads the keys of manifests: of an `app.yaml`, and of a `manifest.yaml`, each by a table of what they mean."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from trundle.documents import (
    DocumentCode,
    Fields,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    Walker,
    describe,
    plain,
    shorten,
)
from trundle.errors import Finding, Place, did_you_mean
from trundle.packages._model import (
    ClassFile,
    Manifest,
    PackageFormat,
    PackageMeta,
    Requirement,
)
from trundle.version import SemVer, VersionRange, VersionSyntaxError

APP_KEYS = {
    "name": "name",
    "version": "version",
    "title": "title",
    "description": "description",
    "changes": "changes",
    "critical": "critical",
    "minUpgradeFrom": "minUpgradeFrom",
    "requirements": "dependsOn",
    "format": "format",
    "type": "type",
    "classes": "classes",
    "resourceTypes": "resourceTypes",
    "forms": "ui",
    "keywords": "keywords",
    "maintainers": "maintainers",
    "license": "license",
    "website": "website",
    "source": "source",
}
"""The keys of an `app.yaml` by what they mean."""


CLASSIC_KEYS = {
    "name": "FullName",
    "version": "Version",
    "title": "Name",
    "description": "Description",
    "changes": "Changes",
    "critical": "Critical",
    "minUpgradeFrom": "MinUpgradeFrom",
    "requirements": "Require",
    "format": "Format",
    "type": "Type",
    "classes": "Classes",
    "resourceTypes": "ResourceTypes",
    "forms": "UI",
    "keywords": "Tags",
    "maintainers": "Author",
    "license": "License",
    "website": "Website",
    "source": "Source",
}


_META = "Meta"
_CLASSIC_ONLY = ("Logo", "Supplier", _META)  # Shown by a catalogue; they decide nothing here.


TYPES = ("Application", "Library")
"""What kinds of packages there are."""


_WORD = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"


APP_NAME = rf"{_WORD}(?:/{_WORD})*"
"""The name of a package in an `app.yaml`: the name of a repository, as OCI registries have them."""


_WORDS = r"[A-Za-z0-9_]+"


CLASSIC_NAME = rf"{_WORDS}(?:\.{_WORDS})*"
"""A fully qualified name of the package language, with dots between its parts."""


_LONGEST_NAME = 255


_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)+")
"""A language without a version, such as `Heat.HOT`."""
_FORMAT = re.compile(r"(?:([A-Za-z][A-Za-z0-9._-]*)/)?([^/]*)")


class AppReader:
    """Reads the keys of an `app.yaml`."""

    keys: Mapping[str, str] = APP_KEYS
    others: tuple[str, ...] = ()
    required: tuple[str, ...] = ("name", "version")
    name_pattern = APP_NAME
    name_rule = "lower-case words with . _ - between their parts and / between them"

    def __init__(self, walker: Walker, root: Node) -> None:
        self.walker = walker
        known = (*self.keys.values(), *self.others)
        needed = tuple(self.keys[each] for each in self.required)
        passed = self._passed_over(root, known)
        notes = [self._note(each, known) for each in passed]
        allowed = (*known, *(each.text for each in passed))
        self.fields: Fields = walker.fields(root, "a manifest", allowed, needed)
        self.notes = (*notes, *self._missing(root))

    def _passed_over(self, root: Node, known: Collection[str]) -> tuple[ScalarNode, ...]:
        """The keys that are not known, and are no error; here none."""
        del root, known
        return ()

    def _missing(self, root: Node) -> Iterator[Finding]:
        """Notes on keys that should be there, and do without; here none."""
        del root
        yield from ()

    def _note(self, key: ScalarNode, known: Collection[str]) -> Finding:
        expected, found = f"one of the keys {', '.join(known)} in a manifest", shorten(key.text)
        advice = did_you_mean(key.text, known, "it is passed over")
        place = Place(self.walker.file, key.line)
        return Finding(DocumentCode.UNKNOWN_KEY, place, expected, found, advice, "note")

    def read(self) -> Manifest | None:
        name = self._name()
        version = self._own_version()
        classes = self._classes()
        # What is missing is a finding by now; the rest is read all the same, to find what else is wrong.
        manifest = Manifest(
            name=name or "",
            version=version or SemVer(0, 0, 0),
            title=self._text("title", "a title"),
            description=self._text("description", "a description"),
            changes=self._texts("changes", "change"),
            critical=self._flag("critical"),
            min_upgrade_from=self._min_upgrade_from(version),
            requirements=self._requirements(),
            format=self._format(has_classes=bool(classes)),
            type=self._type(),
            classes=classes,
            resource_types=tuple(sorted(self._texts("resourceTypes", "resource type"))),
            forms=self._files("forms", "the file of a form"),
            meta=self._meta(),
            keywords=self._texts("keywords", "keyword"),
            maintainers=self._maintainers(),
            license=self._text("license", "a licence"),
            website=self._text("website", "an address"),
            source=self._text("source", "an address"),
        )
        return manifest if name and version else None

    def _node(self, meaning: str) -> Node | None:
        entry = self.fields.get(self.keys[meaning])
        return entry[1] if entry else None

    def _text(self, meaning: str, what: str) -> str:
        node = self._node(meaning)
        return (self.walker.text(node, what) or "") if node else ""

    def _texts(self, meaning: str, what: str) -> tuple[str, ...]:
        """A text, or a list of texts."""
        node = self._node(meaning)
        if node is None:
            return ()
        if isinstance(node, ScalarNode):
            text = self.walker.text(node, f"a {what}, or a list of {what}s")
            return (text,) if text else ()
        return tuple(each.text for each in self.walker.texts(node, what))

    def _flag(self, meaning: str) -> bool:
        node = self._node(meaning)
        if node is None:
            return False
        if not isinstance(node, ScalarNode) or node.json not in ("true", "false"):
            self.walker.note(node.line, "true or false", describe(node), "write one of them")
            return False
        return node.json == "true"

    def _type(self) -> str:
        node = self._node("type")
        return (self.walker.choice(node, "a type of package", TYPES) or "") if node else ""

    def _name(self) -> str | None:
        node = self._node("name")
        text = self.walker.text(node, "the name of the package") if node else None
        if node is None or text is None:
            return None
        if not re.fullmatch(self.name_pattern, text) or len(text) > _LONGEST_NAME:
            expected = f"a name of at most {_LONGEST_NAME} characters: {self.name_rule}"
            self.walker.note(node.line, expected, _short(text), "write such a name")
            return None
        return text

    def _own_version(self) -> SemVer | None:
        node = self._node("version")
        version = self._version(node, "a version such as 1.2.3", shortened=False) if node else None
        if node and version and version != version.release:
            advice = f"write {version.release}; publishing adds a suffix where one is asked for"
            self.walker.note(node.line, "a version without suffix", f"the text '{version}'", advice)
            return None
        return version

    def _min_upgrade_from(self, version: SemVer | None) -> SemVer | None:
        node = self._node("minUpgradeFrom")
        if node is None:
            return None
        lowest = self._version(node, "a version such as 1.2.3", shortened=True)
        if lowest and version and lowest > version:
            advice = "write the lowest version that can be upgraded to this one"
            self.walker.note(node.line, f"a version of at most {version}", f"{lowest}", advice)
        return lowest

    def _version(self, node: Node, what: str, *, shortened: bool) -> SemVer | None:
        text = self._spelled(node, what)
        if text is None:
            return None
        try:
            return SemVer.parse(text, shortened=shortened)
        except VersionSyntaxError as error:
            self._note_syntax(node, what, error)
            return None

    def _spelled(self, node: Node, what: str) -> str | None:
        """The text of a scalar as it is written, numbers included."""
        if isinstance(node, ScalarNode) and node.json not in ("null", "true", "false"):
            return node.text
        self.walker.note(node.line, what, describe(node), "write text")
        return None

    def _note_syntax(self, node: Node, what: str, error: VersionSyntaxError) -> None:
        place = f"{error.found} at character {error.position} in place of {error.expected}"
        found = f"{_short(error.text)} with {place}"
        self.walker.note(node.line, what, found, error.advice or "correct it")

    def _requirements(self) -> tuple[Requirement, ...]:
        node = self._node("requirements")
        if node is None or (isinstance(node, ScalarNode) and node.json == "null"):
            return ()
        found = []
        for key, value in self.walker.entries(node, "ranges by package", may_be_empty=False):
            known = re.fullmatch(f"{APP_NAME}|{CLASSIC_NAME}", key.text)
            if not known or len(key.text) > _LONGEST_NAME:
                advice = "write the name as that package's own manifest does"
                self.walker.note(key.line, "the name of a package", _short(key.text), advice)
            allowed = self._range(value)
            if allowed is not None:
                found.append(Requirement(key.text, allowed))
        return tuple(found)

    def _range(self, node: Node) -> VersionRange | None:
        if isinstance(node, ScalarNode) and node.json == "null":
            return VersionRange.parse("")
        what = "a range of versions such as 1, >=1.2,<2 or *"
        text = self._spelled(node, what)
        if text is None:
            return None
        try:
            return VersionRange.parse(text)
        except VersionSyntaxError as error:
            self._note_syntax(node, what, error)
            return None

    def _format(self, *, has_classes: bool) -> PackageFormat | None:
        node = self._node("format")
        if node is None:
            return PackageFormat() if has_classes else None
        if isinstance(node, ScalarNode) and node.json == "null":
            return PackageFormat()
        what = "a format such as 1.0 or MuranoPL/1.0"
        text = self._spelled(node, what)
        if text is None:
            return None
        if _LANGUAGE.fullmatch(text):
            return PackageFormat(language=text)
        match = _FORMAT.fullmatch(text)
        if match is None:
            self.walker.note(node.line, what, _short(text), "write a language, / and a version")
            return None
        try:
            version = SemVer.parse(match[2], shortened=True)
        except VersionSyntaxError as error:
            self._note_syntax(node, what, error)
            return None
        return PackageFormat(match[1], version) if match[1] else PackageFormat(version=version)

    def _classes(self) -> tuple[ClassFile, ...]:
        node = self._node("classes")
        if node is None:
            return ()
        found = []
        for key, value in self.walker.entries(node, "files by class name"):
            if not re.fullmatch(CLASSIC_NAME, key.text):
                advice = "use letters, digits and underscores, parted by dots"
                self.walker.note(key.line, "the full name of a class", _short(key.text), advice)
            file = self._file(value, "the file of a class")
            if file is not None:
                found.append(ClassFile(key.text, file))
        return tuple(sorted(found, key=lambda each: each.name))

    def _meta(self) -> tuple[PackageMeta, ...]:
        """What the package attaches to itself: a name, properties by name, or a list of these."""
        entry = self.fields.get(_META)
        if entry is None:
            return ()
        node = entry[1]
        found = []
        for each in node.items if isinstance(node, ListNode) else (node,):
            if isinstance(each, MapNode):
                for key, value in self.walker.entries(each, "properties by Meta class"):
                    given = () if _is_null(value) else self.walker.entries(value, "properties")
                    properties = {name.text: plain(one) for name, one in given}
                    found.append(PackageMeta(key.text, properties))
            elif not (_is_null(each) and each is node):
                name = self.walker.text(each, "the full name of a Meta class, or its properties")
                found += [] if name is None else [PackageMeta(name)]
        return tuple(found)

    def _files(self, meaning: str, what: str) -> tuple[str, ...]:
        node = self._node(meaning)
        if node is None:
            return ()
        items = node.items if isinstance(node, ListNode) else (node,)
        files = [self._file(each, what) for each in items]
        return tuple(each for each in files if each is not None)

    def _file(self, node: Node, what: str) -> str | None:
        text = self.walker.text(node, what)
        if text is None:
            return None
        path = PurePosixPath(text)
        if path.is_absolute() or ".." in path.parts or "\\" in text or not path.parts:
            advice = "write the path from the folder of the package, with / between its parts"
            self.walker.note(node.line, f"{what} inside the package", _short(text), advice)
            return None
        return str(path)

    def _maintainers(self) -> tuple[str, ...]:
        node = self._node("maintainers")
        if node is None:
            return ()
        items = node.items if isinstance(node, ListNode) else (node,)
        return tuple(name for each in items if (name := self._maintainer(each)))

    def _maintainer(self, node: Node) -> str:
        if isinstance(node, ScalarNode):
            return self.walker.text(node, "the name of a maintainer") or ""
        fields = self.walker.fields(node, "a maintainer", ("name", "email"), ("name",))
        texts = {key: self.walker.text(each, key) or "" for key, (_, each) in fields.items()}
        email = texts.get("email")
        return f"{texts.get('name', '')} <{email}>" if email else texts.get("name", "")


class ClassicReader(AppReader):
    """Reads the keys of a `manifest.yaml`; its version may have a suffix, and is 0.0.0 where none is given."""

    keys = CLASSIC_KEYS
    others = _CLASSIC_ONLY
    required = ("name",)
    name_pattern = CLASSIC_NAME
    name_rule = "letters, digits and underscores with dots between the parts"

    def _passed_over(self, root: Node, known: Collection[str]) -> tuple[ScalarNode, ...]:
        entries = root.entries if isinstance(root, MapNode) else ()
        return tuple(key for key, _ in entries if key.text not in known)

    def _missing(self, root: Node) -> Iterator[Finding]:
        """A note where the type is missing: other engines refuse such a package."""
        if self._node("type") is None:
            key = self.keys["type"]
            expected = f"the key {key} in a manifest, which other engines require"
            advice = f"write `{key}: {TYPES[0]}` or `{key}: {TYPES[1]}`"
            place = Place(self.walker.file, root.line)
            yield Finding(DocumentCode.MISSING_KEY, place, expected, "none", advice, "note")

    def _own_version(self) -> SemVer | None:
        node = self._node("version")
        if node is None or (isinstance(node, ScalarNode) and node.json == "null"):
            return SemVer(0, 0, 0)
        return self._version(node, "a version such as 1.2.3", shortened=False)

    def _format(self, *, has_classes: bool) -> PackageFormat | None:
        if self._node("format") is None:
            return PackageFormat()
        return super()._format(has_classes=has_classes)


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.json == "null"


def _short(text: str) -> str:
    return f"the text {text[:60]!r}"
