"""Small worlds of packages, written as text."""

import itertools

from trundle.packages import Release, Requirement, Unusable
from trundle.version import SemVer, VersionRange

v = SemVer.parse


def requirement(text):
    name, _, allowed = text.partition(" ")
    return Requirement(name, VersionRange.parse(allowed or "*"))


def release(text, *needs):
    name, version = text.split()
    needed = tuple(sorted(map(requirement, needs), key=lambda each: each.name))
    return Release(name, v(version), "sha256:" + "0" * 64, needed)


class Universe:
    """Packages to choose from; `needs` by `name version`, or a text why a version cannot be used."""

    def __init__(self, needs):
        self.asked = []
        self.table = {}
        for key, value in needs.items():
            name, version = key.split()
            found = Unusable(value) if isinstance(value, str) else release(key, *value)
            self.table.setdefault(name, {})[v(version)] = found

    def versions(self, name):
        self.asked.append(name)
        return self.table.get(name, {})

    def release(self, name, version):
        self.asked.append((name, str(version)))
        return self.table[name][version]

    def has_answer(self, wishes):
        """Tries every choice there is."""
        names = sorted(self.table)
        for choice in itertools.product(*([None, *self.table[name].values()] for name in names)):
            chosen = {each.name: each for each in choice if isinstance(each, Release)}
            if meets(wishes, chosen):
                return True
        return False


def meets(wishes, chosen):
    needs = [*wishes]
    for each in chosen.values():
        needs += [one for one in each.requirements if one.name != each.name]
    return all(each.name in chosen and chosen[each.name].version in each.range for each in needs)
