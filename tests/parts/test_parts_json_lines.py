"""Lines of stretches of a file: each line once, whatever the cuts, with bounded memory."""

import io
import itertools
import random

import pytest

from trundle.parts import _json_lines
from trundle.parts._json_lines import Lines, lines_in

MARK = b"\xef\xbb\xbf"


def read(content, cuts, longest=1 << 20):
    """The lines of all stretches, and their numbers as they are in the file."""
    found, before = [], 0
    for begin, end in itertools.pairwise(cuts):
        lines = lines_in(io.BytesIO(content), begin, end, longest)
        found += [(before + each.number, each.data) for each in lines]
        before += lines.count
    return found, before


def expected(content):
    lines = content.split(b"\n")
    count = len(lines) - (lines[-1] == b"")
    lines[0] = lines[0].removeprefix(MARK)
    return [(at, each) for at, each in enumerate(lines, 1) if each.strip()], count


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\n\n",
        b"a",
        b"a\n",
        b"a\nb",
        b"a\n\nb\n",
        b"\r\na\r\n",
        b"  \nabc\n\n\n",
        b"long" * 9 + b"\nb\n",
        MARK + b"a\n" + MARK + b"b",
        MARK + b"\na\n",
        MARK,
    ],
)
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_every_line_is_read_once_wherever_the_file_is_cut(content, chunk, monkeypatch):
    monkeypatch.setattr(_json_lines, "CHUNK", chunk)
    for at in range(len(content) + 1):
        for then in range(at, len(content) + 1):
            assert read(content, [0, at, then, len(content)]) == expected(content)


def test_every_line_is_read_once_of_random_files_in_random_stretches(monkeypatch):
    draw = random.Random(15)
    for _ in range(300):
        monkeypatch.setattr(_json_lines, "CHUNK", draw.choice([1, 3, 16, 100]))
        content = bytes(draw.choice(b"ab \n\n\r") for _ in range(draw.randrange(120)))
        cuts = sorted({0, len(content), *(draw.randrange(len(content) + 1) for _ in range(4))})
        assert read(content, cuts) == expected(content)


def test_a_line_that_is_too_long_is_no_data_and_the_next_one_is_read(monkeypatch):
    monkeypatch.setattr(_json_lines, "CHUNK", 4)
    content = b"a\n" + b"b" * 50 + b"\nc\n"
    assert read(content, [0, len(content)], longest=10)[0] == [(1, b"a"), (2, None), (3, b"c")]


def test_the_digest_is_that_of_all_bytes_of_the_lines():
    content = b"a\n\nbc\nd"
    whole, other = (lines_in(io.BytesIO(each), 0, len(each)) for each in (content, b"a\n\nbC\nd"))
    assert list(whole) != list(other)
    assert whole.digest != other.digest


class Huge:
    """A file with a line of 40 chunks, of which no more than one is there at a time."""

    left = 40
    most = 0

    def read(self, number):
        self.most = max(self.most, number)
        self.left -= 1
        if self.left > 0:
            return b"x" * number
        return b"\n{}\n" if self.left == 0 else b""


def test_a_huge_line_is_passed_over_in_bounded_memory():
    stream = Huge()
    records = list(Lines(stream, 0, 1 << 40, longest=5 * _json_lines.CHUNK))
    assert [(each.number, each.data) for each in records] == [(1, None), (2, b"{}")]
    assert stream.most == _json_lines.CHUNK


def test_a_stretch_within_a_long_line_has_none():
    content = b"x" * 100 + b"\n{}\n"
    assert list(lines_in(io.BytesIO(content), 20, 40)) == []
    assert [each.data for each in lines_in(io.BytesIO(content), 90, 104)] == [b"{}"]
