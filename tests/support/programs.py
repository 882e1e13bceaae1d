"""Programs in the package language from texts: a class `a.A` with a method `run`, and what it comes to."""

from contextlib import contextmanager
from textwrap import dedent, indent

import pytest
from engines import package

from trundle.engine import Engine, EngineError

HEAD = (
    "Namespaces: {=: a, io: io.murano, sys: io.murano.system, py: '', dsl: murano.dsl.exceptions}\n"
)
HISTORIC = "murano.dsl.exceptions."
NO_MATCH = "yaql.language.exceptions.NoMatchingMethodException"
ROOT = {"?": {"type": "a.A", "id": "root"}}


def method(name, body, **keys):
    """The text of one method, whose keys are given as YAML in a line each."""
    lines = [f"  {name}:", *(f"    {key}: {value}" for key, value in keys.items())]
    return "\n".join(lines) + "\n    Body:\n" + indent(dedent(body).strip("\n"), " " * 6) + "\n"


@contextmanager
def opened(classes, model=None, form="1.4", packages=(), requires=None, load=True, **options):
    """A session with package `a` of these classes, and what the model loads as."""
    texts = {name: HEAD + dedent(text) for name, text in classes.items()}
    main = package("a", classes=texts, Format=form, requires=requires)
    with Engine([main, *packages], **options).session() as session:
        yield session, session.load(model or ROOT) if load else None


def run(body, *args, head="", methods="", classes=None, seen=None, arguments="[]", **options):
    """What `run` of the root gives; `trace(x)` in code appends to `seen`."""
    texts = dict(classes or {})
    texts["a.A"] = (
        f"{dedent(head)}\nMethods:\n"
        + method("run", body, Arguments=arguments)
        + indent(dedent(methods), "  ")
    )
    record = [] if seen is None else seen
    functions = {"trace": record.append, **options.pop("functions", {})}
    with opened(texts, functions=functions, **options) as (session, root):
        return session.call(root, "run", args, internal=True)


@contextmanager
def refused(name, code=None):
    """What is inside fails, and packages catch it by this name."""
    with pytest.raises(EngineError) as caught:
        yield caught
    assert name in caught.value.names
    assert code is None or caught.value.code == code
