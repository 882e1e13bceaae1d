import json

import gadgets
import pytest
from object_shapes import object_shape

from trundle.api.apply import UnreadableFieldsError
from trundle.api.apply._differences import fields_of
from trundle.api.apply._fields import decode, encode, keyed, path_text, valued

SHAPE = object_shape(gadgets.SCHEMA)


def test_fields_are_read_and_written_as_kubernetes_writes_them():
    written = {
        "f:spec": {
            "f:ports": {
                'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}},
                ".": {},
            },
            "f:tags": {'v:"a"': {}, "v:1.5": {}},
        }
    }
    ports = ("f:spec", "f:ports")
    http = 'k:{"port":80,"protocol":"TCP"}'
    fields = {
        ports,
        (*ports, http),
        (*ports, http, "f:port"),
        ("f:spec", "f:tags", 'v:"a"'),
        ("f:spec", "f:tags", "v:1.5"),
    }
    assert decode(written) == fields
    assert encode(fields) == written


@pytest.mark.parametrize("seed", range(30))
def test_what_is_written_is_read_again(seed):
    document = gadgets.Drawing(seed).gadget("apply.test/v1", "a")
    fields = fields_of(SHAPE, document)
    assert fields
    assert decode(json.loads(json.dumps(encode(fields)))) == fields


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ('"\\\n\x07', '"\\"\\\\\\n\\u0007"'),
        ("<&>\u2028ü", '"\\u003c\\u0026\\u003e\\u2028ü"'),
        (1, "1"),
        (1.0, "1"),
        (1.5, "1.5"),
        (1e16, "10000000000000000"),
        (1e25, "1e+25"),
        (1e-7, "1e-07"),
        (-0.000001, "-0.000001"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_values_are_spelt_as_kubernetes_spells_them(value, text):
    assert valued(value) == f"v:{text}"
    assert json.loads(text) == value


def test_a_key_has_one_spelling():
    (only,) = decode({'k:{ "b" : 1.0, "a": "\\u00fc" }': {}})
    assert only == (keyed({"a": "ü", "b": 1}),) == ('k:{"a":"ü","b":1}',)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ([], r"expected an object at the top, found \[\]"),
        ({"f:a": {"f:b": 1}}, "expected an object at .a.b, found 1"),
        ({"x:a": {}}, "expected a path element such as 'f:spec', found 'x:a'"),
        ({"spec": {}}, "expected a path element such as 'f:spec', found 'spec'"),
        ({"k:[]": {}}, r"found 'k:\[\]'"),
        ({"k:{": {}}, "found 'k:{'"),
        ({"v:": {}}, "found 'v:'"),
        ({"i:a": {}}, "found 'i:a'"),
    ],
)
def test_what_is_no_set_of_fields_is_refused(written, message):
    with pytest.raises(UnreadableFieldsError, match=message):
        decode(written)


def test_paths_are_shown_as_kubernetes_shows_them():
    path = ("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:x", 'v:"a"', "i:3")
    assert path_text(path) == '.spec.ports[port=80,protocol="TCP"].x[="a"][3]'
