"""Why a class has the ancestors that it has."""

from xml.etree import ElementTree as ET

import pytest
from engines import extends, package

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
    assert ">=1,<2" in texts
    boxes = [
        tuple(float(each.get(name)) for name in ("x", "y", "width", "height"))
        for each in root.iter(f"{space}rect")
        if each.get("class") == "box"
    ]
    assert len(boxes) == len(explained)
    for at, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x <= float(root.get("width")) - width
        for x2, y2, _, _ in boxes[at + 1 :]:
            assert abs(x - x2) >= width or abs(y - y2) >= height
