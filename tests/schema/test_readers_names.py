from pathlib import Path

import pytest

from trundle.schema.readers._names import definition_name, extend, pascal, version_of_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reliabilityLevel", "ReliabilityLevel"),
        ("x509StoreName", "X509StoreName"),
        ("odata.type", "OdataType"),
        ("two words", "TwoWords"),
        ("$", "$"),
    ],
)
def test_pascal_case(text, expected):
    assert pascal(text) == expected


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/definitions/A", "A"),
        ("/$defs/a~1b", "a/b"),
        ("/components/schemas/A", "A"),
        ("/resourceDefinitions/a", "a"),
        ("/definitions/A/definitions/B", "B"),
        ("/definitions/A/properties/definitions", None),
        ("/properties/definitions/A", None),
        ("/properties/a", None),
        ("", None),
    ],
)
def test_definition_names(pointer, expected):
    assert definition_name(pointer) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("/properties/a", "RA"),
        ("/properties/properties/properties/b", "RPropertiesB"),
        ("/items/properties/a/additionalProperties/oneOf/1", "RA"),
        ("/patternProperties/properties/properties/a", "RA"),
    ],
)
def test_places_add_their_properties(rest, expected):
    assert extend("R", rest) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("2011-01-01.yaml", "2011-01-01"),
        ("schemas/2014-04-04-preview.json", "2014-04-04-preview"),
        ("schemas/2014-04-04-preview.schema.json", "2014-04-04-preview"),
        ("schemas/2016-03-01/Person.yaml", "2016-03-01"),
        ("schemas/2016-03-01/people/Person.yaml", "2016-03-01"),
        ("person.v1beta1.yaml", "v1beta1"),
        ("v2014_04_04_preview.py", "2014-04-04-preview"),
        ("v1/2016-03-01.yaml", "2016-03-01"),
        ("person.yaml", None),
        ("v1/a/b/c/person.yaml", None),
    ],
)
def test_versions_of_paths(path, expected):
    found = version_of_path(Path(path))
    assert (found.text if found else None) == expected
