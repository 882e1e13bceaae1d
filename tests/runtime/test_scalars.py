import shutil
import subprocess
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.evolution import SCALAR_CONVERSIONS
from trundle.runtime import ABSENT, Unconverted, convert_scalar, unconverted
from trundle.runtime._scalars import _CONVERSIONS


def test_every_conversion_that_may_be_configured_is_there_and_has_its_inverse():
    assert set(_CONVERSIONS) == set(SCALAR_CONVERSIONS)
    for name, inverse in SCALAR_CONVERSIONS.items():
        assert SCALAR_CONVERSIONS[inverse] == name


@given(st.integers())
def test_an_integer_comes_back_from_its_text(value):
    text = convert_scalar("integer-to-string", value)
    assert convert_scalar("string-to-integer", text) == value


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_from_its_text_with_its_kind(value):
    found = convert_scalar("string-to-number", convert_scalar("number-to-string", value))
    assert found == value
    assert type(found) is type(value)


@given(st.booleans())
def test_what_is_disabled_is_not_enabled(value):
    assert convert_scalar("disabled-to-enabled", value) is not value
    assert convert_scalar("enabled-to-disabled", value) is not value


@given(st.booleans())
def test_a_boolean_comes_back_from_its_text(value):
    assert convert_scalar("boolean-to-string", value) == str(value).lower()
    found = convert_scalar("string-to-boolean", convert_scalar("boolean-to-string", value))
    assert found is value


@given(st.integers(-(2**62), 2**62))
def test_seconds_come_back_from_their_duration(value):
    text = convert_scalar("seconds-to-duration", value)
    assert convert_scalar("duration-to-seconds", text) == value


@pytest.mark.parametrize(
    ("seconds", "duration"),
    [(0, "PT0S"), (59, "PT59S"), (60, "PT1M"), (3600, "PT1H"), (90061, "PT25H1M1S")],
)
def test_durations_read_as_people_write_them(seconds, duration):
    assert convert_scalar("seconds-to-duration", seconds) == duration
    assert convert_scalar("duration-to-seconds", duration) == seconds


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("string-to-integer", ""),
        ("string-to-integer", "1.5"),
        ("string-to-integer", " 1"),
        ("string-to-integer", "+1"),
        ("string-to-integer", "01"),
        ("string-to-integer", "1_000"),
        ("string-to-integer", "1\n"),
        ("string-to-integer", "0x10"),
        ("string-to-integer", 5),
        ("string-to-number", "nan"),
        ("string-to-number", "Infinity"),
        ("string-to-number", "1e999"),
        ("string-to-number", ".5"),
        ("string-to-number", "1,5"),
        ("string-to-number", True),
        ("disabled-to-enabled", "true"),
        ("enabled-to-disabled", 0),
        ("string-to-boolean", "True"),
        ("string-to-boolean", "1"),
        ("string-to-boolean", 1),
        ("seconds-to-duration", True),
        ("seconds-to-duration", "1"),
        ("duration-to-seconds", "PT"),
        ("duration-to-seconds", "P"),
        ("duration-to-seconds", "P1M"),
        ("duration-to-seconds", "P1Y"),
        ("duration-to-seconds", "P1DT"),
        ("duration-to-seconds", "PT1S1M"),
        ("duration-to-seconds", "PT-1S"),
        ("duration-to-seconds", "PT0.12345678901234567890S"),
        ("duration-to-go-duration", "PT0.0000000001S"),
        ("duration-to-go-duration", "P200000D"),
        ("go-duration-to-seconds", "PT1S"),
        ("go-duration-to-seconds", "1"),
        ("go-duration-to-seconds", "1.5ns"),
        ("go-duration-to-seconds", "0.5ns0.5ns"),
        ("go-duration-to-seconds", "1h 30m"),
        ("go-duration-to-seconds", "."),
        ("go-duration-to-seconds", "9223372036854775808ns"),
        ("seconds-to-go-duration", 1e-10),
        ("seconds-to-go-duration", 10**10),
        ("quantity-to-integer", "100m"),
        ("quantity-to-integer", ""),
        ("quantity-to-integer", "Gi"),
        ("quantity-to-integer", "1 Gi"),
        ("quantity-to-integer", "1K"),
        ("quantity-to-integer", "1e"),
        ("quantity-to-integer", "1e99999"),
        ("quantity-to-integer", "8Ei"),
        ("quantity-to-integer", True),
        ("quantity-to-number", "0.1n"),
        ("bytes-to-quantity", 2**63),
        ("number-to-quantity", 1e-10),
        ("number-to-quantity", "1"),
        ("duration-to-seconds", ""),
        ("duration-to-seconds", 60),
    ],
)
def test_what_has_no_counterpart_is_absent(name, value):
    assert convert_scalar(name, value) is ABSENT


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("string-to-integer", "1\N{ARABIC-INDIC DIGIT TWO}"),
        ("string-to-number", "1.\N{ARABIC-INDIC DIGIT TWO}"),
        ("duration-to-seconds", "PT\N{ARABIC-INDIC DIGIT TWO}S"),
    ],
)
def test_digits_of_other_scripts_are_text(name, value):
    assert convert_scalar(name, value) is ABSENT


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("string-to-integer", "-" + "9" * 5000),
        ("string-to-number", "9" * 5000),
        ("duration-to-seconds", f"PT{'9' * 5000}H"),
        ("go-duration-to-seconds", f"{'9' * 5000}h"),
        ("quantity-to-number", f"{'9' * 5000}"),
    ],
)
def test_numbers_longer_than_documents_have_are_absent(name, value):
    assert convert_scalar(name, value) is ABSENT


def test_large_integers_are_exact():
    assert convert_scalar("string-to-integer", "9" * 40) == 10**40 - 1
    assert convert_scalar("string-to-number", "9" * 40) == 10**40 - 1
    assert convert_scalar("integer-to-string", 10**40 - 1) == "9" * 40


@given(st.text())
def test_no_text_makes_a_conversion_fail(text):
    for name in SCALAR_CONVERSIONS:
        if name.startswith(("string", "duration", "go-duration", "quantity")):
            convert_scalar(name, text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("10s", 10),
        ("1h30m31s", 5431),
        ("1.5h", 5400),
        ("-1.5h", -5400),
        ("300ms", 0.3),
        ("2\N{MICRO SIGN}s", 2e-6),
        ("2\N{GREEK SMALL LETTER MU}s", 2e-6),
        ("1us", 1e-6),
        ("+5s", 5),
        ("1s1s", 2),
    ],
)
def test_durations_of_go_become_seconds(text, seconds):
    for name in ("go-duration-to-seconds", "duration-to-seconds"):
        found = convert_scalar(name, text)
        assert (found, type(found)) == (seconds, type(seconds))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (1, "1s"),
        (90, "1m30s"),
        (3600, "1h0m0s"),
        (-5431.5, "-1h30m31.5s"),
        (0.3, "300ms"),
        (0.0015, "1.5ms"),
        (2e-6, "2\N{MICRO SIGN}s"),
        (1e-9, "1ns"),
        (90.0, "1m30s"),
    ],
)
def test_seconds_become_durations_as_go_prints_them(seconds, text):
    assert convert_scalar("seconds-to-go-duration", seconds) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("P1D", 86400),
        ("P2W", 1209600),
        ("P1DT12H", 129600),
        ("PT0.5H", 1800),
        ("PT1,5S", 1.5),
        ("-PT5S", -5),
    ],
)
def test_iso_durations_have_weeks_days_fractions_and_signs(text, seconds):
    assert convert_scalar("duration-to-seconds", text) == seconds


@pytest.mark.parametrize(
    ("go", "iso"),
    [
        ("1h30m31s", "PT1H30M31S"),
        ("0s", "PT0S"),
        ("-1.5s", "-PT1.5S"),
        ("1ns", "PT0.000000001S"),
        ("36h0m0s", "PT36H"),
    ],
)
def test_durations_of_go_and_of_iso_become_each_other(go, iso):
    assert convert_scalar("go-duration-to-duration", go) == iso
    assert convert_scalar("duration-to-go-duration", iso) == go


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("100m", 0.1),
        ("1500m", 1.5),
        ("1Gi", 2**30),
        ("1.5Gi", 3 * 2**29),
        ("0.5Ki", 512),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1E", 10**18),
        ("1e-3", 0.001),
        ("-2k", -2000),
        ("+5.", 5),
        (".5", 0.5),
        ("1n", 1e-9),
        (7, 7),
    ],
)
def test_quantities_become_numbers(text, number):
    found = convert_scalar("quantity-to-number", text)
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize(
    ("number", "decimal", "binary"),
    [  # as resource.NewDecimalQuantity(number, format).String() has them
        (0, "0", "0"),
        (0.1, "100m", "100m"),
        (1.5, "1500m", "1500m"),
        (1000, "1k", "1k"),
        (1024, "1024", "1Ki"),
        (1500, "1500", "1500"),
        (2000, "2k", "2000"),
        (2**30, "1073741824", "1Gi"),
        (3 * 2**29, "1610612736", "1536Mi"),
        (-(10**6), "-1M", "-1000000"),
        (2**62, "4611686018427387904", "4Ei"),
        (10**18, "1E", "976562500000000Ki"),
        (12300000.000001, "12300000000001u", "12300000000001u"),
    ],
)
def test_numbers_become_canonical_quantities(number, decimal, binary):
    assert convert_scalar("number-to-quantity", number) == decimal
    assert convert_scalar("bytes-to-quantity", number) == binary


def test_a_number_with_a_fraction_has_no_counterpart_among_integers():
    assert convert_scalar("duration-to-seconds", "PT1.5S", "wait", integer=True) is ABSENT
    assert convert_scalar("duration-to-seconds", "PT1.5S", "wait") == 1.5
    assert convert_scalar("string-to-number", "1.5", "size", integer=True) is ABSENT
    assert convert_scalar("string-to-number", "2.0", "size", integer=True) == 2


@given(st.integers(-(2**63), 2**63 - 1))
def test_each_duration_that_go_prints_comes_back(nanoseconds):
    seconds = Fraction(nanoseconds, 10**9)
    iso = convert_scalar("go-duration-to-duration", f"{nanoseconds}ns")
    go = convert_scalar("duration-to-go-duration", iso)
    assert convert_scalar("go-duration-to-duration", go) == iso
    number = convert_scalar("go-duration-to-seconds", go)
    if number is not ABSENT:
        assert Fraction(repr(number)) == seconds
        assert convert_scalar("seconds-to-go-duration", number) == go


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_integers_come_back_from_their_quantities(value):
    for to, back in (
        ("bytes-to-quantity", "quantity-to-bytes"),
        ("integer-to-quantity", "quantity-to-integer"),
    ):
        assert convert_scalar(back, convert_scalar(to, value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers().map(lambda n: n / 1000))
def test_numbers_come_back_from_their_quantities_or_have_none(value):
    text = convert_scalar("number-to-quantity", value)
    if text is not ABSENT:
        found = convert_scalar("quantity-to-number", text)
        assert Fraction(repr(found)) == Fraction(repr(value))


_GO = """
package main
import ("bufio"; "fmt"; "os"; "time")
func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if found, err := time.ParseDuration(lines.Text()); err != nil {
			fmt.Println("error")
		} else {
			fmt.Println(int64(found), found)
		}
	}
}
"""


@pytest.mark.full
@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
def test_go_reads_and_prints_the_same(tmp_path, cases):
    (tmp_path / "main.go").write_text(_GO)
    program = [tmp_path / "durations"]
    subprocess.run(["go", "build", "-o", *program, "main.go"], cwd=tmp_path, check=True)
    run = subprocess.run(
        program, input="\n".join(cases) + "\n", capture_output=True, text=True, check=True
    )
    for text, said in zip(cases, run.stdout.splitlines(), strict=True):
        exact = convert_scalar("go-duration-to-duration", text)
        if said == "error":
            assert exact is ABSENT, text
        elif exact is not ABSENT:
            count, printed = said.split()
            assert convert_scalar("duration-to-go-duration", exact) == printed
            assert convert_scalar("go-duration-to-duration", f"{count}ns") == exact


@pytest.fixture
def cases():
    """Texts that are durations of Go, or nearly."""
    random = Random(20)
    units = ("ns", "us", "\N{MICRO SIGN}s", "ms", "s", "m", "h", "d", "")
    numbers = ("0", "1", "07", "1.5", ".25", "3.", "9223372036854775807", "0.000000001", "", ".")
    return [
        random.choice(("", "", "-", "+"))
        + "".join(
            random.choice(numbers) + random.choice(units) for _ in range(random.randrange(1, 4))
        )
        for _ in range(2000)
    ]


def test_a_value_without_counterpart_is_noted_where_a_caller_asks():
    convert_scalar("duration-to-seconds", "soon", "timeout")
    with unconverted() as notes:
        convert_scalar("duration-to-seconds", "PT1S", "timeout")
        convert_scalar("duration-to-seconds", "soon", "timeout")
        convert_scalar("duration-to-seconds", "soon", "timeout")
    convert_scalar("duration-to-seconds", "later", "timeout")
    assert notes == [Unconverted("duration-to-seconds", "timeout", "soon")]


def test_a_note_finds_its_places_in_a_document():
    note = Unconverted("duration-to-seconds", "timeout", "soon")
    document = {
        "timeout": "soon",
        "other": "soon",
        "items": [{"timeout": "PT1S"}, {"a b": {"timeout": "soon"}}],
    }
    assert note.paths(document) == ("$.timeout", "$.items[1]['a b'].timeout")
    assert Unconverted("seconds-to-duration", "n", 1).paths({"n": True, "m": {"n": 1}}) == (
        "$.m.n",
    )
