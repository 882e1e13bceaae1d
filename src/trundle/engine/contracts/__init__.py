"""Contracts of properties and arguments: what a value becomes, and whether it may stay as it is."""

from trundle.engine.contracts._comparing import Difference, Types, differences, takes_null
from trundle.engine.contracts._contract import Contract, Where, compile_contract

__all__ = [
    "Contract",
    "Difference",
    "Types",
    "Where",
    "compile_contract",
    "differences",
    "takes_null",
]
