"""Why a class has the ancestors that it has."""

import re
from xml.etree import ElementTree as ET

import pytest
from engines import extends, package
from hypothesis import given
from hypothesis import strategies as st

from trundle.engine import (
    Engine,
    explain,
    explanation_data,
    explanation_mermaid,
    explanation_rows,
    explanation_svg,
)


@pytest.fixture
def explained():
    packages = [
        *(
            package("z", each, classes={"z.D": "", "z.Own": extends("z.D")})
            for each in ("1.2.0", "1.3.0")
        ),
        package("x", requires={"z": "1.2.0"}, classes={"x.B": extends("z.Own", "z.D")}),
        package("y", requires={"z": ">=1,<2"}, classes={"y.C": extends("z.D")}),
        package("app", "2.0.0", {"x": 1, "y": 1}, {"app.A": extends("x.B", "y.C")}),
    ]
    return explain(Engine(packages).session().type("app.A"))


def test_each_ancestor_has_its_version_and_the_requirements_that_chose_it(explained):
    rows = {each[0]: each[1:] for each in explanation_rows(explained)}
    assert list(rows) == ["app.A", "x.B", "z.Own", "y.C", "z.D", "io.murano.Object"]
    assert rows["app.A"] == ("2.0.0", "app", "")
    assert rows["x.B"] == ("1.0.0", "x", "app/2.0.0 requires x 1")
    assert rows["z.D"] == (
        "1.2.0",
        "z",
        "x/1.0.0 requires z 1.2.0; own class of z; y/1.0.0 requires z >=1,<2 (1.3.0 by itself)",
    )


def test_the_same_as_data_and_as_a_chart(explained):
    data = {each["class"]: each for each in explanation_data(explained)}
    assert data["z.D"]["reasons"][-1] == {
        "child": "y.C/1.0.0@y",
        "requirement": "y/1.0.0 requires z >=1,<2",
        "chosenAlone": "1.3.0",
    }
    chart = explanation_mermaid(explained)
    assert '  c4["z.D<br/>z 1.2.0"]' in chart
    assert "  c3 -->|#gt;=1,#lt;2| c4" in chart
    assert "  c2 --> c4" in chart


def test_the_picture_has_every_class_above_those_that_extend_it(explained):
    root = ET.fromstring(explanation_svg(explained))
    space = "{http://www.w3.org/2000/svg}"
    texts = {each.text: float(each.get("y")) for each in root.iter(f"{space}text")}
    for above, below in (("z.D", "z.Own"), ("z.Own", "x.B"), ("x.B", "app.A"), ("z.D", "y.C")):
        assert texts[above] < texts[below]
    assert ">=1,<2, 1.3.0 by itself" in texts
    boxes = [
        tuple(float(each.get(name)) for name in ("x", "y", "width", "height"))
        for each in root.iter(f"{space}rect")
        if each.get("class") == "box"
    ]
    assert len(boxes) == len(explained)
    for at, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x <= float(root.get("width")) - width
        for x2, y2, width2, _ in boxes[at + 1 :]:
            assert x + width <= x2 or x2 + width2 <= x or abs(y - y2) >= height


SPACE = "{http://www.w3.org/2000/svg}"


def boxes_and_ways(svg):
    """The boxes of a picture, and points on each of its lines, which are straight pieces and cubic curves."""
    root = ET.fromstring(svg)
    boxes = [
        tuple(float(each.get(name)) for name in ("x", "y", "width", "height"))
        for each in root.iter(f"{SPACE}rect")
        if each.get("class") == "box"
    ]
    ways = []
    for each in root.iter(f"{SPACE}path"):
        if each.get("class") == "way":
            points, at = [], (0.0, 0.0)
            for kind, text in re.findall(r"([MCV])([^MCV]+)", each.get("d")):
                numbers = [float(number) for number in text.split()]
                if kind == "M":
                    at = tuple(numbers)
                elif kind == "V":
                    points += [(at[0], at[1] + (numbers[0] - at[1]) * t / 20) for t in range(21)]
                    at = (at[0], numbers[0])
                else:
                    ends = [at, *zip(numbers[::2], numbers[1::2], strict=True)]
                    for t in (step / 20 for step in range(21)):
                        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                        points.append(
                            tuple(
                                sum(w * end[k] for w, end in zip(weights, ends, strict=True))
                                for k in (0, 1)
                            )
                        )
                    at = ends[-1]
            ways.append(points)
    return boxes, ways


@given(data=st.data())
def test_no_line_runs_behind_a_class_and_no_two_classes_touch(data):
    names = [f"a.C{at}" for at in range(data.draw(st.integers(2, 9)))]
    classes = {}
    for at, name in enumerate(names):
        parents = (
            data.draw(st.lists(st.sampled_from(names[:at]), unique=True, max_size=4)) if at else []
        )
        classes[name] = extends(*parents)
    found = explain(Engine([package("a", classes=classes)]).session().type(names[-1]))
    boxes, ways = boxes_and_ways(explanation_svg(found))
    assert len(ways) == sum(len(each.reasons) for each in found)
    for way in ways:
        for x, y in way[1:-1]:
            inside = [b for b in boxes if b[0] < x < b[0] + b[2] and b[1] < y < b[1] + b[3]]
            assert inside == []
    for at, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, _ in boxes[at + 1 :]:
            assert x + width <= x2 or x2 + width2 <= x or abs(y - y2) >= height


def test_a_name_fits_into_its_box():
    long = "a.AVeryLongNameOfAClassThatSaysWhatItIsForInManyWords"
    svg = explanation_svg(explain(Engine([package("a", classes={long: ""})]).session().type(long)))
    boxes, _ = boxes_and_ways(svg)
    assert max(width for _, _, width, _ in boxes) > len(long) * 9
