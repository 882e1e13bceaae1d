"""Proves conversions between the versions of published schemas with several seeds, and goes on where it was stopped.

`make corpus CORPUS=FOLDER` runs it. Files of one name, at any depth below `FOLDER/schemas`, are the versions of one
API. `build/corpus` keeps a file for each API, with a line for each version of a resource type and each seed. What
stands there is not proved again: remove it after a change of the code.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trundle.project import ProofOptions, evolution_of
from trundle.project.proving import works_of_schemas
from trundle.schema.readers import Source
from trundle.verify.proofs import Proof
from trundle.workers import spread

NO_API = {"definitions"}
"""Files that hold what other files refer to, and no resource types of their own."""


class Task(NamedTuple):
    """One API to prove."""

    name: str
    paths: tuple[Path, ...]
    seeds: tuple[int, ...]
    examples: int
    results: Path

    @property
    def size(self) -> int:
        """Bytes of its schemas."""
        return sum(each.stat().st_size for each in self.paths)


def apis(folders: Sequence[Path]) -> dict[str, tuple[Path, ...]]:
    """The files of each API below some folders, by its name."""
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted((folder / "schemas").rglob("*")):
            if path.suffix in {".json", ".yaml", ".yml"} and not NO_API & set(path.stem.split(".")):
                found[path.stem].append(path)
    return {name: tuple(paths) for name, paths in found.items()}


def proved(task: Task) -> tuple[str, int, list[str], float]:
    """Proves what is still to be proved of an API: its name, versions and findings over all seeds, and seconds of processor time."""
    started = time.process_time()
    log = task.results / f"{task.name}.jsonl"
    text = log.read_text() if log.exists() else ""
    whole = text[: text.rfind("\n") + 1]  # The last line is not whole where a run was killed.
    before = [json.loads(each) for each in whole.splitlines()]
    known = {(each["resource"], each["version"], each["seed"]) for each in before}
    findings = [text for each in before for text in each["findings"]]
    count = len(before)
    with log.open("w") as file:
        file.write(whole)
        file.flush()
        for proof in _proofs(task, known):
            said = {"resource": proof.resource, "version": proof.version, "seed": proof.seed}
            found = [str(msgspec.to_builtins(each, enc_hook=str)) for each in proof.findings]
            file.write(json.dumps({**said, "findings": found}) + "\n")
            file.flush()
            findings.extend(found)
            count += 1
    return task.name, count, findings, time.process_time() - started


def _proofs(task: Task, known: set[tuple[str, str, int]]) -> Iterator[Proof]:
    evolution = evolution_of([Source(path) for path in task.paths])
    options = ProofOptions(seed=task.seeds[0], examples=task.examples)
    with works_of_schemas(evolution, options) as run:
        works = [
            msgspec.structs.replace(work, seed=seed, covering=seed == task.seeds[0])
            for seed in task.seeds
            for work in run.works()
            if not all((work.part.resource, each, seed) in known for each in work.versions)
        ]
        if works:
            yield from run.results(works)


def main() -> int:
    """Proves all APIs, the largest first, and prints each as it is done."""
    parser = argparse.ArgumentParser(description="Prove the conversions of published schemas.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--examples", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("build/corpus"))
    asked = parser.parse_args()
    asked.results.mkdir(parents=True, exist_ok=True)
    seeds = tuple(int(each) for each in asked.seeds.split(","))
    tasks = [
        Task(name, paths, seeds, asked.examples, asked.results)
        for name, paths in apis(asked.folders).items()
    ]
    if not tasks:
        places = " ".join(map(str, asked.folders))
        sys.stderr.write(f"{places}: expected schemas/ with JSON or YAML files\n")
        return 2
    tasks.sort(key=lambda each: -each.size)
    wrong = 0
    for name, count, findings, seconds in spread(proved, tasks, jobs=asked.jobs, start=_ready):
        wrong += len(findings)
        _say(f"{name}: {count} proofs, {len(findings) or 'no'} findings, {seconds:.0f} s")
        for each in findings:
            _say(f"  {each}")
    _say(f"{len(tasks)} APIs, seeds {asked.seeds}: {wrong or 'no'} findings")
    return 1 if wrong else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _ready() -> None:
    sys.dont_write_bytecode = True


if __name__ == "__main__":
    raise SystemExit(main())
