"""A type checker sees every conversion: whatever is misspelt in one of them is an error."""

import re
import shutil
from pathlib import Path

import pytest
from amounts import full
from cases import CASES
from evolving import evolution, rules
from strictness import mypy
from test_package import HAND_WRITTEN, everything, written

from trundle.codegen import generate_package
from trundle.project import load_config
from trundle.project.generating import generate

CRM = Path(__file__).parents[2] / "examples" / "crm"


def everything_at_once(folder):
    made = everything()
    written(generate_package(made, package="made", horizon=2), folder)
    module = made.hooks[0].reference.use.partition(":")[0]
    (folder / f"{module}.py").write_text(HAND_WRITTEN)
    return folder / "made"


def crm(folder):
    shutil.copytree(CRM, folder, ignore=shutil.ignore_patterns("crm"), dirs_exist_ok=True)
    return generate(load_config(folder / "trundle.yaml"), jobs=1).root


def unions(folder):
    """Unions that gain a variant, lists and maps of them, required and nullable values, moves."""
    shapes = {
        "Circle": {"kind!": "IsCircle", "radius!": "integer"},
        "Square": {"kind!": "IsSquare", "side": "integer?", "inner": "Circle"},
        "IsCircle": ["circle"],
        "IsSquare": ["square"],
    }
    older = {
        "Thing": {
            "shapes!": "[Circle]",
            "by": "{Circle}",
            "text": "string",
            "a": "string",
            "b": "string",
        }
    }
    newer = {
        "Thing": {
            "shapes!": "[Circle|Square]",
            "by": "{Circle|Square}",
            "text": "[string]",
            "in": "In",
        },
        "In": {"a": "string", "b!": "string"},
    }
    changed = {**shapes, "Circle": {**shapes["Circle"], "radius!": "number", "fill": "string"}}
    made = evolution(
        {
            "v1": {**shapes, **older},
            "v2": {**shapes, **newer},
            "v3": {**changed, **newer},
        },
        rules("v1", wrap={"text": "text"}, move={"a": "in.a", "b": "in.b"}),
    )
    written(generate_package(made, package="made"), folder)
    return folder / "made"


@pytest.fixture(
    scope="module",
    params=[crm, full(everything_at_once), full(unions)],
    ids=lambda each: each.__name__,
)
def package(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp(request.param.__name__))


@pytest.fixture(scope="module")
def strict(package, tmp_path_factory):
    """What mypy says of the package, and its cache."""
    cache = tmp_path_factory.mktemp("cache")
    return mypy(package.parent, package.name, cache=cache), cache


def functions(package):
    """The functions of the conversions, by module and place."""
    for path in sorted((package / "conversions").glob("*.py")):
        for match in re.finditer(r"^def .*?(?=^\S|\Z)", path.read_text(), re.MULTILINE | re.DOTALL):
            yield path, match


@pytest.mark.full
def test_a_package_is_strictly_typed(package, strict):
    found, _ = strict
    assert found.returncode == 0, found.stdout + found.stderr
    text = "".join(path.read_text() for path in package.rglob("*.py"))
    assert "type: ignore" not in text
    assert not re.search(r"^def \w+\([^)]*: Any\b", text, re.MULTILINE)


@pytest.mark.full
def test_values_of_which_a_checker_knows_nothing_are_strictly_typed(tmp_path):
    """Texts that each version spells in its own way, and free-form data that a property moved out of."""
    case = CASES["enums and texts in lists and maps"]
    versions = {name: dict(each) for name, each in case.versions.items()}
    first, second, *rest = versions
    versions[first]["Thing"] = {**versions[first]["Thing"], "o": "P"}
    versions[first]["P"] = {"q": "string", "r": "string"}
    for name in (second, *rest):
        versions[name]["Thing"] = {**versions[name]["Thing"], "o": "any", "q": "string"}
    made = evolution(versions, rules(first, move={"o.q": "q"}))
    written(generate_package(made, package="made"), tmp_path)
    found = mypy(tmp_path, "made", cache=tmp_path / "cache")
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    "attribute",
    [
        r"(?<=\bsource\.|\bstored\.)(?!unknown)[a-z_]+",
        r"(?<=[( ])[a-z_]+(?==(source\.|ABSENT if))",
        r"(?<=[a-z_]\.)[a-z_]+(?= = (?!opened|target))",
    ],
    ids=["read", "written", "put into a nested object"],
)
@pytest.mark.full
def test_an_attribute_that_is_misspelt_in_a_function_is_an_error_there(package, strict, attribute):
    """Damages an attribute in every function that has one; all are found."""
    damaged = set()
    texts = {}
    for path, match in reversed(list(functions(package))):
        text = texts.get(path) or path.read_text()
        body = re.sub(attribute, r"\g<0>_x", match[0], count=1)
        if body != match[0]:
            damaged.add((path.name, re.match(r"def (\w+)", body)[1]))
        texts[path] = text[: match.start()] + body + text[match.end() :]
    if not damaged:
        assert package.name == "crm"
        pytest.skip("the example has no moves")
    kept = {path: path.read_text() for path in texts}
    try:
        for path, text in texts.items():
            path.write_text(text)
        out = mypy(package.parent, package.name, known=strict[1]).stdout
    finally:
        for path, text in kept.items():
            path.write_text(text)
    errors = {
        (Path(line.partition(":")[0]).name, int(line.split(":")[1]))
        for line in out.splitlines()
        if ": error: " in line and "_x" in line
    }
    starts = {}
    for path, text in texts.items():
        for match in re.finditer(r"^def (\w+)", text, re.MULTILINE):
            starts.setdefault(path.name, []).append(
                (text[: match.start()].count("\n") + 1, match[1])
            )
    seen = {
        (name, max(start for start in starts[name] if start[0] <= line)[1]) for name, line in errors
    }
    assert sorted(damaged - seen) == [], out
