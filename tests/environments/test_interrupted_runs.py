"""Runs that die, that meet others, and that lose their environment."""

import os
import subprocess
import time
from pathlib import Path

import kept as kept_module
import pytest
import warm
from amounts import full
from kept import TENANT, Kept, adding

from trundle.engine.effects import Record
from trundle.environments import EnvironmentBusyError, SupersededError
from trundle.environments._journal import DatabaseJournal
from trundle.providers import FolderProvider

MODELS = [
    {f"document-{at}": at for at in range(12)},
    {f"document-{at}": at * 2 for at in range(5, 18)},
    {"last": None},
]


class Dying(FolderProvider):
    """Ends its process at the n-th act, before or after it."""

    def __init__(self, root, left):
        super().__init__(root)
        self.left = left

    def apply(self, effect, before):
        self.step()
        found = super().apply(effect, before)
        self.step()
        return found

    def remove(self, effect, outcome):
        self.step()
        super().remove(effect, outcome)
        self.step()

    def step(self):
        if self.left == 0:
            os._exit(9)
        self.left -= 1


def wanting(documents):
    return lambda model: adding({**model, "applications": []}, "web", documents)


def records(kept):
    return [x.to_plain() for x in kept.environments.effects("shop", tenant=TENANT)]


def dies(kept, left):
    """Deploys in a process that dies at an act; whether it died."""
    child = os.fork()
    if child == 0:
        try:
            mine = Kept(kept.url, kept.folder, packages=())
            mine.deploy(**mine.acting(folder=Dying(kept.folder, left)))
        except BaseException:  # noqa: BLE001 - the parent sees the exit code
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), code
    return code == 9


@pytest.mark.full
@pytest.mark.parametrize("stride", [19, full(1)])
def test_a_death_between_an_effect_and_its_record_changes_no_result(url, tmp_path, stride):
    kept = Kept(url, tmp_path / "deployed")
    kept.create()
    deaths = 0
    for documents in MODELS:
        kept.edit(wanting(documents))
        kept.catalog.close()
        left = 0
        while dies(kept, left):
            deaths += 1
            left = left + stride
        kept = Kept(url, tmp_path / "deployed", packages=())
        expected = {f"{x}.yaml": "null\n" if y is None else f"{y}\n" for x, y in documents.items()}
        assert kept.files() == expected
        assert {x["state"] for x in records(kept)} == {"done"}
        assert kept.outcomes()[-1] == ("deploy", "succeeded")
        assert {x.action for x in kept.deploy().changes} == {"unchanged"}
    assert deaths >= 5
    assert {x for _, x in kept.outcomes()} == {"succeeded", "interrupted"}
    kept.close()


@pytest.mark.full
def test_of_two_processes_one_deploys(url, tmp_path):
    kept = Kept(url, tmp_path / "deployed")
    kept.create()
    kept.edit(wanting({f"x{at}": at for at in range(20)}))
    program = Path(kept_module.__file__).with_name("env_runner.py")
    for _ in range(3):
        running = [
            subprocess.Popen(
                [*warm.script(program), url, kept.folder], stdout=subprocess.PIPE, text=True
            )
            for _ in range(4)
        ]
        said = [each.communicate()[0].split()[-1] for each in running]
        assert set(said) <= {"deployed", "EnvironmentBusyError"}
        assert "deployed" in said
        deployed = [x for x in kept.history() if x.outcome == "succeeded"]
        assert len(kept.history()) == len(deployed)
    assert {x["state"] for x in records(kept)} == {"done"}
    kept.close()


def test_a_run_that_lost_its_environment_does_nothing_more(shop):
    shop.add("web", {"one": 1, "two": 2, "three": 3})
    later = []

    class Slow(FolderProvider):
        def apply(self, effect, before):
            found = super().apply(effect, before)
            if not later:
                later.append(1)
                with shop.environments.database.writing() as connection:
                    from sqlalchemy import text

                    connection.execute(text("UPDATE environments SET run = run + 1"))
            return found

    with pytest.raises(SupersededError):
        shop.deploy(**shop.acting(folder=Slow(shop.folder)))
    assert shop.files() == {"one.yaml": "1\n"}
    assert [(x.key, x.state) for x in shop.environments.effects("shop", tenant=TENANT)] == [
        ("folder/one.yaml", "intended")
    ]
    assert shop.outcomes() == [("deploy", "unfinished")]
    shop.deploy()
    assert shop.outcomes() == [("deploy", "interrupted"), ("deploy", "succeeded")]
    assert len(shop.files()) == 3


def test_the_journal_keeps_its_order_over_runs(shop):
    environment = shop.environments.get("shop", tenant=TENANT)
    journal = DatabaseJournal(shop.environments.database, environment)

    def record(key):
        return Record(key, "folder", "file", {"big": 2**70, "text": "\x00é"}, "done")

    for key in "abc":
        journal.write(record(key))
    journal.forget("a")
    journal = DatabaseJournal(shop.environments.database, environment)
    journal.write(record("d"))
    journal.write(record("b"))
    assert [x.key for x in journal.records()] == ["b", "c", "d"]
    found = DatabaseJournal(shop.environments.database, environment).records()
    assert found == (record("b"), record("c"), record("d"))


def test_a_lost_lock_is_free_again(on_server, tmp_path):
    """The server ends the connection that holds the lock; the run is fenced, and the next one is let in."""
    import psycopg

    kept = Kept(on_server, tmp_path / "deployed")
    kept.create()
    kept.add("web", {"one": 1})
    name = f"environment {TENANT}/shop"
    with pytest.raises(EnvironmentBusyError), kept.environments.database.alone(name):
        kept.deploy()
    with kept.environments.database.alone(name):
        with psycopg.connect(on_server, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
            )
        for _ in range(3000):
            try:
                assert kept.deploy().number == 1
                break
            except EnvironmentBusyError:
                time.sleep(0.02)
    assert kept.files() == {"one.yaml": "1\n"}
    kept.close()
