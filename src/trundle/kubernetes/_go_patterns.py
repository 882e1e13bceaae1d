"""Whether the library of patterns that API servers use, Go's `regexp`, takes a pattern. Its syntax: https://pkg.go.dev/regexp/syntax."""

import re

_MOST = 1000
"""How many times something may be repeated, also where repetitions stand inside of each other."""

_REPEATED = r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})"
_FLAGS = "(?:[imsU]+(?:-[imsU]+)?|-[imsU]+)?"
_CLASS = r"\\(?:[dDsSwW]|[pP](?:[A-Z]|\{\^?\w+\}))"
_CODE = r"[0-9A-Fa-f]{2}|\{0*(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}\}"
_ESCAPED = rf"\\(?:[afnrtv]|x(?:{_CODE})|0|[1-7](?=[0-7])|[\x00-/:-@\[-`{{-\x7f])"
_SETS = "alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit"
_MEMBER = rf"(?:[^\]\\]|{_ESCAPED})"
_TOKEN = re.compile(
    rf"""(?>
        (?P<opened>\((?!\?)|\(\?(?:P?<\w+>|{_FLAGS}:))
      | (?P<closed>\))
      | (?P<repeated>{_REPEATED})\??(?!{_REPEATED})
      | \(\?{_FLAGS}\)
      | (?P<literal>\\Q(?:[^\\]|\\(?!E))*(?:\\E|\Z))
      | \\[AbBz] | {_CLASS} | {_ESCAPED}
      | \[\^?+\]?+(?:
            \[:\^?(?:{_SETS}):\] | {_CLASS}
          | (?!\[:(?s:.*):\]){_MEMBER}(?:-(?!\]){_MEMBER}|(?!-[^\]]))
        )*+\]
      | \{{(?![0-9]+(?:,[0-9]*)?\}})
      | [^\\\[({{*+?]
    )""",
    re.VERBOSE | re.ASCII,
)
_PROPERTY = re.compile(r"\\(?:[pP](?:([A-Z])|\{\^?(\w+)\})|.)", re.ASCII | re.DOTALL)
_NAMES = """
Any C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z
Zl Zp Zs
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali
Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian
Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret
Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian
Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya
Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi
Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi
Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian
Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin
Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani
Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong
Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian
Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau
Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham
SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa
Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta
Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square
"""
_PROPERTIES = frozenset(_NAMES.split())
"""The categories and scripts of Unicode that Go knows by name, of releases 1.21 and later."""


def is_taken_by_go(pattern: str) -> bool:
    """Whether Go compiles a pattern of the syntax that JSON Schema has.

    A mistake that no library takes, such as a parenthesis that is never closed, is not looked for.
    """
    at = 0
    counts = [_Counts()]  # Of the groups that are open.
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None or not (token["literal"] or _are_known(token[0])):
            return False
        at = token.end()
        if token["opened"]:
            counts.append(_Counts())
        elif token["closed"] and len(counts) > 1:
            counts[-2].begin(counts.pop().most)
        elif token["repeated"]:
            if not counts[-1].repeat(token["repeated"]):
                return False
        else:
            counts[-1].begin(1)
    return True


def _are_known(token: str) -> bool:
    """Whether Go knows the properties of characters that a part of a pattern names."""
    return all(
        (letter or name or "Any") in _PROPERTIES for letter, name in _PROPERTY.findall(token)
    )


class _Counts:
    """How many times what stands in a group is repeated.

    Attributes:
        most: of the part that is repeated most.
    """

    def __init__(self) -> None:
        self._before = self._last = 1

    @property
    def most(self) -> int:
        return max(self._before, self._last)

    def begin(self, count: int) -> None:
        """A part of the group comes next, in which something is repeated so many times."""
        self._before, self._last = self.most, count

    def repeat(self, how: str) -> bool:
        """The last part is repeated; whether that is not too much."""
        least, comma, most = how.strip("{}").partition(",")
        if not least.isdigit():
            return True
        count = int(most or least)
        if count or most or not comma:
            self._last *= count
        return max(self._last, count, int(least)) <= _MOST
