"""How much a package or a model may ask for, so that a hostile one cannot exhaust the machine."""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine takes at most; what is beyond is an error with the code `limit`.

    Attributes:
        objects: objects in one session.
        values: values in one model, objects included.
        ancestors: ancestors of one class.
        class_file: bytes of one class file.
        errors: errors that one load lists.
        depth: how deeply a value, other than an object in an object, may nest; in expressions lists have at most 500 levels, and maps 10,000.
        steps: statements, rounds of loops and calls of lambdas that one load or call runs.
        seconds: how long one load or call may take; it is looked at between steps.
        results: values in what a method returns, or gives to a function from outside; what stands in it twice counts twice.
        memory: bytes that a process may take for a run, where the run has a process of its own.
        calls: calls of methods that are nested.
        waiting: properties of which each needs the next one while a model loads, where their order of loading does not help.
    """

    objects: int = 1_000_000
    values: int = 20_000_000
    ancestors: int = 10_000
    class_file: int = 4 * 1024 * 1024
    errors: int = 100
    depth: int = 100
    steps: int = 10_000_000
    seconds: float = 3600.0
    results: int = 1_000_000
    memory: int = 1024 * 1024 * 1024
    calls: int = 250
    waiting: int = 25
