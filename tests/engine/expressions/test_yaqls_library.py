"""The library of yaql by itself, with none of our code around it, is the judge of expressions: each of its functions does here what it does there."""

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

import pytest
import yaql
from scenes import World
from yaql import legacy
from yaql.language import conventions

from trundle.engine import EngineError
from trundle.engine.expressions import Expression, Format, Scope, freeze

DATA = {"a": 3, "b": {"c": 1}, "list": [{"a": 1}, {"a": 2}]}
OPTIONS = {
    "yaql.limitIterators": 10_000,
    "yaql.convertSetsToLists": False,
    "yaql.convertTuplesToLists": False,
}
EXPRESSIONS = r"""
abs(-3)
abs(-3.5)
[1, 2, 3].accumulate($1 + $2)
[1, 2, 3].accumulate($1 + $2, 10)
[].accumulate($1 + $2, 10)
set(1, 2).add(3).len()
[1, 2, 3].all($ > 0)
[].all()
[1, 0].all()
[1, 2].any($ > 1)
[].any()
bitwiseAnd(6, 3)
bitwiseOr(6, 3)
bitwiseXor(6, 3)
bitwiseNot(6)
shiftBitsLeft(1, 4)
shiftBitsRight(16, 4)
bool(0)
bool('')
bool([])
bool(a)
characters(digits => true).len()
characters(octdigits => true, hexdigits => true).len()
[1, 2].contains(2)
{a => 1}.containsKey(a)
{a => 1}.containsValue(1)
{a => 1}.containsValue(2)
[1, 2, 3].count()
[1, 2].cycle().take(5)
[].defaultIfEmpty([9])
[1].defaultIfEmpty([9])
[1, 2, 3].delete(1)
[1, 2, 3].delete(0, 2)
{a => 1, b => 2}.delete(a)
{a => 1, b => 2}.deleteAll([a])
set(1, 2).difference(set(2)).toList()
set(1, 2) - set(2) = set(1)
abc.endsWith(c)
abc.endsWith(b, c)
abc.startsWith(ab)
abc.startsWith(x, a)
escapeRegex('a.b')
generate(1, $ < 10, $ * 2)
generate(1, $ < 10, $ + 3, $ * 10)
generate(1, $ < 10, $ + 3, $ * 10, true)
generateMany(1, [$ + 1, $ + 2].where($ < 5), decycle => true)
{a => 1}.get(a)
{a => 1}.get(b, 7)
hex(255)
[1, 2, 1].indexOf(1)
abcabc.indexOf(c)
abcabc.indexOf(c, 3)
abcabc.indexOf(c, 0, 2)
[1, 2, 3].indexWhere($ > 1)
abcabc.lastIndexOf(c)
abcabc.lastIndexOf(b, 0, 3)
[1, 2, 1].lastIndexOf(1)
[1, 2, 3].lastIndexWhere($ < 3)
[1, 2, 3].insert(1, 9)
[1, 2, 3].insertMany(1, [8, 9])
set(1, 2).intersect(set(2, 3)).toList()
set(1, 2).union(set(2, 3)).len()
set(1, 2).symmetricDifference(set(2, 3)).len()
set(1, 2).remove(1).toList()
isBoolean(true)
isBoolean(1)
isDatetime(now())
isDict({})
isDict([])
isEmpty([])
[1].isEmpty()
isInteger(1)
isInteger(true)
isInteger(1.0)
isIterable([])
isIterable(abc)
isIterable(set())
isList([])
isList(set())
isNumber(1)
isNumber(1.5)
isNumber(true)
isRegex(regex(a))
isRegex(a)
isSet(set())
isSet([])
isString(a)
isString(1)
isTimespan(timespan(hours => 1))
{a => 1, b => 2}.keys().toList()
{a => 1, b => 2}.values().toList()
{a => 1}.items().toList()
[1, 2, 3].last()
[].last(null)
[].last(5)
[1, 2, 3].first()
[].first(4)
[5].single()
[1, 2, 3].limit(2)
[1, 2, 3].take(2)
[1, 2, 3].skip(1)
[1, 2, 3, 1].skipWhile($ < 3)
[1, 2, 3, 1].takeWhile($ < 3)
localtz().seconds
utctz().seconds
abc.matches('a.c')
abc.matches('^b')
[1, 2].memorize()
norm(' a ')
norm('')
norm('  ')
isEmpty(' ')
pow(2, 10)
pow(2, 10, 7)
[1, 2, 3].reduce($1 + $2)
[1, 2, 3].aggregate($1 + $2)
[1, 2, 3].aggregate($1 + $2, 4)
regex('a(b)').matches(xab)
regex('a(b)').search(xab)
regex('a(?P<n>b)').search(xab, $n.value)
regex('a(b)').search(xab, $.start)
regex('a.').searchAll(abacad)
regex('a.').searchAll(abacad, $.value + '!')
regex(',').split('a,b,c')
'a,b,c'.split(regex(','))
regex('a').replace(banana, o)
regex('a').replace(banana, o, 2)
banana.replace(regex('a'), o)
regex('a').replaceBy(banana, $.value.toUpper())
banana.replaceBy(regex('a'), $.value + '_')
abc =~ 'a.c'
abc !~ 'a.c'
[1, 2].repeat(2)
1.repeat(3)
abc.replace(b, x)
abab.replace(b, x, 1)
abc.replace({a => 1, b => 2})
[1, 2, 3].replace(1, 9)
[1, 2, 3].replace(0, 9, 2)
[1, 2, 3].replaceMany(1, [8, 9])
[1, 2, 3].replaceMany(0, [8, 9], 2)
'a b c'.rightSplit(' ', 1)
'a b c'.split(' ', 1)
'a b c'.split()
round(2.567, 1)
round(2.5)
round(-2.5)
selectAllCases($.a > 0, $.a > 1, $.a > 5)
selectCase($.a > 5, $.a > 1)
selectCase($.a > 5, $.a > 7)
1.switchCase(a, b, c)
selectCase($.a > 5, $.a > 1).switchCase(x, y, z)
5.switchCase(a, b)
coalesce(null, 2)
sign(-4)
sign(0)
[1, 2, 3, 4, 5].slice(2)
[1, 2, 3, 4, 5].sliceWhere($ mod 2 = 0)
[1, 2, 3, 4, 5].splitWhere($ mod 2 = 0)
[1, 2, 3].splitAt(1)
abcdef.substring(2)
abcdef.substring(2, 2)
abcdef.substring(-3)
abcdef.substring(-3, 2)
abcdef.substring(0, -1)
abc.toCharArray()
[1, 2].toList()
ABC.toLower()
abc.toUpper()
' abc '.trim()
'xxabcx'.trim(x)
' abc '.trimLeft()
' abc '.trimRight()
'xxabcx'.trimLeft(x)
'xxabcx'.trimRight(x)
[1, 2].zip([3, 4])
[1, 2].zip([3])
[1, 2].zipLongest([3])
[1, 2].zipLongest([3], default => 0)
timespan(hours => 1, minutes => 5).minutes
timespan(days => 2).hours
timespan(seconds => 90).seconds
timespan(milliseconds => 1500).milliseconds
timespan(milliseconds => 1500).microseconds
timespan(days => 2).days
timespan(hours => 1) > timespan(minutes => 1)
timespan(hours => 1) + timespan(minutes => 1) = timespan(minutes => 61)
timespan(hours => 2) / timespan(hours => 1)
timespan(hours => 2) * 2 = timespan(hours => 4)
datetime(2015, 8, 29).year
datetime(2015, 8, 29, 14, 34, 59, 123).microsecond
datetime(2015, 8, 29).weekday
datetime('2015-08-29T14:34:59').hour
datetime('2015-08-29T14:34:59+03:00').offset.hours
datetime('2015-08-29T14:34:59+03:00').utc.hour
datetime('2015-08-29T14:34:59').timestamp
datetime(1256953732).year
datetime(2015, 8, 29, 14, 34, 59).date.hour
datetime(2015, 8, 29, 14, 34, 59).time.minutes
datetime(2015, 8, 29).month
datetime(2015, 8, 29).day
datetime(2015, 8, 29, 1, 2, 3).second
datetime(2015, 8, 29, 1, 2, 3).minute
datetime(2015, 8, 29).format('%Y')
datetime(2015, 8, 29).replace(year => 2016).year
datetime('29.8.?2015', '%d.%m.?%Y').month
datetime(2015, 8, 29) - datetime(2015, 8, 28) = timespan(days => 1)
datetime(2015, 8, 29) + timespan(days => 1) > datetime(2015, 8, 29)
now() > datetime(2015, 8, 29)
now().offset.seconds
random() < 1
random(1, 3) in [1, 2, 3]
[1, 2, 3].orderBy($).thenByDescending($)
[3, 1, 2].orderByDescending($)
[[1, 2], [0, 3], [1, 0]].orderBy($[0]).thenBy($[1])
[1, 2].map($ + 1)
[1, 2].filter($ > 1)
[1, 2].examine().len()
[1, 2, 3].groupBy($ mod 2)
[[1, a], [2, b], [1, c]].groupBy($[0], $[1])
[[1, 1], [2, 2], [1, 3]].groupBy($[0], $[1], [$[0], $[1].sum()])
[1, 2, 3].join([4, 5], $1 + $2 = 6, [$1, $2])
[1, [2, [3]]].flatten()
[1, 2, 1].distinct()
[[1, a], [1, b]].distinct($[0])
[1, 2].selectMany([$, $])
[1, 2].selectMany($)
{a => 1}.toDict($[0], $[1])
[1, 2].toDict($, $ * 2)
[1, 2].enumerate()
[1, 2].enumerate(5)
[1, 2].append(3, 4)
[1, 2].concat([3], [4])
[1, 2].reverse()
[1, 2].toSet().len()
[a, b].join('-')
'-'.join([a, 1])
range(3).toList()
range(1, 4).toList()
range(1, 9, 2).toList()
range(2, 1) or 5
range(2, 1)
sequence(5).take(3)
sequence(5, 2).take(3)
sequence().take(2)
[3, 1].max()
[3, 1].min()
[].max(7)
max(1, 2)
min(1, 2)
[1, 2].sum()
[1, 2].sum(10)
[].sum(0)
[1].len()
abc.len()
len({a => 1})
len(abc)
int('42')
int(4.9)
int(null)
float('4.5')
float(null)
str(null)
str(true)
str(1.5)
str([1])
dict(a => 1).a
dict([[a, 1]]).a
{a => 1}.set(b, 2)
{a => 1}.set({b => 2})
{a => 1} + {b => 2}
{a => {b => 1}}.mergeWith({a => {c => 2}})
{a => [1]}.mergeWith({a => [2, 1]})
{a => 1}.mergeWith({a => 2})
{a => [1]}.mergeWith({a => [2]}, $2 + $1)
{a => {b => {c => 1}}}.mergeWith({a => {b => {d => 1}}}, maxLevels => 1)
{a => 1}.len()
list(1, 2)
list(1, [2]).len()
[1, 2] + [3]
2 * [1]
[1, 2] = [1, 2]
set(1) = set(1)
set(1, 2) > set(1)
set(1) < set(1, 2)
set(1) <= set(1)
set(1) >= set(1)
1 in set(1)
a in abc
a in {a => 1}
[1, 2][0]
{a => 1}[a]
{a => 1}[b, 5]
{a => 1}.a
$.b.c
$.list.a
$?.zzz?.y
null?.x
switch(true => 1, false => 2)
switch(false => 1, true => 2)
switch(false => 1)
let(a => 1) -> $a + 1
let(1, 2) -> $1 + $2
[1, 2].unpack(x, y) -> $x + $y
[1, 2].unpack() -> $1 + $2
with(3) -> $ + 1
def(sq, $ * $) -> sq(4)
assert(1 = 1, bad)
4.assert($ > 3)
tuple(1, 2)
not true
not 0
-(3)
+3
7 / 2
-7 / 2
7.0 / 2
7 mod 3
-7 mod 3
7.5 mod 2
2 + 2.5
a + b
abc * 2
1 < 2
a < b
1.5 >= 1
null < 1
1 > null
null = null
a != b
true and 5
0 or 7
null or false
1 and 0 and 2
[3, 1, 2].orderBy($).first()
[1, 2, 3].where($ > 1).select($ * 2)
[{a => 1}, {a => 2}].a
[[1, 2], [3]].select($.len())
[1, 2, 3].skip(1).take(1)
[1, 2].select($ -> $ + 1)
[].sum()
[].max()
[].first()
[1, 2].single()
abc.indexOf(z)
[1].indexOf(z)
[1, 2][5]
{a => 1}.zzz
1 / 0
int(abc)
a > 1
[1, a].max()
""".strip().splitlines()


@cache
def context_of(format_):
    make = legacy.create_context if format_.is_legacy else yaql.create_context
    return make(convention=conventions.CamelCaseConvention())


@cache
def engine_of(format_):
    return yaql.YaqlFactory().create(options=OPTIONS | {"yaql.iterableDicts": format_.is_legacy})


def by_yaql(text, format_):
    context = context_of(format_).create_child_context()
    try:
        return plain(engine_of(format_)(text).evaluate(data=DATA, context=context))
    except Exception as error:  # noqa: BLE001 - whatever yaql raises
        return type(error).__name__


def by_us(text, format_):
    return Expression(text).compile(format_)(Scope(World(), {"$1": freeze(DATA)}))


def plain(value):
    """A value with its types, and without the order of sets and maps."""
    if isinstance(value, Mapping):
        return "map", {plain_key(key): plain(each) for key, each in value.items()}
    if isinstance(value, AbstractSet):
        return "set", {plain_key(each) for each in value}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "list", [plain(each) for each in value]
    return type(value).__name__, value


def plain_key(value):
    return repr(plain(value))


@pytest.mark.parametrize("format_", [Format(1, 0), Format(1, 4)], ids=str)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_what_yaql_makes_of_it(text, format_):
    theirs = by_yaql(text, format_)
    if not isinstance(theirs, str):
        assert plain(by_us(text, format_)) == theirs
        return
    with pytest.raises(EngineError) as caught:
        by_us(text, format_)
    assert theirs in {each.rpartition(".")[2] for each in caught.value.names}


def test_each_function_of_yaql_is_among_them():
    context, names = context_of(Format(1, 4)), set()
    while context is not None:
        names |= {each for each in context._functions if each[0] not in "#*"}
        context = context.parent
    words = {each for text in EXPRESSIONS for each in re.findall(r"\w+", text)}
    assert names - words == {"call"}  # Ours calls methods, too


SEEN = []
"""What Python says that code does to the world; None while nobody looks."""


def note(event, _arguments):
    if SEEN and event.partition(".")[0] in OUTSIDE:
        SEEN.append(event)


OUTSIDE = frozenset(
    ("open", "os", "socket", "subprocess", "shutil", "import", "exec", "compile", "ctypes", "pty")
)


def test_no_function_reaches_files_network_or_python():
    """Python itself is the judge: it says when code opens, connects, starts or imports something."""
    sys.addaudithook(note)
    for format_ in (Format(1, 0), Format(1, 4)):
        for is_watched in (False, True):  # What is imported on first use, is by then
            for text in EXPRESSIONS:
                with contextlib.suppress(EngineError):
                    expression = Expression(text).compile(format_)
                    scope = Scope(World(), {"$1": freeze(DATA)})
                    SEEN[:] = ["watched"] if is_watched else []
                    try:
                        expression(scope)
                    finally:
                        seen, SEEN[:] = SEEN[1:], []
                    assert seen == [], text
    SEEN[:] = ["watched"]
    Path(os.devnull).read_bytes()
    assert "open" in SEEN
    SEEN.clear()
