"""Open frames: a plain sentence as the value of a slot, whatever its subject and relation.

"The chairperson of Fatah is Mahmoud Abbas" fills the slot ("Fatah", "the chairperson of … is"). The
words up to the last verb, and the prepositions after it, are the frame, with the subject's name
masked; the rest is the value. A sentence has a frame only if its relation has one value at a time
and it states nothing else: somebody who likes tea may like coffee too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.schemas.attributes import MASK
from recollect.streams.language.grammar.analysis import Claim
from recollect.text.lexicon import FUNCTION_WORDS, PREPOSITIONS, PRONOUNS, STATES, word_set

_LONGEST = 240
_MOST_WORDS = 40
_MOST_VALUE_WORDS = 10
_MOST_PLAIN_WORDS = 3
_MOST_NAME_WORDS = 8

_BE = word_set("is are was were")
#: Relations with "in" or "at", or a fixed object, that have one value at a time, or ever.
_PLACED = word_set("works studies teaches trains serves died dies")
#: "the position of", "the language of": the one value follows.
_TAKING = word_set(
    "works worked plays played speaks spoke holds held writes wrote uses used practises practised "
    "practices practiced heads headed leads led represents represented"
)
#: Participles that end in neither -ed nor -en.
_PARTICIPLES = word_set("born built made led sung held bought sold known taught won famous")
#: Relations that can have several values at a time, or that pass quickly.
_OPEN_ENDED = word_set(
    """interested excited worried scared bored tired annoyed impressed involved obsessed addicted
    disappointed concerned pleased surprised stressed inspired motivated determined committed
    dedicated devoted confused ashamed embarrassed amazed thrilled delighted supposed used allowed
    expected needed required invited asked told given packed filled loaded covered surrounded
    prepared delayed cancelled done gone broken open eaten taken seen overwhelmed blessed
    frightened relaxed touched moved drained passionate intended meant hidden fed sorted planned
    mentioned shared posted added finished started driven drawn relieved honored honoured hooked
    stuck shocked blown reminded hurt injured forced talented gifted skilled experienced"""
)
#: "Ada is a citizen of France": kinds of membership of which a subject has one at a time.
_BELONGING = word_set("citizen resident native national student employee subject")
#: Nouns that are not attributes: "The best part of Rome is …".
_VAGUE = word_set(
    """best worst part thing things problem point reason way idea truth fact question answer
    rest matter trick issue goal plan hope dream secret beauty highlight moment day time news view
    result first next only one latest most biggest greatest kind lots lot end start beginning
    photo picture pic image story message example advice mood week weekend year month morning
    evening night weather thought thoughts feeling guess bet pleasure"""
)
#: With one of these, a sentence states more than a value, or less.
_DOUBT = re.compile(
    r"\b(?:not|never|no|longer|anymore|if|would|might|may|maybe|perhaps|almost|nearly|ex|former|"
    r"formerly|until|wish|seems?|probably|possibly|apparently|supposedly|like|so|very|too|just|"
    r"when|while|because|since|although|joking|kidding|but|which|who|than|there|here|both|also|"
    r"either|how|why|what|whose|whether|going|about)\b|n['’]t\b|[?;…\"“”«»()\[\]*_<>|=#@]|"
    r":(?!\d| [A-Z])"
)
_OPENS_DOUBT = re.compile(
    r"(?:If|When|While|Because|Since|Although|Maybe|Perhaps|Probably|Possibly|Apparently|Not|"
    r"Never|There|Here|How|Why|What|Which|Who|Whether|But|Also|Both)\b(?!(?:['’]s)? [A-Z])"
)
_NOW = re.compile(r"\b(?:now|currently|today|presently)\s+")
_NOW_AT_END = re.compile(r" (?:now|currently|today|these days)\Z")
_LEAD = re.compile(
    r"\A(?:(?:actually|btw|by the way|fyi)[ ,:!–—-]+|"
    r"(?:correction|update|well|oh|ok|okay|yes|no)[,:!–—-]+ *)+",
    re.IGNORECASE,
)
#: Lower-case words inside a name: "Council of People's Commissars", "Back to Black".
_INSIDE_NAMES = word_set(
    """of the and in to a an for on at by as with or from into over y e und et vs de la le les du
    des da di do dos das del della von van der den zu ter ten el al bin ibn bint ben"""
)
#: "In Porto" is not a name, whatever follows.
_OPENING = word_set("in on at from by to with during")
_POSSESSIVE = ("'s", "’s")
_NO_VALUE = (PRONOUNS | PREPOSITIONS | FUNCTION_WORDS) - {"the"}
_NO_COMMON = (
    _NO_VALUE
    | STATES
    | word_set("back correct incorrect right true false due over gone legit valid")
)
#: Adjectives that mark the present value of an attribute.
_NEWER = word_set("new current present latest")
_FAVOURITE = word_set("favourite favorite")
#: A sentence without one of these words has no frame.
VERBS = _BE | _PLACED | _TAKING


def find_frame(sentence: str, speaker: str | None) -> Claim | None:
    """Return the slot that a sentence fills, with its value, or None.

    `attribute` is the frame, in lower case, with `MASK` for its subject. `speaker` is the subject
    of "my".
    """
    if len(sentence) > _LONGEST:
        return None
    plain = _LEAD.sub("", " ".join(sentence.split()))
    plain = _NOW.sub("", plain.rstrip("! ").removesuffix("."))
    plain = _NOW_AT_END.sub("", plain)
    words = plain.split(" ")
    if not 3 <= len(words) <= _MOST_WORDS or _is_doubtful(plain):
        return None
    verb = _last_verb(words)
    if verb is None:
        return None
    # "Blue" is also a state, and "green" looks like a participle.
    favourite = not _FAVOURITE.isdisjoint(words[:verb])
    end, definite = (verb + 1, False) if favourite else _end_of_frame(words, verb)
    value = words[end:]
    if value and value[0] == "the":
        value = value[1:]
    single = _is_single(words, verb, end, definite)
    found = _subject(words[:verb], speaker, whole=single)
    if found is None:
        return None
    subject, frame = found
    of_noun = frame != [MASK] and words[verb] in ("is", "was")
    common = definite or (of_noun and end == verb + 1)
    nominal = _is_nominal(value, plain=common) or (favourite and len(value) == 1)
    if not (of_noun or single) or not nominal:
        return None
    if frame == [MASK] and not definite and words[0].islower() and subject != speaker:
        return None
    relation = ["is" if word in _BE else word for word in words[verb:end]]
    if relation[1:] in (["called"], ["named"]):
        relation = relation[:1]
    return Claim(subject, " ".join((*frame, *relation)), " ".join(value))


def _is_doubtful(plain: str) -> bool:
    # "Who Framed Roger Rabbit" and "Like a Prayer" are names.
    return _DOUBT.search(plain) is not None or _OPENS_DOUBT.match(plain) is not None


def _last_verb(words: Sequence[str]) -> int | None:
    """Return the index of the last finite verb; a capitalised word inside a sentence is a name."""
    for place in range(len(words) - 2, 0, -1):
        if words[place] in _BE or words[place] in _PLACED or words[place] in _TAKING:
            return place
    return None


def _end_of_frame(words: Sequence[str], verb: int) -> tuple[int, bool]:
    """Return where the value begins, and whether a noun before it gives its kind.

    The latter is so in "the city of London" and "the position of goalkeeper".
    """
    end = verb + 1
    if words[verb] in _BE and end < len(words) and _is_participle(words[end]):
        end += 1
    while end < len(words) and words[end] in PREPOSITIONS:
        end += 1
    for of in range(end + 2, min(end + 5, len(words) - 1)):
        if (
            words[of] == "of"
            and words[end] in ("the", "a", "an")
            and all(word.islower() for word in words[end:of])
        ):
            return of + 1, True
    return end, False


def _is_participle(word: str) -> bool:
    return (
        word.islower()
        and word not in _OPEN_ENDED
        and (word.endswith(("ed", "en")) or word in _PARTICIPLES)
    )


def _is_single(words: Sequence[str], verb: int, end: int, definite: bool) -> bool:
    """Whether a relation has one value at a time."""
    said = words[verb:end]
    if words[verb] in _BE:
        if len(said) > 2 and _is_participle(said[1]):
            return said[2] in PREPOSITIONS
        return definite and said[1] in ("a", "an") and said[-2] in _BELONGING
    if words[verb] in _TAKING and definite:
        return True
    return words[verb] in _PLACED and len(said) > 1 and said[1] in ("in", "at")


def _subject(
    left: Sequence[str], speaker: str | None, *, whole: bool
) -> tuple[str, list[str]] | None:
    """Return the subject of the slot, and the frame before the verb.

    `whole`: words that are not an attribute of anything may themselves be the subject.
    """
    lowers = [word.lower() for word in left]
    if lowers == ["i"]:
        return None if speaker is None or not whole else (speaker, [MASK])
    if lowers[0] in ("my", "our") and not _is_name(left[1:]):
        if speaker is None or not is_attribute(left[1:]):
            return None
        return speaker, [f"{MASK}'s", *bare(lowers[1:])]
    owner = next((n for n, word in enumerate(left) if word.endswith(_POSSESSIVE)), None)
    if owner is not None and owner + 1 < len(left) and left[owner + 1].islower():
        name = [*left[:owner], left[owner][:-2]]
        if _is_name(name) and is_attribute(left[owner + 1 :]):
            return " ".join(name), [f"{MASK}'s", *bare(lowers[owner + 1 :])]
    if lowers[0] == "the" and not (whole and _is_name(left[1:])):
        return _named_within(left)
    if not whole or len(left) > _MOST_NAME_WORDS or not _reads_as_name(left):
        return None
    if lowers[0] in FUNCTION_WORDS:
        # "Like a Prayer" may be a name; "It" and "In Porto" are not.
        rest = left[1:] if lowers[0] == "the" else left
        if len(left) == 1 or not _is_name(rest) or lowers[0] in _OPENING:
            return None
    return " ".join(left), [MASK]


def frame_of(noun: str) -> str:
    """Return the frame that a noun makes: "…'s shoe size is"."""
    return f"{MASK}'s {' '.join(bare(noun.split()))} is"


def bare(noun: Sequence[str]) -> Sequence[str]:
    """Return a noun without an adjective that marks its present value: "new boss" is "boss"."""
    return noun[1:] if len(noun) > 1 and noun[0] in _NEWER else noun


def _reads_as_name(words: Sequence[str]) -> bool:
    """Whether it has no pronoun, and no comma except inside a name ("Alice, Duchess of Kent")."""
    return PRONOUNS.isdisjoint(words) and not any(
        word.endswith(",") and following.islower()
        for word, following in zip(words, [*words[1:], ""], strict=True)
    )


def _named_within(left: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the one name in "the chairperson of Fatah", and the words around it."""
    capital = [n for n, word in enumerate(left) if n and not word.islower()]
    if not capital:
        return None
    first, last = capital[0], capital[-1]
    if first == 1 and "of" in left[2:last]:
        # "The Prime Minister of Sweden": an office is capitalised like a name.
        first = list(left).index("of") + 1
        around = [word.lower() for word in left[1 : first - 1]]
    else:
        around = [word for word in (*left[1:first], *left[last + 1 :]) if word != "the"]
    name = list(left[first : last + 1])
    if not _is_name(name) or not is_attribute(around):
        return None
    before, after = [word.lower() for word in left[:first]], list(left[last + 1 :])
    if name[-1].endswith(_POSSESSIVE):
        name[-1] = name[-1][:-2]
        return " ".join(name), [*before, f"{MASK}'s", *after]
    return " ".join(name), [*before, MASK, *after]


def is_attribute(noun: Sequence[str]) -> bool:
    """Whether lower-case words are an attribute with one value."""
    return (
        0 < len(noun) <= 8
        and all(word.islower() and "," not in word for word in noun)
        and _VAGUE.isdisjoint(noun)
        and PRONOUNS.isdisjoint(set(noun) - {"that"})
    )


def _is_name(words: Sequence[str]) -> bool:
    return (
        bool(words)
        and not words[0].islower()
        and all(not word.islower() or word in _INSIDE_NAMES for word in words)
    )


def _is_nominal(value: Sequence[str], *, plain: bool) -> bool:
    """Whether words are a name, a number or, if `plain`, a noun phrase."""
    if not 0 < len(value) <= _MOST_VALUE_WORDS or value[0].lower() in _NO_VALUE:
        return False
    if not _reads_as_name(value):
        return False
    if _is_name(value):
        return True
    return (
        plain
        and len(value) <= _MOST_PLAIN_WORDS
        and all(word not in _NO_COMMON and not word.endswith(("ing", "ly", "ed")) for word in value)
    )
