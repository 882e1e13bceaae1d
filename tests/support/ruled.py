"""A resource type with rules in CEL of every kind, at a version, and without them at another."""

GROUP = "ruled.test"
RULES = "x-kubernetes-validations"


def text(*rules, **more):
    return {"type": "string", "maxLength": 200, **more, **ruled(*rules)}


def number(*rules, **more):
    return {"type": "integer", "format": "int64", **more, **ruled(*rules)}


def listed(items, *rules, **more):
    return {"type": "array", "maxItems": 20, "items": items, **more, **ruled(*rules)}


def mapped(*rules, **properties):
    return {"type": "object", "properties": properties, **ruled(*rules)}


def ruled(*rules):
    found = [each if isinstance(each, dict) else {"rule": each} for each in rules]
    return {RULES: found} if found else {}


WORD = {"type": "string", "maxLength": 50}
WHOLE = {"type": "integer"}

FORMATS = {
    "dns1123Label": (["a", "a-1", "1"], ["", "a.b", "A", "-a", "a-", "a" * 64, "ä"]),
    "dns1123Subdomain": (["a.b-c.1"], ["", "A.b", "a..b", "a" * 199 + "_"]),
    "dns1035Label": (["a-1"], ["1a", "a.b", ""]),
    "qualifiedName": (
        ["a", "A_.b", "a.b/C"],
        [
            "",
            "/a",
            "a/",
            "a/b/c",
            "A/b",
            "-",
            "a b",
            "a" * 64,
            "a" * 70 + "_",
            "a/" + "b" * 64,
            "b" * 190 + "-/a",
        ],
    ),
    "dns1123LabelPrefix": (["a-", "a"], ["-", "a.b-", "Ab-"]),
    "dns1123SubdomainPrefix": (["a.b-", "a.-"], ["-", "_b-"]),
    "dns1035LabelPrefix": (["a-"], ["1-a", "-"]),
    "labelValue": (["", "a_B.c-1"], ["-a", "a ", "a" * 64, "a/b"]),
    "uri": (["http://a.test/x?y#z", "/a/b", "mailto:a@b"], ["", "a/b", "a.test", "http://a:b/"]),
    "uuid": (
        ["a8098c1a-f86e-11da-bd1a-00112444be1e", "A8098C1AF86E11DABD1A00112444BE1E"],
        ["", "a8098c1a", "{}"],
    ),
    "byte": (["aGk=", "YQ==", "YWJj"], ["", "aGk", "!!", "YQ=", "YQ==YQ=="]),
    "date": (["2020-02-29"], ["", "2020-02-30", "20200229", "2020-2-3", "2020-01-01T00:00:00Z"]),
    "datetime": (
        ["2020-01-01T00:00:00Z", "2020-01-01t00:00:00.5z", "2020-01-01T00:00:00+01:00"],
        ["", "2020-01-01", "2020-01-01T24:00:00Z"],
    ),
}
"""Of each format that rules can name, texts that are of it, and some that are not."""

PROPERTIES = {
    # Plain rules, their messages and reasons.
    "small": number("self < 10"),
    "said": number({"rule": "self < 10", "message": " has to be small "}),
    "explained": number(
        {
            "rule": "self < 10",
            "message": "small",
            "messageExpression": "'%d is not small'.format([self])",
        }
    ),
    "silent": number({"rule": "self < 10", "message": "small", "messageExpression": "''"}),
    "broken": number(
        {"rule": "self < 10", "message": "small", "messageExpression": "string(1 / (self - 10))"}
    ),
    "forbidden": number({"rule": "self < 10", "reason": "FieldValueForbidden"}),
    "required": mapped(
        {
            "rule": "has(self.a) || has(self.b)",
            "reason": "FieldValueRequired",
            "fieldPath": ".a",
            "message": "a or b",
        },
        a=WHOLE,
        b=WHOLE,
    ),
    "duplicate": listed(
        WORD,
        {
            "rule": "self.all(x, self.exists_one(y, x == y))",
            "reason": "FieldValueDuplicate",
            "message": "twice",
        },
    ),
    "division": number("10 / self > 1"),
    "key": {
        "type": "object",
        "additionalProperties": WHOLE,
        "maxProperties": 9,
        **ruled("self['a'] > 1"),
    },
    "several": number("self > 1", "self > 2", "self > 3"),
    # Values as rules see them.
    "accented": text("self.size() < 3"),
    "ratio": {"type": "number", **ruled("self > 0.5 && self < 10.0")},
    "when": text("self > timestamp('2020-01-01T00:00:00Z')", format="date-time"),
    "day": text("self.getFullYear() == 2020", format="date"),
    "after": text("self < duration('1h')", format="duration"),
    "data": text("size(self) == 3", format="byte"),
    "port": {
        "x-kubernetes-int-or-string": True,
        **ruled("type(self) == int ? self < 100 : self.size() < 5"),
    },
    "escaped": mapped(
        "!has(self.a__dash__b) || self.a__dash__b < 3",
        "!has(self.__namespace__) || self.__namespace__ < 3",
        "!has(self.x__dot__y) || self.x__dot__y < 3",
        "!has(self.c__underscores__d) || self.c__underscores__d < 3",
        **{"a-b": WHOLE, "namespace": WHOLE, "x.y": WHOLE, "c__d": WHOLE},
    ),
    "path": mapped(
        {"rule": "!has(self.n__dash__m) || self.n__dash__m < 3", "fieldPath": "['n-m']"},
        **{"n-m": WHOLE},
    ),
    "defaulted": mapped(
        "self.a + self.b == 3", a={**WHOLE, "default": 1}, b={**WHOLE, "default": 2}
    ),
    "nulled": mapped("!has(self.a) || self.a < 3", a={**WHOLE, "nullable": True}),
    "deep": listed(listed(number("self < 10"))),
    "named": {
        "type": "object",
        "additionalProperties": mapped("self.a < 10", a=WHOLE),
        "maxProperties": 5,
    },
    "mixed": {
        "type": "object",
        "additionalProperties": WORD,
        "maxProperties": 5,
        **ruled("self.all(k, self[k] != k)"),
    },
    "within": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
        **ruled("self.metadata.name.startsWith('a')", "self.kind == 'Thing'"),
    },
    # Functions.
    "sorted": listed(WHOLE, "self.isSorted()"),
    "sums": listed(
        WHOLE, "self.sum() < 10", "self.size() == 0 || (self.min() > 0 && self.max() < 8)"
    ),
    "found": text("self.find('[0-9]+') == '12'"),
    "all_found": text("self.findAll('[a-c]', 2) == ['a', 'b']"),
    "grouped": text(r"self.find('[(]?(a|(?P<x>b))+c\\Q(\\E?') == 'abc'"),
    "matched": text("self.matches('^a+$')"),
    "parts": text("self.split(',').size() < 3", "self.lowerAscii() == self", "self.trim() == self"),
    "url": text(
        "isURL(self) && url(self).getHostname() == 'a.test' && url(self).getPort() == '80'"
    ),
    "query": text("isURL(self) && 'q' in url(self).getQuery()"),
    "amount": text("isQuantity(self) && quantity(self).isLessThan(quantity('1Gi'))"),
    "more": text("quantity(self).add(quantity('1')).compareTo(quantity('2k')) == 0"),
    "address": text("isIP(self) && ip(self).family() == 4 && !ip(self).isLoopback()"),
    "network": text(
        "isCIDR(self) && cidr('10.0.0.0/8').containsCIDR(self) && cidr(self).prefixLength() > 9"
    ),
    "member": text("cidr('fd00::/8').containsIP(self)"),
    "release": text("isSemver(self) && semver(self).isGreaterThan(semver('1.2.3-rc.1'))"),
    "optional": mapped("self.?a.orValue(5) < 4", a=WHOLE),
    "positions": listed(WORD, "self.indexOf('a') < 1 && self.lastIndexOf('b') < 2"),
    "position": text(
        "self.indexOf('b') == 1 && self.indexOf('b', 2) == -1 && self.lastIndexOf('b') == 1"
    ),
    "far": number(
        "'abcabc'.indexOf('c', self) == 5",
        "'abcabc'.lastIndexOf('a', self) == 3",
        "'abc'.indexOf('', self) > 0",
    ),
    "any_position": text(
        "[true].indexOf(true) == 0 && [1u, 2u].indexOf(2u) == 1 && [null].indexOf(null) == 0",
        "[duration('1h')].indexOf(duration('60m')) == 0 && [1.5].indexOf(2.5) == -1 && [1, 2, 1].lastIndexOf(1) == 2",
    ),
    "lists": listed({**listed(WHOLE), "maxItems": 3}, "self.indexOf([1, 2]) == 1", maxItems=3),
    "maps": listed(mapped(a=WHOLE, b=WORD), "self.lastIndexOf(self[0]) == 0", maxItems=3),
    "like_a_call": text(
        {
            "rule": r"""self != r'\d' && self != 'indexOf(' && self + "'.validate(')" != "'" // don't indexOf(
            && self.lastIndexOf("(") < 0""",
            "message": "no call",
        }
    ),
    **{
        name: text(
            {
                "rule": f"!format.{name}().validate(self).hasValue()",
                "messageExpression": f"format.{name}().validate(self).value()[0]",
            },
            f"format.named('{name}').value().validate(self.trim()).orValue([]).size() == 0",
        )
        for name in FORMATS
    },
    "no_format": text(
        "format.named(self).hasValue()", "[format . named(self)].all(f, f.hasValue())"
    ),
    "any_release": text(
        "isSemver(self, true) && semver(self, true).isLessThan(semver('2.0.0')) && !isSemver(self, false)"
    ),
    "sets": listed(WHOLE, "sets.contains([1, 2, 3], self)"),
    "two": listed(WHOLE, "self.all(i, v, v > i)"),
    # What keeps rules from being asked, and what does not.
    "few": {"type": "object", "additionalProperties": WHOLE, "maxProperties": 1},
    "pair": {"type": "object", "additionalProperties": WHOLE, "maxProperties": 2},
    "one": listed(WHOLE, maxItems=1),
    "many": {"type": "object", "additionalProperties": WHOLE, "minProperties": 2},
    "choice": {
        "type": "object",
        "properties": {"a": {**WHOLE, "default": 1}, "b": WHOLE, "c": WORD},
        "oneOf": [
            {
                "properties": {
                    "a": {"enum": [1]},
                    "c": {"anyOf": [{"format": "ipv4"}, {"maxLength": 2, "pattern": "^a"}]},
                }
            },
            {"required": ["b"], "properties": {"b": {"minimum": 5}}},
        ],
        "not": {"required": ["b", "c"]},
    },
    # Changes.
    "fixed": text("self == oldSelf"),
    "growing": number({"rule": "self >= oldSelf", "message": "grows"}),
    "quoted": text("self != 'oldSelf'"),
    "born": number({"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": True}),
    "once": number(
        {
            "rule": "!oldSelf.hasValue() || oldSelf.value() == self",
            "optionalOldSelf": True,
            "messageExpression": "'was %d'.format([oldSelf.value()])",
        }
    ),
    "elements": listed(
        mapped("self.v >= oldSelf.v", k={"type": "string", "maxLength": 9}, v=WHOLE)
        | {"required": ["k", "v"]},
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
    ),
    "values": {
        "type": "object",
        "additionalProperties": number("self >= oldSelf"),
        "maxProperties": 5,
    },
}

SCHEMA = {
    "type": "object",
    **ruled(
        "self.metadata.name.size() < 30",
        {"rule": "!has(self.spec.alone) || self.spec.alone > 1", "fieldPath": ".spec.alone"},
        "!has(self.status) || !has(self.status.n) || self.status.n < 10",
    ),
    "properties": {
        "spec": {
            "type": "object",
            "properties": {**PROPERTIES, "alone": WHOLE, "enum": {"type": "string", "enum": ["a"]}},
        },
        "status": mapped("!has(self.n) || !has(oldSelf.n) || self.n >= oldSelf.n", n=WHOLE),
    },
}


def without_rules(schema):
    if isinstance(schema, dict):
        return {key: without_rules(each) for key, each in schema.items() if key != RULES}
    return schema


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"rules.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "rules", "singular": "rule", "kind": "Rule"},
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}},
            }
            for name, schema in (("v1", SCHEMA), ("v1beta1", without_rules(SCHEMA)))
        ],
    },
}

VALUES = {
    "small": ([1], [10]),
    "said": ([1], [10]),
    "explained": ([1], [10]),
    "silent": ([], [10]),
    "broken": ([], [10]),
    "forbidden": ([1], [10]),
    "required": ([{"a": 1}], [{}]),
    "duplicate": ([["a", "b"]], [["a", "a"]]),
    "division": ([1], [10, 0]),
    "key": ([{"a": 2}], [{"a": 1}, {"b": 1}]),
    "several": ([4], [1, 2, 3]),
    "accented": (["éé"], ["ééé"]),
    "ratio": ([1, 1.5], [0.5, 10]),
    "when": (["2021-01-01T00:00:00Z", "2019-12-31T23:30:00-01:00"], ["2020-01-01T01:00:00+01:00"]),
    "day": (["2020-02-01"], ["2021-02-01"]),
    "after": (["30m"], ["1h30m"]),
    "data": (["YWJj"], ["YWI="]),
    "port": ([80, "http"], [8080, "https"]),
    "escaped": ([{"a-b": 1}], [{"a-b": 3}, {"namespace": 3}, {"x.y": 3}, {"c__d": 3}]),
    "path": ([], [{"n-m": 3}]),
    "defaulted": ([{}, {"a": 0, "b": 3}], [{"a": 2}]),
    "nulled": ([{"a": None}, {}], [{"a": 3}]),
    "deep": ([[[1, 2], [3]]], [[[1], [2, 10], [11]]]),
    "named": ([{"x": {"a": 1}}], [{"x": {"a": 10}, "y": {"a": 11}}, {"x": {}}]),
    "mixed": ([{"a": "b"}], [{"a": "a"}]),
    "within": (
        [{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "ab"}, "more": 1}],
        [
            {"apiVersion": "v1", "kind": "Other", "metadata": {"name": "ba"}},
            {"apiVersion": "v1", "kind": "Thing"},
        ],
    ),
    "sorted": ([[1, 2, 2], []], [[2, 1]]),
    "sums": ([[1, 2], []], [[5, 6], [0], [8]]),
    "found": (["a12b"], ["a1b2", ""]),
    "all_found": (["xaybzc"], ["ba"]),
    "grouped": (["abc", "xabcx"], ["abd", "(abc", "abc("]),
    "matched": (["aa"], ["ab"]),
    "parts": (["a,b"], ["a,b,c", "A", " a"]),
    "url": (
        ["http://a.test:80/x"],
        ["http://b.test:80", "a.test", "http://a.test", "/x", "http://[::1]:80"],
    ),
    "query": (["http://a.test?q=1"], ["http://a.test?p=1", "http://a.test"]),
    "amount": (["1Mi", "1e3", "0.1m"], ["2Gi", "many", "1.5G", ""]),
    "more": (["1999", "1.999k"], ["2k", "x"]),
    "address": (
        ["10.0.0.1"],
        ["127.0.0.1", "::1", "a", "10.0.0.1%eth0", "::ffff:10.0.0.1", "010.0.0.1"],
    ),
    "network": (
        ["10.1.0.0/16", "10.1.2.3/16"],
        ["10.0.0.0/8", "11.0.0.0/16", "10.0.0.1", "10.0.0.0/016", "fd00::/64"],
    ),
    "member": (["fd00::1"], ["fe80::1", "10.0.0.1", "x"]),
    "release": (
        ["1.2.3", "1.2.3-rc.10", "1.2.3+b"],
        ["1.2.3-alpha", "1.2.3-rc.1", "v1.2.3", "1.2", "01.2.3"],
    ),
    "optional": ([{"a": 1}], [{}, {"a": 4}]),
    "positions": ([["a", "b"], [], ["c"]], [["c", "a"], ["a", "b", "b"]]),
    "position": (["ab", "abc"], ["ba", "abb", ""]),
    "far": ([3, 5], [0, 6, 100, -1]),
    "any_position": (["a"], []),
    "lists": ([[[1], [1, 2]]], [[[1, 2]], [[1], [2]]]),
    "maps": (
        [[{"a": 1, "b": "x"}, {"a": 1}], [{"a": 1}, {"a": 2}, {}]],
        [[{"a": 1, "b": "x"}, {}, {"b": "x", "a": 1}], []],
    ),
    "like_a_call": (["a"], ["indexOf(", "("]),
    **FORMATS,
    "no_format": (["uri"], ["none", ""]),
    "any_release": (
        ["v1.2", "1", "01.1.0", "v1.0.0-rc.1"],
        ["v2", "1.2-rc", "1.2.3", "x", "v1..", ""],
    ),
    "sets": ([[1, 1]], [[4]]),
    "two": ([[1, 2]], [[1, 1]]),
    "fixed": (["a"], []),
    "growing": ([1], []),
    "quoted": (["a"], ["oldSelf"]),
    "born": ([1], [2]),
    "once": ([1], []),
    "elements": ([[{"k": "a", "v": 1}]], []),
    "values": ([{"a": 1}], []),
    "few": ([], [{"a": 1, "b": 2}]),
    "pair": ([], [{"a": 1, "b": 2, "c": 3}]),
    "one": ([], [[1, 2]]),
    "many": ([], [{"a": 1}]),
    "choice": (
        [{}, {"a": None}, {"a": 2, "b": 5}, {"c": "10.0.0.1"}],
        [
            {"a": 2},
            {"b": 5},
            {"a": 2, "b": 4},
            {"c": "abc"},
            {"c": "b"},
            {"a": 2, "b": 6, "c": "b"},
        ],
    ),
    "alone": ([2], [1]),
    "enum": ([], ["b"]),
}
"""Of each property the values that its rules have nothing against, and those that they refuse, as an API server does."""
