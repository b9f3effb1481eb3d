"""A name analysed for comparison: its words in Latin letters, and its titles, numbers and forms."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from anyascii import anyascii
from msgspec import Struct, structs
from rapidfuzz.distance import DamerauLevenshtein

from recollect.schemas.names import plain_marks
from recollect.text.lexicon import NUMBER_WORDS, ORDINALS, word_set
from recollect.text.nicknames import canonical_names

#: Whether a name is a person's, a company's, or anything else's.
NameKind = Literal["person", "organisation", "other"]


class NameForm(Struct, frozen=True):
    """A name in the form in which it is compared.

    `words` are the distinguishing words, in lower case and in Latin letters, an initial as one
    letter; may be empty. `written` are all of its words, joined, including those that do not count.
    `numbers` are its numbers, also those in words, and signs such as those of C++. `suffix` is
    "jr", "3" and the like, `gender` "m" or "f" if a title says it, `legal` the class of the legal
    form ("stock", "limited", ...). `reordered`: it was written with the family name and a comma
    first. `script` is the script of its first word, "MIXED" if one word mixes scripts.
    """

    words: tuple[str, ...]
    written: str
    numbers: tuple[str, ...] = ()
    suffix: str | None = None
    gender: str | None = None
    legal: str | None = None
    titled: bool = False
    reordered: bool = False
    script: str = "LATIN"


_TITLES = {
    **dict.fromkeys(("mr", "sir", "herr", "lord", "senor", "monsieur", "don"), "m"),
    **dict.fromkeys(
        ("mrs", "ms", "miss", "madam", "madame", "mme", "mlle", "frau", "dame", "senora", "dona"),
        "f",
    ),
    **dict.fromkeys(
        word_set(
            """mx dr prof professor doctor rev reverend captain capt lt sgt general gen senator
            president prasident presidente prime minister chancellor kanzler sheikh shaikh sheik
            imam mullah haji hajji hon judge justice king queen prince princess emperor colonel
            col major maj admiral ing mag"""
        ),
        "",
    ),
}
_SUFFIXES = {"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr"}
_ORDINAL = re.compile(r"([0-9]{1,3})(?:st|nd|rd|th)")
# The number of a ruler, a part or an event, up to 89 (LXXXIX).
_ROMAN = re.compile(r"(x[lc]|l?x{0,3})(i[vx]|v?i{0,3})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# Roman numerals that may also be an initial, a name or a word: numbers only next to other numbers.
_UNSURE_ROMANS = frozenset({"i", "v", "x", "l", "c", "vi", "xi", "li", "xl", "xc"})
_DEGREES = word_set("phd md mba esq msc bsc")
# Particles with many spellings, or that may be left out.
_SAME_PARTICLE = {
    "abdul": "abd",
    "abdel": "abd",
    "abdal": "abd",
    "ibn": "bin",
    "ben": "bin",
    "bint": "bin",
    "el": "al",
    "ul": "al",
    "ud": "al",
}
_PARTICLES = word_set(
    "al bin abu von van der den de la le du da di dos das del della af zu zur ter ten y e"
)
_JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})
_SIGNS = "+#"  # C++ is not C#
_SHIPS = word_set("mv ms ss rms hms uss sv my fv")
_STOP = word_set("the of and et und y de la le des der die das for")
_UP_TO_TWELVE = {
    "zero": "0",
    **{word: str(n) for word, n in (NUMBER_WORDS | ORDINALS).items() if n <= 12},
    **{
        f"{n}{'st' if n == 1 else 'nd' if n == 2 else 'rd' if n == 3 else 'th'}": str(n)
        for n in range(1, 13)
    },
}
_TENS = {
    word: 10 * number
    for number, words in enumerate(
        (
            "twenty",
            "thirty",
            "forty fourty",
            "fifty",
            "sixty",
            "seventy",
            "eighty",
            "ninety",
        ),
        2,
    )
    for word in words.split()
}
_SHORT_FOR = {
    "intl": "international",
    "natl": "national",
    "assoc": "association",
    "assn": "association",
    "mgmt": "management",
    "mgt": "management",
    "univ": "university",
    "govt": "government",
    "dept": "department",
    "bros": "brothers",
    "st": "saint",
    "mt": "mount",
}
# Legal forms as written in Latin letters, by meaning. The longest match counts. "company" says
# nothing about the form.
_LEGAL: dict[str, str] = {
    form: family
    for family, forms in {
        "stock": "ag|aktiengesellschaft|sa|societe anonyme|sociedad anonima|spa|nv|plc|"
        "public limited company|jsc|ao|joint stock company|aktsionernoe obshchestvo|ojsc|oao|"
        "open joint stock company|otkrytoe aktsionernoe obshchestvo|pjsc|pao|"
        "public joint stock company|publichnoe aktsionernoe obshchestvo|as|asa|ab|oyj|kk|"
        "kabushiki kaisha",
        "closed stock": "cjsc|zao|closed joint stock company|zakrytoe aktsionernoe obshchestvo",
        "limited": "ltd|limited|llc|limited liability company|ooo|pty ltd|pty limited|"
        "proprietary limited|"
        "obshchestvo s ogranichennoi otvetstvennostiu|"
        "obshchestvo s ogranichennoy otvetstvennostyu|"
        "gmbh|gesellschaft mit beschrankter haftung|srl|societatea cu raspundere limitata|sarl|"
        "spzoo|sp z oo|sp z o o|bv|sro|doo|kft|oy|aps|co ltd|company limited|pvt ltd|"
        "private limited",
        "incorporated": "inc|incorporated",
        "partnership": "llp|lp|limited partnership|kg|gmbh co kg|limited liability partnership",
        "association": "ev|eingetragener verein|ano|npo|ngo|foundation|stiftung",
        "company": "co|company|corp|corporation|firm|firma",
    }.items()
    for form in forms.split("|")
}
# Legal forms that also distinguish names.
_KEPT_FORMS = frozenset({"foundation", "stiftung"})
_LONGEST_FORM = max(len(form.split()) for form in _LEGAL)
# A form with more letters than this is recognised with one wrong letter.
_LONG_FORM = 11
_LONG_FORMS = tuple(form for form in _LEGAL if len(form) > _LONG_FORM)

_GREEK = (("\u03bf\u03c5", "u"), ("\u03b1\u03c5", "av"), ("\u03b5\u03c5", "ev"))

_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_QUOTES = re.compile("['\"\u201c\u201d\u00ab\u00bb]")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}[^\W\d_]?\b\.?")
_DIGITS = re.compile("[0-9]+")
_BREAKS = re.compile(r"[^\w]+|_")
_CAMEL = re.compile(r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ])")


#: The kind of name of each entity type that is compared by name.
NAME_KINDS: dict[str, NameKind] = {
    "person": "person",
    "organisation": "organisation",
    "place": "other",
}
#: Types whose names are never proposed for a merge, but are equal if only the spelling differs.
SPELT_ONLY = frozenset({"concept", "unknown"})
# The maximum number of words of a name, and of letters of a word; a longer text is not a name.
_MOST_WORDS, _LONGEST = 16, 40
# The number of words of a name from which keys are made, and of initial letters of a word.
_KEYED_WORDS = 6
_CLIPPED = 3


def name_keys(normalized: str, entity_type: str) -> tuple[str, ...]:
    """Return the blocking keys of a name, if any: names that may be the same share at least one.

    One key is the letters of the whole name, which all types share. Persons, organisations and
    places also have the sounds of each word and of the whole name. A person also has the first
    letters of each word, since Mel may be Melanie, and the names that the first name is a nickname
    of, since Bob may be Robert.
    """
    kind = NAME_KINDS.get(entity_type)
    if kind is None and entity_type not in SPELT_ONLY:
        return ()
    words = name_form(normalized, kind or "other").words[:_KEYED_WORDS]
    letters = f"letters:{''.join(words)}"
    if kind is None:
        return (letters,)
    keys = {sound_of(word) for word in words if len(word) > 1}
    keys.add(sound_of("".join(words)))
    if kind == "person":
        keys |= {f"{word[:_CLIPPED]}-" for word in words if len(word) >= _CLIPPED}
        keys |= {f"={word}" for word in (words[0], *canonical_names(words[0]))} if words else set()
    else:
        keys |= {"".join(word[0] for word in words), *words[:1]}
    return (letters, *sorted(f"{entity_type}:{key}" for key in keys if key))


@lru_cache(8_192)
def name_form(name: str, kind: NameKind) -> NameForm:
    """Analyse a name; one that consists only of titles or legal forms keeps them as its words."""
    text = plain_marks(name[: _MOST_WORDS * _LONGEST])
    reordered = False
    if kind == "person":
        family, comma, given = text.partition(",")
        rest = given.strip().casefold().rstrip(".")
        if (
            comma
            and given.strip()
            and "," not in given
            and not (_generation(rest, after_the=False) or rest in _DEGREES)
        ):
            text, reordered = f"{given} {family}", True
    words = _words(text, kind)
    if kind == "person":
        form = _person(words, reordered, _script(text))
    else:
        form = _thing(words, _script(text), organisation=kind == "organisation")
    signs = tuple(letter for letter in text if letter in _SIGNS)
    return structs.replace(form, numbers=(*form.numbers, *signs)) if signs else form


def _script(text: str) -> str:
    """Return the Unicode script of a name; "MIXED" if one word mixes scripts."""
    scripts = [
        {unicodedata.name(letter, "?").partition(" ")[0] for letter in word if letter.isalpha()}
        for word in text.split()
    ]
    if any(len(each) > 1 for each in scripts) and not _JAPANESE.issuperset(set().union(*scripts)):
        return "MIXED"
    return next((script for each in scripts for script in each), "LATIN")


def _words(text: str, kind: NameKind) -> list[str]:
    """Return the words in Latin letters, lower case."""
    text = _QUOTES.sub("", text if kind == "person" else _POSSESSIVE.sub("", text))
    if kind != "person":
        # A.B.C. is a word; J.C. are two initials.
        text = _DOTTED.sub(lambda found: found[0].replace(".", "") + " ", text)
        text = text.replace("&", " ")
    text = _QUOTES.sub("", anyascii(_CAMEL.sub(" ", _greek(text)))).casefold()
    return [word[:_LONGEST] for word in _BREAKS.split(text) if word][:_MOST_WORDS]


def _greek(text: str) -> str:
    """Return a text with Greek digraphs for vowels replaced by their sound."""
    if not any("\u0370" <= letter < "\u0400" for letter in text):
        return text
    plain = unicodedata.normalize("NFD", text)
    bare = "".join(letter for letter in plain if not unicodedata.combining(letter))
    for letters, sound in _GREEK:
        bare = bare.replace(letters, sound)
    return bare


def _person(words: list[str], reordered: bool, script: str) -> NameForm:
    gender = suffix = None
    titled = False
    kept: list[str] = []
    for place, word in enumerate(words):
        if word in _TITLES and len(words) - place > 1 and not kept:
            gender, titled = _TITLES[word] or gender, True
        elif (
            kept
            and (place == len(words) - 1 or reordered)
            and (generation := _generation(word, after_the=words[place - 1] == "the"))
        ):
            suffix = generation
            if kept[-1] == "the":
                kept.pop()
        elif kept and word in _DEGREES | {"dr"} and place == len(words) - 1:
            titled = True
        else:
            # Ben Affleck: a first name here, not "son of".
            kept.append(_SAME_PARTICLE.get(word, word) if kept else word)
    named = [word for place, word in enumerate(kept) if not place or word not in _PARTICLES]
    return NameForm(
        words=tuple(dict.fromkeys(named or kept or words)),
        written="".join(words),
        numbers=_digits(named),
        suffix=suffix,
        gender=gender,
        titled=titled,
        reordered=reordered,
        script=script,
    )


def _generation(word: str, *, after_the: bool) -> str | None:
    """Return the generation that the last word of a name gives: jr, VIII, the Eighth."""
    if found := _ORDINAL.fullmatch(word):
        return found[1]
    if after_the and word in ORDINALS:
        return str(ORDINALS[word])
    return _SUFFIXES.get(word) or (None if word in _UNSURE_ROMANS else roman(word))


def roman(word: str) -> str | None:
    """Return the number of a lower-case Roman numeral below 100, "8" of "viii", or None."""
    if not word or _ROMAN.fullmatch(word) is None:
        return None
    values = [_ROMAN_VALUES[letter] for letter in word]
    following = [*values[1:], 0]
    return str(sum(-a if a < b else a for a, b in zip(values, following, strict=True)))


def _digits(words: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers in digits within words: those of "b12" and "room 101"."""
    found = (each for word in words for each in _DIGITS.findall(word))
    return tuple(sorted(each.lstrip("0") or "0" for each in found))


def _thing(words: list[str], script: str, *, organisation: bool) -> NameForm:
    written = "".join(words)
    words = _numbered(words)
    if not organisation and len(words) > 1 and words[0] in _SHIPS:
        del words[0]
    legal = None
    kept: list[str] = []
    place = 0
    while place < len(words):
        form, size = _form_at(words, place) if organisation else ("", 0)
        if size:
            if _LEGAL[form] != "company" or legal is None:
                legal = _LEGAL[form]
            if form in _KEPT_FORMS:
                kept.append(form)
            place += size
            continue
        if words[place] not in _STOP:
            kept.append(_SHORT_FOR.get(words[place], words[place]))
        place += 1
    named = kept or words
    return NameForm(
        words=tuple(named),
        written=written,
        numbers=_digits(named),
        legal=legal if kept else None,
        script=script,
    )


def _form_at(words: list[str], place: int) -> tuple[str, int]:
    """Return the legal form at a position and its number of words; 0 if there is none."""
    for size in range(min(_LONGEST_FORM, len(words) - place), 0, -1):
        form = " ".join(words[place : place + size])
        if form in _LEGAL:
            return form, size
        if place and len(form) >= _LONG_FORM and (meant := _misspelt(form)):
            return meant, size
    return "", 0


def legal_form(name: str) -> str | None:
    """Return the class of the legal form that ends a company's name; None if none does.

    A form of two letters counts only in capitals: "SA", but not the surname "Sa".
    """
    words = _words(plain_marks(name[: _MOST_WORDS * _LONGEST]), "organisation")
    for size in range(min(_LONGEST_FORM, len(words) - 1), 0, -1):
        form = " ".join(words[-size:])
        if form in _LEGAL and (len(form) > 2 or name.rstrip(". ")[-2:].isupper()):
            return _LEGAL[form]
    return None


def _misspelt(form: str) -> str | None:
    """Return the long legal form from which this differs by one missing, wrong or extra letter."""
    for meant in _LONG_FORMS:
        if DamerauLevenshtein.distance(form, meant, score_cutoff=1) <= 1:
            return meant
    return None


def _numbered(words: list[str]) -> list[str]:
    """Return the words with numbers as digits: "forty four" is 44, "II" at the end is 2."""
    numbered: list[str] = []
    tens = 0
    for place, word in enumerate(words):
        number = word if len(word) == 1 and word.isdecimal() else _UP_TO_TWELVE.get(word)
        if tens and number is not None and 0 < int(number) < 10:
            numbered[-1] = str(tens + int(number))
            tens = 0
            continue
        tens = _TENS.get(word, 0)
        if tens:
            numbered.append(str(tens))
        elif number is not None:
            numbered.append(number)
        elif (
            place
            and place == len(words) - 1
            and word not in _UNSURE_ROMANS
            and (value := roman(word))
        ):
            numbered.append(value)
        else:
            numbered.append(word.lstrip("0") or "0" if word.isdecimal() else word)
    return numbered


_SOUNDS = (
    (re.compile(r"^x"), "s"),  # Xi, Xavier
    (re.compile(r"sch|sh|tch|ch|zh"), "s"),
    (re.compile(r"ph"), "f"),
    (re.compile(r"p"), "b"),
    (re.compile(r"[kg]h|ck|[cqg]"), "k"),
    (re.compile(r"x"), "ks"),
    (re.compile(r"[wv]"), "v"),
    (re.compile(r"z|dz"), "s"),
    (re.compile(r"[dt]h?"), "t"),
    (re.compile(r"[aeiouyjh]"), ""),
)


@lru_cache(16_384)
def sound_of(word: str) -> str:
    """Return the consonants of a word roughly as they sound; spellings of one name share them.

    An initial vowel becomes one common sound, so that "Ali" and "Eli" share a key.
    """
    if not word or word.isdecimal():
        return word
    sound = word
    for pattern, letter in _SOUNDS:
        sound = pattern.sub(letter, sound)
    collapsed = re.sub(r"(.)\1+", r"\1", sound)
    return ("a" if word[0] in "aeiouyjh" else "") + collapsed or word
