"""Contracts of properties and arguments: what a value becomes, and whether it may stay as it is."""

from trundle.engine.contracts._chains import Chain, chain_of
from trundle.engine.contracts._comparing import Difference, Types, differences, takes_null
from trundle.engine.contracts._contract import Contract, Where, compile_contract
from trundle.engine.contracts._impossible import Impossible, impossible, refused

__all__ = [
    "Chain",
    "Contract",
    "Difference",
    "Impossible",
    "Types",
    "Where",
    "chain_of",
    "compile_contract",
    "differences",
    "impossible",
    "refused",
    "takes_null",
]
