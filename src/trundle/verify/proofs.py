"""Proofs of whole resource types, for the command line; `trundle.verify` itself is what tests need."""

from trundle.verify._case import LAWS, Case, Subject, Write
from trundle.verify._cover import covering
from trundle.verify._hops import Hops
from trundle.verify._literals import Mentioned, mentioned
from trundle.verify._parts import Part, part_of
from trundle.verify._prove import Counterexample, Proof, prove
from trundle.verify._work import Prover, Work

__all__ = [
    "LAWS",
    "Case",
    "Counterexample",
    "Hops",
    "Mentioned",
    "Part",
    "Proof",
    "Prover",
    "Subject",
    "Work",
    "Write",
    "covering",
    "mentioned",
    "part_of",
    "prove",
]
