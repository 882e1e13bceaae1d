"""Measures methods: their expressions against yaql's own evaluator over the same objects, and whole methods against plain Python.

Each contestant runs in turns with its peer. The first ratio is how many compiled runs fit into one of yaql's, the second how many runs of
Python fit into one of the package language. Then: whether twice the packages slow a call, and what a class costs that is not used.
"""

import sys
import types
from collections.abc import Callable
from typing import Any

import rounds

from trundle.engine import Engine, Handle, Limits, Session
from trundle.engine.expressions import Expression, Format, Scope, freeze, language_for
from trundle.engine.expressions._scope import context_of
from trundle.engine.running._frame import Frame
from trundle.packages import Package

ROUNDS = 15
TEXT = """
Name: a.App
Properties:
  n: {Contract: $.int(), Default: 0, Usage: InOut}
Methods:
  same:
    Arguments: {n: {Contract: $.int()}}
    Body: {Return: $n}
  fibonacci:
    Scope: Public
    Arguments: {n: {Contract: $.int()}}
    Body:
      - If: $n < 2
        Then: {Return: $n}
      - Return: $.fibonacci($n - 1) + $.fibonacci($n - 2)
  loop:
    Scope: Public
    Arguments: {n: {Contract: $.int()}}
    Body:
      - $sum: 0
      - $i: 0
      - While: $i < $n
        Do:
          - $sum: $sum + $i * 2
          - $i: $i + 1
      - Return: $sum
  count:
    Scope: Public
    Arguments: {n: {Contract: $.int()}}
    Body:
      - Repeat: $n
        Do: {$.n: $.n + 1}
"""
MANIFEST = "Format: 1.4\nType: Library\nFullName: app\nVersion: 1.0.0\nClasses: {a.App: App.yaml}\n"
EXPRESSIONS = (
    ("property", "$.n", 100),
    ("arithmetic", "$x * 2 + 1", 100),
    ("condition", "$x > 3 and $x < 10", 100),
    ("call", "$.same(1)", 100),
    ("where", "$list.where($ > 50)", 50),
    ("select", "$list.select($ * 2)", 50),
    ("sum", "$list.sum()", 50),
    ("max", "$list.max()", 50),
    ("min", "$list.select(-$).min()", 50),
    ("orderBy", "$list.orderBy(-$)", 50),
    ("groupBy", "$list.groupBy($ mod 7)", 50),
)
LOOP = ("$i < $n", "$sum + $i * 2", "$i + 1")
"""The expressions of one turn of the method `loop`."""
TURNS = 200


def fibonacci(n: int) -> int:
    """What the method of that name does."""
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)  # noqa: PLR2004


def loop(n: int) -> int:
    """The same."""
    total = i = 0
    while i < n:
        total = total + i * 2
        i = i + 1
    return total


class _Counter:
    n = 0


_COUNTER = _Counter()


def count(n: int) -> None:
    """The same."""
    for _ in range(n):
        _COUNTER.n = _COUNTER.n + 1


METHODS: tuple[tuple[str, Callable[[int], Any], int], ...] = (
    ("fibonacci", fibonacci, 10),
    ("loop", loop, TURNS),
    ("count", count, 200),
)


PACKAGES, CLASSES = 100, 100
"""How many packages stand beside that of the methods, and how many classes one package has."""


def main() -> None:
    """Prints a line for each expression, each method, and each effect of what is not used."""
    _run_methods()
    _run_beside_others()


def _run_methods() -> None:
    package = Package.from_files({"manifest.yaml": MANIFEST, "Classes/App.yaml": TEXT})
    with Engine([package], limits=Limits(steps=10**9)).session() as session:
        root = loaded(session, "a.App")
        print("expressions: compiled, and on yaql's evaluator")
        world, this = session._world, root.instance  # noqa: SLF001 - there is no call of one expression
        variables = {"$1": this, "$this": this, "$x": 5, "$list": tuple(range(100))}
        scope = Scope(
            Frame(world, this, root.type, "benchmark"),
            {sys.intern(name): value for name, value in variables.items()},  # As calls have them
        )
        for name, text, aim in EXPRESSIONS:
            ours, theirs = _contestants(text, scope)
            assert ours() == theirs(), text
            compiled, evaluated = rounds.measure((ours, theirs), ROUNDS)
            ratio = compiled.times_as_fast_as(evaluated)
            micros = f"{compiled.median * 1e6:7.2f} us {evaluated.median * 1e6:9.1f} us"
            print(f"  {name:12} {text:25} {micros} {ratio:6.0f} times as fast (aim {aim})")
        _run_loop(session, root, scope)
        print("methods: in the package language, and in Python")
        for name, function, size in METHODS:
            world.steps = 10**9

            def call(name: str = name, size: int = size) -> Any:
                return session.call(root, name, [size])

            def plain(function: Callable[[int], Any] = function, size: int = size) -> Any:
                return function(size)

            assert call() == plain()
            in_language, in_python = rounds.measure((call, plain), ROUNDS)
            ratio = in_python.times_as_fast_as(in_language)
            print(
                f"  {name:12} {in_language.median * 1e6:9.1f} us, {ratio:5.0f} times Python (aim 60)"
            )


def _run_loop(session: Session, root: Handle, scope: Scope) -> None:
    """A whole loop, against no more than its expressions on yaql's evaluator, which has no loops."""
    names = {"$i": 1, "$n": TURNS, "$sum": 1}
    scope = Scope(scope.scene, {sys.intern(name): value for name, value in names.items()})
    turn = [_contestants(text, scope)[1] for text in LOOP]

    def compiled() -> Any:
        return session.call(root, "loop", [TURNS])

    def evaluated() -> None:
        for _ in range(TURNS):
            for each in turn:
                each()

    ours, theirs = rounds.measure((compiled, evaluated), ROUNDS)
    ratio = ours.times_as_fast_as(theirs)
    micros = f"{ours.median * 1e6:7.2f} us {theirs.median * 1e6:9.1f} us"
    title = f"{TURNS} turns of While"
    print(f"  {'loop':12} {title:25} {micros} {ratio:6.0f} times as fast (aim 100)")


def _run_beside_others() -> None:
    """What packages and classes cost that are not used."""
    print(f"beside {PACKAGES} packages, and beside twice as many")
    with _session(PACKAGES) as one, _session(2 * PACKAGES) as other:
        few, many = rounds.measure((_call(one), _call(other)), ROUNDS)
        ratio = few.times_as_fast_as(many)
        print(f"  call         {many.median * 1e6:9.1f} us, {ratio:5.2f} times as long (aim 1)")
    print(f"of {CLASSES} classes of a package, one is used, and all are")
    classes = _package("many", CLASSES)
    use_one, use_all = (lambda: _use(classes, 1)), (lambda: _use(classes, CLASSES))
    few, many = rounds.measure((use_one, use_all), ROUNDS)
    each = (many.median - few.median) / (CLASSES - 1)
    print(
        f"  first call   {few.median * 1e3:9.1f} ms, {many.median * 1e3:9.1f} ms: "
        f"each class {each * 1e6:.0f} us when it is first used"
    )


def _package(name: str, count: int) -> Package:
    """A package whose classes `App0`, `App1` and so on have the methods."""
    names = [f"{name}.App{at}" for at in range(count)]
    files = {f"Classes/{each}.yaml": TEXT.replace("Name: a.App", f"Name: {each}") for each in names}
    listed = ", ".join(f"{each}: {each}.yaml" for each in names)
    manifest = MANIFEST.replace("FullName: app", f"FullName: {name}")
    files["manifest.yaml"] = manifest.replace("a.App: App.yaml", listed)
    return Package.from_files(files)


def _session(others: int) -> Session:
    packages = [_package(f"p{at}", 1) for at in range(others + 1)]
    return Engine(packages, limits=Limits(steps=10**9)).session()


def loaded(session: Session, name: str) -> Handle:
    """An object of a class."""
    found = session.load({"?": {"type": name}})
    assert found
    return found


def _call(session: Session) -> Callable[[], Any]:
    root = loaded(session, "p0.App0")
    return lambda: session.call(root, "fibonacci", [1])


def _use(package: Package, count: int) -> None:
    """A method of so many classes is called for the first time."""
    with Engine([package]).session() as session:
        for at in range(count):
            root = loaded(session, f"{package.manifest.name}.App{at}")
            session.call(root, "fibonacci", [1])


def _contestants(text: str, scope: Scope) -> tuple[Callable[[], Any], Callable[[], Any]]:
    expression = Expression(text)
    compiled, language = expression.compile(Format()), language_for(is_legacy=False)
    context, native = context_of(scope, language), expression.tree.native
    return (
        # Called as closures call each other: a function around it would be a tenth of a call.
        types.MethodType(compiled, scope),
        lambda: freeze(language.evaluate(native, context)),
    )


if __name__ == "__main__":
    main()
