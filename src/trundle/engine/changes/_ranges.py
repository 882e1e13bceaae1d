"""Whether one range of versions has all versions of another one."""

import re
from collections.abc import Iterator

from trundle.version import SemVer, VersionRange

_NUMBERS = re.compile(r"\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?")


def covers(wider: VersionRange, narrower: VersionRange) -> bool:
    """Whether a range has every version of another one.

    What a range says changes only at the versions that it names, and at the ends of their families; so these are looked at.
    """
    return all(each in wider for each in _samples(wider, narrower) if each in narrower)


def _samples(*ranges: VersionRange) -> Iterator[SemVer]:
    yield SemVer(0, 0, 0)
    for text in (text for each in ranges for text in _NUMBERS.findall(str(each))):
        named = SemVer.parse(text, shortened="-" not in text)
        yield named
        if named.prerelease:
            yield SemVer.parse(f"{named}.0")
        major, minor, patch = named.numbers
        for numbers in (
            (major, 0, 0),
            (major, minor, 0),
            (major, minor, patch),
            (major, minor, patch + 1),
            (major, minor + 1, 0),
            (major + 1, 0, 0),
        ):
            release = SemVer(*numbers)
            yield from (release, SemVer.parse(f"{release}-a"))
