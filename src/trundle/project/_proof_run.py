"""What is to be proved of a project, and what came out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from trundle.verify.limits import Limit
    from trundle.verify.proofs import Counterexample, Proof

EXAMPLES = 10
"""How many examples each version of a resource type is checked with, by default."""


class ProofOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be proved, and how hard.

    Attributes:
        seed: determines the examples.
        examples: how many there are for each version of a resource type.
        jobs: how many processes work on it.
        seconds: how long to go on, with further seeds; None for one round.
        resources: names of resource types; all where there is none. Letter case does not count.
        version: the only API version to be proved; all where there is none.
    """

    seed: int
    examples: int = EXAMPLES
    jobs: int = 1
    seconds: float | None = None
    resources: tuple[str, ...] = ()
    version: str | None = None


class ProofRun(msgspec.Struct, frozen=True, kw_only=True):
    """What was proved.

    Attributes:
        package: the package's dotted name.
        folder: where it was found up to date; None where it was generated to be proved.
        seed: the seed of the first round.
        rounds: how many rounds were begun, each with the next seed.
        planned: how many versions of resource types there were to prove.
        seconds: how long it took.
        limits: what is lossy by nature, and which plans cannot keep a law, by resource type.
        proofs: by resource type and version, those of all rounds.
        complete: whether the first round came to its end.
    """

    package: str
    folder: Path | None
    seed: int
    rounds: int
    planned: int
    seconds: float
    limits: "Mapping[str, tuple[Limit, ...]]"
    proofs: "tuple[Proof, ...]"
    complete: bool

    def by_resource(self) -> "Iterator[tuple[str, tuple[Proof, ...]]]":
        """Each resource type that was proved, with its proofs."""
        for name in dict.fromkeys(each.resource for each in self.proofs):
            yield name, tuple(each for each in self.proofs if each.resource == name)

    def to_plain(self, replay: "Callable[[Counterexample, Proof], str]") -> dict[str, Any]:
        """What was proved as plain values, for programs.

        Args:
            replay: the command line that finds a counterexample of a proof again.
        """
        return {
            "package": self.package,
            "folder": None if self.folder is None else str(self.folder),
            "seed": self.seed,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 1),
            "complete": self.complete,
            "resources": [
                {
                    "name": name,
                    "versions": list(dict.fromkeys(each.version for each in proofs)),
                    "examples": sum(each.examples for each in proofs),
                    "covering": sum(each.covering for each in proofs),
                    "held": _held(proofs),
                    "limits": [each.to_plain() for each in self.limits[name]],
                    "findings": [
                        each.to_plain() | {"replay": replay(each, proof)}
                        for proof in proofs
                        for each in proof.findings
                    ],
                }
                for name, proofs in self.by_resource()
            ],
        }


def _held(proofs: "tuple[Proof, ...]") -> dict[str, int]:
    """How often each law held, without those that no example was held to."""
    from trundle.verify.proofs import LAWS  # noqa: PLC0415 - needs hypothesis

    found = {name: sum(each.held.get(name, 0) for each in proofs) for name in LAWS}
    return {name: count for name, count in found.items() if count}
