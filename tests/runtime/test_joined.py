"""The joined scheme: it finds the scheme that does the work, and nothing else."""

import inspect
import sys
import types

import pytest

from trundle.runtime import (
    ApiObject,
    ConversionError,
    JoinedScheme,
    ResourceType,
    Scheme,
    UnknownVersionError,
)


@pytest.fixture
def joined(monkeypatch):
    """Two packages, `big.a` with Box and Cat and `big.b` with Box, whose schemes are imported late."""
    asked = []
    for name, resources in (("a", ("Box", "Cat")), ("b", ("Box",))):
        types_of = tuple(
            ResourceType(
                each, "v1", "kind", {"v1": f"v1:{each}"}, {"v1": f"storage:{each}"}, f"{name}.org"
            )
            for each in resources
        )
        module = types.ModuleType(f"big.{name}")
        module.scheme = Scheme(f"big.{name}", types_of, served=("v1",))
        monkeypatch.setitem(sys.modules, f"big.{name}", module)
        monkeypatch.setattr(
            module.scheme,
            "decode",
            lambda data, *, version=None, resource=None, lenience=None, name=name: asked.append(
                (name, version, resource)
            ),
        )
    scheme = JoinedScheme(
        "big", {"a": ("a.org", ("Box", "Cat")), "b": ("b.org", ("Box",))}, served=("v1",)
    )
    return scheme, asked


def test_it_has_the_methods_of_a_scheme():
    def public(class_):
        return {
            name: inspect.signature(method)
            for name, method in inspect.getmembers(class_, inspect.isfunction)
            if not name.startswith("_")
        }

    assert public(JoinedScheme) == public(Scheme)


@pytest.mark.parametrize(
    ("document", "resource", "found"),
    [
        (b'{"apiVersion": "v1", "kind": "Cat"}', None, ("a", None, None)),
        (b'{"apiVersion": "A.org/v1", "type": "CAT"}', None, ("a", None, None)),
        (b'{"apiVersion": "b.org/v1", "kind": "Box"}', None, ("b", None, None)),
        (b'{"apiVersion": "B.ORG/v1", "kind": "box"}', "Box", ("b", None, "Box")),
        (b'{"kind": "Box", "apiVersion": "a.org/v1"}', "a.org/box", ("a", None, "Box")),
        (b'{"apiVersion": "v1"}', "b.org/Box", ("b", None, "Box")),
    ],
)
def test_a_document_is_read_by_the_package_of_its_resource_type(joined, document, resource, found):
    scheme, asked = joined
    scheme.decode(document, resource=resource)
    assert asked == [found]


@pytest.mark.parametrize(
    ("document", "resource", "message"),
    [
        (
            b'{"kind": "Cart"}',
            None,
            "the document is of the resource type 'Cart'; did you mean Cat?",
        ),
        (b'{"kind": "Box"}', None, "type 'Box'; did you mean a.org/Box or b.org/Box?"),
        (b"{}", None, "by `kind` or `type`; big has a.org/Box, b.org/Box, Cat"),
        (b"{}", "Zebra", "'Zebra'; big has a.org/Box, b.org/Box, Cat"),
        (
            b'{"kind": "Cat"}',
            "a.org/Box",
            "type 'Cat', but 'a.org/Box' was asked for; leave one out",
        ),
    ],
)
def test_what_no_package_knows_is_an_error(joined, document, resource, message):
    scheme, asked = joined
    with pytest.raises(UnknownVersionError) as caught:
        scheme.decode(document, resource=resource)
    assert message in str(caught.value)
    assert asked == []


@pytest.mark.parametrize(
    ("document", "resource", "message"),
    [
        (
            b'{"apiVersion": "b.org/v1", "kind": "Cat"}',
            None,
            "the `apiVersion` is 'b.org/v1'; write 'a.org/v1' if Cat is meant",
        ),
        (
            b'{"apiVersion": "b.org/v1"}',
            "a.org/Box",
            "Box is of the API group 'a.org', but the `apiVersion` is 'b.org/v1'",
        ),
        (
            b'{"apiVersion": "c.org/v1", "kind": "Box"}',
            None,
            "type 'Box' of the API group 'c.org'; did you mean a.org/Box or b.org/Box?",
        ),
    ],
)
def test_a_document_of_another_group_is_refused(joined, document, resource, message):
    scheme, _ = joined
    with pytest.raises(UnknownVersionError) as caught:
        scheme.convert_json(document, "v1", resource=resource)
    assert message in str(caught.value)


def test_resource_types_are_those_of_all_packages(joined):
    scheme, _ = joined
    assert list(scheme.resources) == ["a.org/Box", "b.org/Box", "Cat"]
    assert scheme.resources["b.org/Box"].versions == {"v1": "b.v1:Box"}
    assert scheme.resources["Cat"].storage == {"v1": "a.storage:Cat"}
    assert "Dog" not in scheme.resources
    assert len(scheme.resources) == 3


def test_an_object_belongs_to_the_package_of_its_class(joined):
    scheme, _ = joined
    other = type("Other", (ApiObject,), {"__module__": "small.v1"})
    with pytest.raises(ConversionError, match="does not belong to big"):
        scheme.convert(other(), "v1")


def test_one_resource_type_need_not_be_named(monkeypatch, joined):
    _, asked = joined
    scheme = JoinedScheme("big", {"b": ("b.org", ("Box",))}, served=("v1",))
    scheme.decode(b'{"apiVersion": "v1"}')
    assert asked == [("b", None, None)]
