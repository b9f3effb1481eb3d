"""States that have ended: a state in an earlier message that a later one says is over.

"My sister is in hospital" ends with "My sister is home." An illness ends by recovery, a fault by
repair, a search by finding, and a move by having moved. Past events, and plans for a day, are not
affected. The sentence itself must name whose state it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from recollect.streams.language.grammar.reported import is_reported, reported
from recollect.streams.language.relations.corrections import Corrected, Earlier
from recollect.streams.language.relations.denials import stems
from recollect.streams.language.relations.given_values import Value
from recollect.text.lexicon import word_set
from recollect.text.sentences import sentences
from recollect.text.word_patterns import any_of

Kind = Literal["away", "ill", "broken", "sought", "moving"]

#: A state that was mentioned longer ago may not be the one that ended.
_WITHIN_MS = 90 * 86_400_000

_NOW = (
    r"(?: (?:finally|now|back|already|safely|all|both|officially|still|just|currently|really|very|"
    r"so|quite|pretty|completely|fully|much|at last))*"
)
_BE = rf"(?:['’](?:s|m|re|ve been)| (?:is|am|are|has been|have been)){_NOW}"
#: The only words that may follow; with others, it is about the future or about something else.
_END = r"(?=\W*\Z|[.,;!?:()–—]| and\b| but\b| so\b| thank| since\b| today\b| again\b| now\b)"
_I = r"\b(?:i|we)(?:['’]?(?:ve|m|re)| have| am| are)?"


class _Kind(NamedTuple):
    """How a state and its end are expressed; the owner precedes the verb.

    `own`: the state is the speaker's, and its object, if any, follows the verb.
    """

    kind: Kind
    state: re.Pattern[str]
    end: re.Pattern[str]
    own: bool = False


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_KINDS = (
    _Kind(
        "away",
        _pattern(
            rf"{_BE} (?P<said>(?:in|at) (?:the |an? )?(?:hospital|clinic|icu|intensive care|"
            r"rehab|quarantine))\b(?! (?:on|next|from)\b)",
            rf"{_BE} (?P<gone>away|abroad|overseas|on (?:holiday|vacation|"
            r"(?:sick |maternity )?leave|(?:an? )?(?:business )?trip))\b"
            r"(?! (?:from|on|next|in|until|till|for)\b)",
        ),
        _pattern(
            rf"{_BE} (?:home|back)(?: (?:home|again|now|safe(?:ly)?|"
            rf"from (?:the |her |his |my |our )?(?:hospital|clinic|holiday|vacation|trip|leave)|"
            rf"at (?:work|home|school)|in town))*{_END}",
            rf"{_BE} (?:out of (?:the )?(?:hospital|clinic|icu|rehab|quarantine)|discharged){_END}",
        ),
    ),
    _Kind(
        "ill",
        _pattern(
            rf"{_BE} (?P<said>ill|sick|unwell|off sick|down with [\w ]{{2,20}})\b(?! (?:of|and)\b)",
            r" (?:has|have|['’]ve)(?: got)? (?:the |an? )?(?:\w+ )?(?P<held>flu|cold|covid|fever|"
            r"bronchitis|pneumonia|bug|migraine|chickenpox|measles)\b",
        ),
        _pattern(
            rf"{_BE} (?:(?:all|completely) better|better (?:now|again)|recovered|cured|"
            rf"(?:well|healthy|fit|fine) again|over (?:it|the flu|the cold|covid)|back at "
            rf"(?:work|school)|on (?:her|his|my|their|our) feet again){_END}",
            rf" (?:has|have|['’]ve){_NOW} (?:fully |completely )?recovered{_END}",
        ),
    ),
    _Kind(
        "broken",
        _pattern(
            rf"{_BE} (?P<said>broken|down|out of order|leaking|dripping|dead|offline|blocked|"
            r"jammed|faulty|cracked|not working|closed|clogged)\b"
            r"(?! (?:to|for|from|on|at|until|with)\b)",
            r" (?:does not|doesn['’]t|do not|don['’]t|won['’]t|stopped) "
            r"(?P<held>work|working|start)\b(?! (?:for|with|on|at|as)\b)",
        ),
        _pattern(
            rf"{_BE} (?:fixed|repaired|mended|replaced|sorted(?: out)?|solved|resolved|"
            rf"(?:working|running|open) again|reopened|back (?:up|online)|up again|"
            rf"up and running(?: again)?){_END}",
            rf" (?:works|runs|work|run|starts|start) again{_END}",
            rf" (?:reopened|got (?:fixed|repaired|mended)){_END}",
        ),
    ),
    _Kind(
        "sought",
        _pattern(
            rf"{_I}{_NOW} (?P<said>looking for|searching for|hunting for) "
            r"(?:an? |another )(?P<of>[^,.;:!?()\n]{2,40})"
        ),
        _pattern(
            rf"{_I}{_NOW} (?:found|hired|bought|adopted) (?:an? |the |my |our |another )"
            r"(?P<of>[^,.;:!?()\n]{2,40})"
        ),
        own=True,
    ),
    _Kind(
        "moving",
        _pattern(
            rf"{_I}{_NOW} (?P<said>moving out|moving house|moving)"
            r"(?: (?:in)?to (?P<of>[^,.;:!?()\n]{2,40}))?(?=\W*\Z|[.,;!?:()]| and\b| soon\b)",
            r"\b(?:i|we)(?: \w+ly)? live (?P<held>with (?:an? |two |three |my |some )?(?:\w+ )?"
            r"(?:man|woman|guy|roommates?|flatmates?|housemates?|stranger)s?)\b",
        ),
        _pattern(
            rf"(?:{_I}{_NOW} |\A(?:(?:ok|okay|yes|finally|all)[,!]? )*)"
            rf"moved (?:in|out|house){_END}",
            rf"{_I}{_NOW} moved (?:in)?to (?P<of>[^,.;:!?()\n]{{2,40}})",
            r"\b(?:i|we)(?: now)? live (?:in|at|on) (?P<now>[^,.;:!?()\n]{2,40}?) now\b",
        ),
        own=True,
    ),
)
_CUE = re.compile(
    any_of(
        r"(?:s|m|re|is|am|are|been)(?: [a-z]+){0,2} (?:home|back|out of|better|over|up|on|well|"
        r"fit|fine|healthy|open|working|running)|discharged|recovered|cured|fixed|repaired|mended|"
        r"replaced|sorted|solved|resolved|reopened|(?:works?|runs?|starts?) again|found|hired|"
        r"bought|"
        r"adopted|moved|live [^,.;:!?]{2,50} now"
    )
    + r"\b"
)
#: A hope, a request, a report or a negation ends no state; nor is a possible state one.
_SUPPOSED = re.compile(
    r"\b(?:if|when|once|until|till|unless|whether|hope(?:s|fully)?|as soon as|after|before|by the "
    r"time|wish|almost|nearly|not yet|never|maybe|perhaps|may|might|should|would|could|will|"
    r"used to|was|were|had|dreamt|as if|like)\b|\b(?:isn|aren|hasn|haven)['’]t\b|['’]ll\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.!?()–—]|\b(?:and|but|so|because|that|who|which|since|though)\b", re.I)
#: Phrases after a noun: where it is, what for, or when.
_FURTHER = re.compile(
    r" (?:near|in|for|with|at|on|by|that|to|who|from|of|close|next|after|yesterday|today|now|last|"
    r"this|already|finally|again|soon|and|or|which|where|so|because)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_OWN = re.compile(r"(?:\A|\s)(?:i|we)\Z", re.IGNORECASE)
#: These refer to somebody mentioned before.
_OTHERS = word_set("he she it they you this that there here everything everyone who what")
_MOST_WORDS = 6


class Over(Struct, frozen=True):
    """A sentence says that a state is over.

    `about` are the stems of its owner, empty for the speaker. `of` are the stems of what was found,
    or of the place moved to; `named`: it can only end a state with the same object.
    """

    start: int
    end: int
    kind: Kind
    about: frozenset[str]
    of: frozenset[str]
    named: bool


def find_over(text: str) -> list[Over]:
    """Return the states that a message says are over; for most messages, none."""
    if _CUE.search(text.lower()) is None:
        return []
    found: list[tuple[Over, int]] = []
    for start, end in sentences(text):
        sentence = text[start:end]
        if "?" in sentence or _CUE.search(sentence.lower()) is None:
            continue
        for each in _KINDS:
            match = each.end.search(sentence)
            if match is None or _SUPPOSED.search(sentence, 0, match.end()):
                continue
            about = frozenset[str]() if each.own else _whose(sentence[: match.start()])
            if about is not None:
                what = {name: _named(said) for name, said in match.groupdict().items() if said}
                of = next(iter(what.values()), frozenset())
                one = Over(start, end, each.kind, about, of, "of" in what)
                found.append((one, start + match.start()))
                break
    others = reported(text) if found else []
    return [one for one, place in found if not is_reported(others, place)]


def was_so(over: Over, earlier: Sequence[Earlier]) -> Iterator[Corrected]:
    """Yield the earlier mentions of the state that is over, the nearest first."""
    (kind,) = (each for each in _KINDS if each.kind == over.kind)
    for distance, message in enumerate(earlier):
        own = message.same_sender
        if message.age_ms > _WITHIN_MS or ((not over.about or message.elsewhere) and not own):
            continue
        others = reported(message.text)
        for start, end in sentences(message.text):
            sentence = message.text[start:end]
            match = kind.state.search(sentence)
            if match is None or "?" in sentence or is_reported(others, start + match.start()):
                continue
            if _SUPPOSED.search(sentence, 0, match.end()) is None and _is_of(over, kind, match):
                said = next(filter(None, map(match.groupdict().get, ("said", "gone", "held"))))
                yield Corrected(distance, (Value("words", said.lower(), said),), start, end)


def _is_of(over: Over, kind: _Kind, state: re.Match[str]) -> bool:
    """Whether a mentioned state is the one that is over."""
    if not kind.own:
        about = _whose(state.string[: state.start()])
        if about is None or not about or not over.about:
            return about is not None and about == over.about
        return about <= over.about or over.about <= about
    if state["of"] is None:
        return not over.named
    return _named(state["of"]) == over.of


def _named(phrase: str) -> frozenset[str]:
    """Return the stem of a phrase's head, such as "flat" in "a flat near the park"."""
    words = _FURTHER.sub("", f" {phrase}").split()
    return stems(words[-1]) if words else frozenset()


def _whose(before: str) -> frozenset[str] | None:
    """Return the stems of the preceding subject, empty for the speaker; None if unknown."""
    clause = _CLAUSE.split(before)[-1].strip()
    words = clause.lower().split()
    if not words or len(words) > _MOST_WORDS or words[-1] in _OTHERS:
        return None
    if _OWN.search(clause):
        return frozenset()
    return stems(clause) or None
