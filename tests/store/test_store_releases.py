"""Servers of two releases come and go, are killed, and roll the store, in any order: nothing is lost, and who is refused is refused for what is stored."""

import random
import shutil
from collections import Counter

import pytest
from amounts import ALL
from storing import V1, V2, document, key, people_before, seen
from test_store_rolling import versions
from test_store_trouble import Clock, dying

from trundle.runtime import UnknownVersionError
from trundle.store import NewerShapeError, ServerLease, Store, compact, roll, status

SEEDS, STEPS = (8, 120) if ALL else (2, 50)
NAMES = "abcdef"


@pytest.fixture(scope="module")
def before():
    return people_before()


class Rollout:
    """A store, its servers, and what clients were answered.

    Attributes:
        known: what each object has: `team` and `age` of the first version, `note` of the second.
        seen: how often what matters has happened.
    """

    def __init__(self, url, before, after, seed):
        self.url, self.draw, self.clock = url, random.Random(seed), Clock()
        self.schemes = {"old": before, "new": after}
        self.stores = {
            name: Store(url, each, clock=self.clock) for name, each in self.schemes.items()
        }
        self.leases = {}
        self.known = {}
        self.seen = dict.fromkeys(("refused", "back", "moved", "died", "served"), 0)
        self.number = 0

    def close(self):
        for each in self.stores.values():
            each.close()

    def agreed(self):
        return status(self.stores["new"]).resources[0].storage_version

    def start(self):
        release = self.draw.choice(["old", "new"])
        name = f"{release} {self.draw.randrange(2)}"
        was, stored = self.agreed(), set(versions(self.stores["new"]))
        try:
            self.leases[name] = ServerLease(self.stores[release], name)
        except NewerShapeError:
            assert (release, V2 in stored) == ("old", True)
            self.seen["refused"] += 1
            return
        assert release == "new" or V2 not in stored
        self.seen["back"] += (was, self.agreed()) == (V2, V1)
        self.seen["moved"] += (was, self.agreed()) == (V1, V2)

    def stop(self):
        if self.leases:
            _, lease = self.leases.popitem()
            if self.draw.random() < 0.5:
                lease.end()
            else:  # It is killed, and counts until its lease ends.
                self.clock.go(seconds=self.draw.choice([1, 31]))

    def renew(self):
        self.clock.go(seconds=10)
        for name, each in list(self.leases.items()):
            was = self.agreed()
            try:
                each.renew()
            except NewerShapeError:
                assert name.startswith("old")
                del self.leases[name]
            self.seen["moved"] += (was, self.agreed()) == (V1, V2)

    def write(self):
        if not self.leases:
            return
        release = self.draw.choice(sorted(self.leases)).split()[0]
        store, name = self.stores[release], self.draw.choice(NAMES)
        self.number += 1
        version = V1 if release == "old" else self.draw.choice([V1, V2])
        prop = self.draw.choice(["team", "age"] if version == V1 else ["group", "note"])
        value = self.number if prop == "age" else str(self.number)

        def edit(current):
            shown = {} if current is None else seen(store, current, version)
            given = {
                each: shown[each] for each in ("team", "age", "group", "note") if each in shown
            }
            return document(version, **(given | {prop: value}))

        try:
            store.update(key(name), edit)
        except (NewerShapeError, UnknownVersionError):
            # A server that was silent for too long; it does no harm, and its next look ends it.
            assert (release, self.agreed()) == ("old", V2)
            return
        self.known.setdefault(name, {})["team" if prop == "group" else prop] = value
        self.seen["served"] += 1

    def roll(self):
        if self.draw.random() < 0.5:
            at = self.draw.randrange(6)
            self.seen["died"] += dying(self.url, self.schemes["new"], at, self.rolled)
        else:
            self.rolled(self.stores["new"])

    def rolled(self, store):
        store.clock = self.clock
        assert roll(store, verify=True).findings == ()

    def compact(self):
        compact(self.stores["new"], most=self.draw.choice([0, 5]))

    def check(self):
        """Every version shows what was answered, at a server of the new release; and at one of the old release where it is served."""
        new = self.stores["new"]
        found = {each.key.name: each for each in new.stream("Thing")}
        assert set(found) == set(self.known)
        for name, values in self.known.items():
            one, two = (seen(new, found[name], version) for version in (V1, V2))
            shown = {"team": one.get("team"), "age": one.get("age"), "note": two.get("note")}
            assert {k: each for k, each in shown.items() if each is not None} == values
            assert two.get("group") == one.get("team")
        if V2 not in versions(new):
            old = self.stores["old"]
            shown = {each.key.name: seen(old, each, V1).get("team") for each in old.stream("Thing")}
            assert shown == {name: each.get("team") for name, each in self.known.items()}


def test_whatever_order_releases_come_and_go_in(tmp_path, empty_file, scheme, before):
    happened = Counter()
    for seed in range(2, 2 + SEEDS):
        shutil.copy(empty_file, tmp_path / f"{seed}.db")
        rollout = Rollout(f"sqlite:///{tmp_path}/{seed}.db", before, scheme, seed)
        ServerLease(rollout.stores["old"], "first").end()
        actions = [rollout.start, rollout.start, rollout.stop, rollout.renew, rollout.roll]
        actions += [rollout.write] * 4 + [rollout.compact]
        for _ in range(STEPS):
            rollout.draw.choice(actions)()
            rollout.check()
        rollout.close()
        happened.update(rollout.seen)
    assert happened["served"] > 0
    if ALL:
        assert all(happened.values()), happened
