"""Laws of resolution, over packages drawn at random."""

import random

import pytest
from engines import extends, package

from trundle.engine import Engine
from trundle.version import SemVer, VersionRange

NAMES = [f"P{at}" for at in range(6)]
POOL = ("1.0.0", "1.1.0", "1.2.0", "2.0.0")


def met(versions):
    """The ranges that versions meet."""
    known = [SemVer.parse(each) for each in versions]
    ranges = ("*", "1", ">=1.1", "<2", "!=1.2.0", *versions)
    return [each for each in ranges if VersionRange.parse(each).choose(known)]


def drawn(seed):
    """Packages of one class each, which extend classes of those before them, with requirements that are met."""
    draw = random.Random(seed)
    versions = {name: draw.sample(POOL, draw.randint(1, 3)) for name in NAMES}
    packages = []
    for at, name in enumerate(NAMES):
        for version in versions[name]:
            parents = draw.sample(NAMES[:at], min(at, draw.randint(0, 3)))
            requires = {each: draw.choice(met(versions[each])) for each in parents}
            text = extends(*(f"{each}.C" for each in parents))
            packages.append(package(name, version, requires, {f"{name}.C": text}))
    return packages


def ancestors(packages, asked, lock=None):
    """The ancestors of each class, and the lock."""
    found = {}
    with Engine(packages).session(lock=lock) as session:
        for each in asked:
            type_ = session.type(f"{each.name}.C", str(each.version), each.name)
            found[f"{each.name}/{each.version}"] = [str(one) for one in type_.ancestors]
        return found, session.lock


@pytest.mark.parametrize("seed", range(40))
def test_the_order_changes_nothing_and_a_lock_is_true_and_holds(seed):
    packages = drawn(seed)
    found, lock = ancestors(packages, packages)
    shuffled = random.Random(seed + 1).sample(packages, len(packages))
    assert ancestors(packages[::-1], shuffled) == (found, lock)
    for key, row in lock.items():
        owner, _, class_name = key.partition(" ")
        for meeting, version in row.items() if class_name else ():
            of, name = meeting.split()
            assert f"{name}/{version}@{of}" in found[owner]
    newer = [package(name, "1.9.0", classes={f"{name}.C": ""}) for name in NAMES]
    assert ancestors([*packages, *newer], packages, lock) == (found, lock)
