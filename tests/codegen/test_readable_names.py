"""Generated code that people read: names without numbers, short names, no test twice, no function twice."""

import ast
import re

import pytest
from evolving import evolution, rules
from test_package import everything

from trundle.codegen import generate_package

LONGEST = 60


def scattered():
    """One type in several shapes and places, variants, enums and moves: whatever asks for one name twice."""
    shapes = {
        "Circle": {"kind!": "IsCircle", "radius": "integer"},
        "Square": {"kind!": "IsSquare", "side": "integer"},
        "IsCircle": ["circle"],
        "IsSquare": ["square"],
        "Mode": ["on", "off"],
    }

    def version(size, *, mode="Mode", more="string", shape="Circle"):
        place = {"size": size, "mode": mode, "shape": shape, "more": more}
        return {
            **shapes,
            "Thing": {
                "here": "Place",
                "there": "Other",
                "all": "[Place]",
                "mode": mode,
                "more": more,
            },
            "Other": {"here": "Place", "mode": mode, "more": more, "shape": shape},
            "Place": place,
        }

    return evolution(
        {
            "v1": version("string"),
            "v2": version("integer", more="integer"),
            "v3": version("integer", mode="string", shape="Circle|Square", more="[string]"),
            "v4": version("[integer]", mode="string", shape="Circle|Square"),
        },
        rules("v3", "Place", wrap={"size": "size"}),
    )


@pytest.fixture(scope="module", params=[everything, scattered])
def modules(request):
    files = generate_package(request.param(), package="made")
    return {path: ast.parse(data) for path, data in files.items() if path.endswith(".py")}


def named(tree):
    """All names of functions, classes and what stands beside them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for each in targets if isinstance(each, ast.Name))


def test_no_function_or_constant_is_numbered(modules):
    conversions = [tree for path, tree in modules.items() if path.startswith("conversions/")]
    assert conversions
    numbered = [
        name
        for tree in conversions
        for name in named(tree)
        if re.search(r"_\d+$", name) and not re.search(r"_v\d[\d_]*$", name)
    ]
    assert numbered == []


def test_no_name_is_longer_than_a_reader_takes_in(modules):
    assert [name for tree in modules.values() for name in named(tree) if len(name) > LONGEST] == []


def test_nothing_is_asked_twice_in_a_row(modules):
    for tree in modules.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.If):
                inner = [each for each in node.body if isinstance(each, ast.If)]
            elif isinstance(node, ast.IfExp):
                inner = [each for each in (node.body, node.orelse) if isinstance(each, ast.IfExp)]
            else:
                continue
            assert all(ast.dump(each.test) != ast.dump(node.test) for each in inner)


def test_no_module_has_two_functions_that_do_the_same(modules):
    for path, tree in modules.items():
        if not path.startswith("conversions/"):
            continue
        found = [
            ast.dump(ast.Module([node.args, node.returns, *node.body], []))
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
        ]
        assert len(found) == len(set(found)), path
