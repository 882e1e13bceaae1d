"""What can be wrong with a site of pages."""

from pathlib import Path

from trundle.errors import Code, ExpectationError, Kind


class PagesCode(Code):
    """What can be wrong with a site of pages."""

    NO_SITE = "no-site-of-pages"
    OTHER_CONTENT = "pages-of-other-content"


class PagesError(ExpectationError):
    """Pages cannot be written to a folder."""


class NoSiteError(PagesError):
    """The folder holds something else than pages."""

    kind = Kind.CONFLICT
    code = PagesCode.NO_SITE

    def __init__(self, folder: Path, found: str) -> None:
        expected, advice = "a site of pages, or an empty folder", "name another folder"
        super().__init__(str(folder), expected, found, advice)


class OtherContentError(PagesError):
    """The pages of a version are there, of another content."""

    kind = Kind.EXISTS
    code = PagesCode.OTHER_CONTENT

    def __init__(self, folder: Path) -> None:
        expected, found = "pages of this content, or none", "those of another content"
        advice = "give the release another version, or write its pages anew with --replace"
        super().__init__(str(folder), expected, found, advice)
