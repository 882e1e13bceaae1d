"""A store whose database was put back from a copy goes on with resource versions that no client has seen."""

import shutil
import sqlite3
from pathlib import Path

import database_fixtures
import pytest
from storing import document, key

from trundle.api import core_scheme
from trundle.store import ConflictError, GoneError, Key, ServerLease, Store, put_back


def used(url, scheme, *, writes=0):
    """A server uses the store, and clients write; the last resource version, and what the server complained of."""
    said = []
    with Store(url, scheme) as store, ServerLease(store, complain=said.append):
        for number in range(writes):
            store.update(key(), lambda _, number=number: document(group=f"g{number}"))
        return store.newest("Thing"), said


def looked_at(url, scheme):
    with Store(url, scheme, looking=True) as store:
        return put_back(store)


def test_a_file_that_is_put_back_in_place_is_noticed_once(in_file, scheme, tmp_path):
    path, copy = tmp_path / "test.db", tmp_path / "copy.db"
    used(in_file, scheme, writes=3)
    shutil.copyfile(path, copy)
    last, said = used(in_file, scheme, writes=4)
    assert said == []
    assert looked_at(in_file, scheme) is None
    shutil.copyfile(copy, path)  # The same inode, as by `cp`.
    assert "up to 8, as servers had them" in str(looked_at(in_file, scheme))
    number, said = used(in_file, scheme, writes=1)
    assert number > last + 1_000_000
    assert len(said) == 1
    assert "put back from a copy" in said[0]
    with Store(in_file, scheme) as store:
        with pytest.raises(GoneError):
            store.changes("Thing", last)
        with pytest.raises(ConflictError):
            store.replace(key(), document(group="mine"), resource_version=last)
        assert len(store.list("Thing").objects) == 1
    assert used(in_file, scheme) == (number, [])
    assert looked_at(in_file, scheme) is None


def test_a_file_that_is_made_anew_repeats_no_number_either(in_file, scheme, tmp_path):
    last, _ = used(in_file, scheme, writes=4)
    (tmp_path / "test.db").unlink()
    number, said = used(in_file, scheme)
    assert number > last + 1_000_000
    assert "made anew" in said[0]
    assert used(in_file, scheme) == (number, [])


def test_a_server_that_goes_on_over_a_copy_finds_what_it_stores(in_file, scheme, tmp_path):
    """A copy may give resource types other numbers; a server went on to look under those that it knew, and found nothing or something else."""
    keys = [Key("Lease", "default", "a"), Key("Event", "default", "a")]
    with Store(in_file, scheme) as store, ServerLease(store, beside=[core_scheme]) as lease:
        core, other = store.beside(core_scheme), store.beside(core_scheme)
        with (
            sqlite3.connect(tmp_path / "copy.db") as copy,
            sqlite3.connect(tmp_path / "test.db") as live,
        ):
            live.backup(copy)
            for each in keys:
                core.create(each, b'{"apiVersion":"v1"}')
            lease.renew()
            assert [other.find(each).key for each in keys] == keys
            copy.backup(live)  # Beside the server, as `.restore` does.
        lease.renew()
        made = [core.create(each, b'{"apiVersion":"v1"}') for each in keys]
        for each in (core, other):
            assert [each.find(one.key) for one in made] == made


@pytest.mark.parametrize("content", [b"", b"no JSON", b'{"/Thing": "7"}', b"[]"])
def test_a_note_that_cannot_be_read_stops_nothing(in_file, scheme, tmp_path, content):
    last, _ = used(in_file, scheme, writes=2)
    note = tmp_path / "test.db.reached"
    assert note.read_bytes()
    note.write_bytes(content)
    assert used(in_file, scheme) == (last, [])
    assert note.read_bytes() != content


def test_what_is_noted_is_no_more_than_what_is_stored(in_file, scheme, tmp_path):
    """A folder that is copied with the server in it, at any moment, is no copy that went back."""
    with Store(in_file, scheme) as store, ServerLease(store) as lease:
        for number in range(3):
            store.create(key(str(number)), document(group="x"))
            lease.renew()
            store.create(key(f"{number} later"), document(group="x"))
            there = tmp_path / f"copy-{number}"
            there.mkdir()
            for each in tmp_path.glob("test.db*"):
                shutil.copy(each, there)
            assert looked_at(f"sqlite:///{there / 'test.db'}", scheme) is None


def copied(server, url, name):
    """The URL of a copy of a database, which is another one on the same server."""
    database_fixtures.make(server, name, Path(url).name)
    return f"{server}/{name}"


def test_a_copy_on_a_server_is_noticed_once(server, on_server, scheme):
    last, said = used(on_server, scheme, writes=3)
    assert said == []
    copy = copied(server, on_server, f"copy_of_{Path(on_server).name}")
    assert "put back from a copy, or moved" in str(looked_at(copy, scheme))
    number, said = used(copy, scheme, writes=1)
    assert number > last + 1_000_000
    assert len(said) == 1
    assert used(copy, scheme) == (number, [])
    assert looked_at(copy, scheme) is None
    assert looked_at(on_server, scheme) is None
    assert used(on_server, scheme) == (last, [])
