"""Python classes behind declared ones."""

import pytest
from engines import package

from trundle.engine import Engine, native


class Clock:
    def __init__(self):
        self.ticks = 0

    def tick_once(self, by_how_much, *others, start_at=0, **options):
        del by_how_much, others, start_at, options

    @staticmethod
    def zone(name=None):
        return name

    @classmethod
    def create(cls):
        return cls()

    @staticmethod
    @native(usage="Extension")
    def as_time(text):
        return text

    @native("import")
    def import_(self):
        pass

    def run(self, own):
        pass

    def _hidden(self):
        pass


class Later(Clock):
    def extra(self):
        pass


TEXT = "Methods: {run: {Scope: Public}}"


def engine(natives):
    return Engine(
        [package("app", each, classes={"a.Clock": TEXT}) for each in ("1.0.0", "1.2.0", "2.0.0")],
        natives=natives,
    )


def test_functions_of_a_native_class_are_methods_of_the_declared_one():
    methods = engine({"a.Clock": Clock}).session().type("a.Clock").methods
    own = {name: each for name, each in methods.items() if each.declaring_type.name == "a.Clock"}
    assert {name: each.usage for name, each in own.items()} == {
        "tickOnce": "Runtime",
        "zone": "Static",
        "create": "Static",
        "asTime": "Extension",
        "import": "Runtime",
        "run": "Runtime",
    }
    assert methods["tickOnce"].arguments == ("byHowMuch", "startAt", "others", "options")
    usages = [each.usage for each in methods["tickOnce"].declaration.arguments]
    assert usages == ["Standard", "Standard", "VarArgs", "KwArgs"]
    assert methods["create"].arguments == ()
    assert (methods["run"].is_public, methods["run"].arguments) == (True, ())


def test_a_key_with_a_range_is_for_the_versions_in_it_and_the_most_exact_wins():
    session = engine({"a.Clock/1": Clock, "a.Clock/1.2": Later}).session()
    found = {each: "extra" in session.type("a.Clock", each).methods for each in ("1.0.0", "1.2.0")}
    assert found == {"1.0.0": False, "1.2.0": True}
    assert list(session.type("a.Clock", "2.0.0").methods) == ["run", "setAttr", "getAttr"]


@pytest.mark.parametrize("key", ["", "/1", "a.Clock/", "a.Clock/x"])
def test_a_key_that_names_no_class_or_no_range_is_refused(key):
    with pytest.raises(ValueError, match="key"):
        engine({key: Clock})
    with pytest.raises(ValueError, match="key"):
        Engine([], configs={key: {}})


class Remote:
    def plain(self):
        pass

    async def ask(self):
        pass

    async def listen(self):
        pass

    @native("find")
    @classmethod
    async def look_up(cls):
        pass

    @native(usage="Extension")
    @staticmethod
    async def sent(text):
        pass

    async def run(self):
        pass


def test_a_function_says_that_it_waits():
    methods = engine({"a.Clock": Remote}).session().type("a.Clock").methods
    assert {each.name for each in methods.values() if each.waits} == {
        "ask", "listen", "find", "sent", "run",
    }  # fmt: skip
    assert (methods["find"].usage, methods["sent"].usage) == ("Static", "Extension")
    assert methods["run"].is_public  # As the class file declares it.
    assert not methods["plain"].waits


def test_keyword_only_functions_of_a_base_are_methods_as_well():
    class Base:
        def of_base(self, *, label):
            pass

    class Heir(Base):
        pass

    methods = engine({"a.Clock": Heir}).session().type("a.Clock").methods
    assert methods["ofBase"].arguments == ("label",)
