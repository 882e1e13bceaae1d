"""Members that stand in an object several times are found, and nothing else is."""

import json
import random

import pytest
from amounts import amount

from trundle.parts._exact import has_repeated_member, repeated_members


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":1,"a":1}',
        '{"a" :1,"b":{"c":[{"d":1,"d" : 2}]}}',
        '{"a":1,"\\u0061":2}',
        '[{"x":{},"x":{}}]',
        '{"ä":1,"ä":2}',
        '{"a":1,"a":2,"b":"\\u0022:"}',  # As many ends of names as when it is written anew.
        '{"a":1,"a":2,"b":"\\"\\u003a"}',
        '{"a":1,"a":2,"b":"\\"\\u003A"}',
        '{"a":1,"a":2,"b"\t:1}',
        '{"a":1,"a":2,"b"\r\n :1}',
    ],
)
def test_a_member_that_stands_several_times_is_found(text):
    assert has_repeated_member(text.encode())
    assert repeated_members(text.encode())


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"b":{"a":2}}', '{"a":"\\":"}', '{"a" : 1}', "[]", "1", "", "{", '{"a":"b:"}', "\xff"],
)
def test_nothing_is_found_where_there_is_none(text):
    assert not has_repeated_member(text.encode("latin-1"))


def test_it_agrees_with_the_parser_of_python():
    draw = random.Random(15)

    def value(depth):
        if depth and draw.random() < 0.6:
            space = draw.choice(["", "", " ", "\t", "\n"])
            known = ["a", "b", "", '\\"', "\\u0061", ":", "\\u003a", "\\u0022:", "\\\\", "x :"]
            names = [draw.choice(known) for _ in range(draw.randrange(4))]
            return "{" + ",".join(f'"{each}"{space}:{value(depth - 1)}' for each in names) + "}"
        texts = ['"x"', '"\\":"', '"\\u0022:"', '"\\"\\u003A"', '":"', '"\\\\"']
        return draw.choice(["1", "[]", "null", *texts])

    def repeated(text):
        found = []
        json.loads(text, object_pairs_hook=lambda p: found.append(len(p) != len(dict(p))))
        return any(found)

    for _ in range(amount(20_000)):
        text = value(3)
        assert has_repeated_member(text.encode()) == repeated(text), text
