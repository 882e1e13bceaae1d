"""A world in memory for tests of effects: what providers make in it, and in which order they act."""

from engines import package

from trundle.engine.effects import Provider, ProviderError

WANTING = """
Namespaces: {=: a, t: io.trundle}
Name: Wanting
Properties:
  wanted:
    Contract: [{name: $.string().notNull(), content: $, provider: $.string()}]
    Usage: InOut
Methods:
  deploy:
    Scope: Public
    Body:
      - $answers: []
      - For: each
        In: $.wanted
        Do:
          - $found: new(t:Document, name => $each.name, content => $each.content, provider => $each.provider)
          - $answers: $answers + [$found.deploy()]
      - Return: $answers
  forget:
    Scope: Public
    Arguments:
      - name: {Contract: $.string().notNull()}
    Body:
      - Return: new(t:Document, name => $name).delete()
"""
PACKAGE = package("a", "1.0.0", {"io.trundle": "1"}, {"a.Wanting": WANTING})


class Room(Provider):
    """Puts documents into a dictionary.

    Attributes:
        there: what is there, with its secrets.
        acts: what was done, in order.
        refused: the names that `check` refuses.
        failing: the names at which acts fail halfway.
    """

    kinds = ("document",)

    def __init__(self):
        self.there, self.acts = {}, []
        self.refused, self.failing = set(), set()

    def place(self, kind, wanted):
        assert kind == "document"
        return wanted["name"]

    def check(self, effect, now):
        if effect.wanted["name"] in self.refused:
            raise ProviderError(f"{effect.wanted['name']} is refused")

    def foresee(self, effect):
        return {"made": "new"} if effect.wanted["name"] == "new" else None

    def apply(self, effect, before):
        name = effect.wanted["name"]
        self.acts.append(("apply", name, before and before.state))
        self.there[name] = effect.revealed().get("content")
        self.fail(effect)
        return {"made": name, "from": self.there[name]}

    def remove(self, effect, outcome):
        name = effect.wanted["name"]
        self.acts.append(("remove", name, outcome and outcome["made"]))
        self.there.pop(name, None)
        self.fail(effect)

    def fail(self, effect):
        if effect.wanted["name"] in self.failing:
            raise ProviderError(f"{effect.revealed()} broke")


def run(engine, journal, wanted, **options):
    """Deploys documents by name and settles.

    Returns:
        The answers and the changes.
    """
    items = [{"name": name, "content": content} for name, content in wanted.items()]
    with engine.session(journal=journal, **options) as session:
        root = session.load({"?": {"type": "a.Wanting"}, "wanted": items})
        answers = session.call(root, "deploy")
        session.finish()
        session.settle()
        return answers, session.changes


def actions(changes):
    """What changes are, in short."""
    return [(each.action, each.key) for each in changes]
