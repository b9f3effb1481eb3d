"""Corrections: what a message takes back of an earlier message, and of which.

"Room 102, not Room 101.", "We are moving it from Monday to Tuesday.", "It is at 18:30 instead." A
correction has a cue, and a value of a kind of which an earlier message gives another: a day, a
time, a number with its unit. The earlier message is found mainly by the value that is taken back,
or else by shared words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from msgspec import Struct

from recollect.streams.language.grammar.reported import Span, is_reported, reported
from recollect.streams.language.relations.content_words import content_words, stemmed
from recollect.streams.language.relations.given_values import Value, is_among, values_in
from recollect.text.lexicon import FUNCTION_WORDS, word_set
from recollect.text.sentences import sentences
from recollect.text.word_patterns import any_of

#: The number of earlier messages of the conversation that are searched.
LOOKED_THROUGH = 40
#: In other conversations: the maximum age, in ms, of the same person's messages.
_ELSEWHERE_WITHIN_MS = 14 * 86_400_000

_CUE = re.compile(
    any_of(
        r"actually|correction|typo|misread|i meant|i mean|scratch that|disregard|instead|edit|"
        r"rather than|"
        r"postponed?|extended|prolonged|lowered|raised|increased|reduced|after all|as of|"
        r"change(?=:)|"
        r"(?:gate|platform|room|time|date|venue|schedule|small|slight|quick|last[- ]minute) change|"
        r"relocated|bumped (?:to|up|back)|put (?:back|off|forward)|mistaken|correct (?:myself|"
        r"that)|"
        r"(?:went|goes|gone|going) (?:up|down) to|can(?:['’]?t|not) (?:make|do)|"
        r"new (?:start|starting|opening|end|departure|meeting) (?:time|date|point)|"
        r"now (?:leav|start|begin|meet|depart|open|clos|end|cost|tak|run|happen)\w*|"
        r"had (?:\w+ ){1,3}wrong|ignore (?:my|the) (?:last|previous|earlier)|switch(?:es|ed|"
        r"ing)? to|"
        r"sorry(?=\W*\Z)|(?:no|sorry)(?=, )|"
        r"re-?scheduled|slipped|delayed|pushed (?:back|out|to|from)|brought forward|"
        r"mov(?:e|es|ed|ing)\b(?=.*\b(?:to|from)\b)|change of plans?|(?:small |quick )?update|"
        r"chang(?:ed|ing)|from now on|misspoke|mixed (?:it |them |that )?up|i was wrong|"
        r"got \w+ wrong|"
        r"my mistake|my bad|turns out|make (?:that|it)|no wait|wait|oops|nope|"
        r"in fact|no longer|not|any ?more|down to|up to|"
        r"(?:is|it['’]s|are) now|now (?:on|at|in)|new (?:room|time|date|day|place|venue|location)|"
        r"(?:now|it is)(?=[.,!]|\Z)"
    )
    + r"\b",
)
#: What follows is taken back; of "from … to", the first value is.
_TAKEN_BACK = re.compile(
    r"(?:\b(?:and |but )?\bnot(?: be)?|\bcan(?:['’]?t|not) (?:make|do)(?: it)?|n['’]t be|"
    r"\binstead of|\brather than|\bno longer|"
    r"\bno more)\s+(?:(?:on|in|at|the|for|by|until)\s+)*(?P<old>(?:(?!\bbut\b)[^.,;:!?()\n])+)"
    r"|\bfrom\s+(?P<was>[^.;:!?()\n]{1,60}?)\s+to\s",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:mov(?:e|es|ed|ing)|postponed?|re-?scheduled|chang(?:ed|ing)|pushed|slipped)\b",
    re.IGNORECASE,
)
#: Cues that by themselves show that the same speaker's last value of the kind was wrong.
_PLAINLY = re.compile(
    r"\b(?:actually|correction|i meant|scratch that|make that|make it|no wait|oops|edit|misspoke|"
    r"mixed (?:it |them |that )?up|i was wrong|had (?:\w+ ){1,3}wrong|my mistake|typo|turns out|"
    r"my bad|(?:gate|platform|room) change)\b",
    re.IGNORECASE,
)
#: The same, in a short message: "No, page 21."
_BRIEFLY = re.compile(r"\bno(?=, )|\bsorry\b(?=, |\W*\Z)", re.IGNORECASE)
_BRIEF_WORDS = 4
#: The minimum number of spaces in a sentence whose pronoun may refer to something before it.
_POINTING_WORDS = 4
#: A clock time, not an appointment: "It's actually 18:30 here."
_CLOCK = re.compile(r"\b(?:here|already|now|only|o'clock here)\b", re.IGNORECASE)
#: "Sorry, 10:15 doesn't work" gives no other time.
_DENIES = re.compile(r"\bnot\b|n['’]t\b", re.IGNORECASE)
#: The maximum distance, in messages, to such a value.
_JUST_BEFORE = 8
_BARE = re.compile(r"\d+(?:[.,]\d+)?")
#: Words that repeat a value rather than change it.
_STILL = re.compile(r"\b(?:same|still)(?: on| at| in| the)* ?\Z", re.IGNORECASE)
#: Nouns for counted people identify the topic, unlike units.
_WHO = frozenset({"people", "guest", "seat"})
_OWNER = re.compile(
    r"\b(?P<whose>(?!today|tomorrow|tonight|yesterday)[^\W\d_]+(?=['’]s )|my|our|first|second|"
    r"third|fourth|last|other|upper|lower)(?:['’]s)? (?P<what>[^\W\d_]+)",
    re.IGNORECASE,
)
_MINE = frozenset({"my", "our"})
_TODAY = frozenset({"today", "tonight", "yesterday", "tomorrow", "last night", "this morning"})


class Correction(Struct, frozen=True):
    """A sentence that takes something back: its new values, and those that no longer hold."""

    start: int
    end: int
    values: tuple[Value, ...]
    taken_back: tuple[Value, ...]
    words: frozenset[str]
    #: Just a value: it replaces the same speaker's last value of its kind.
    alone: bool = False
    #: The thing and its owner.
    owners: frozenset[tuple[str, str]] = frozenset()
    #: The topic is not named: "Actually it's 18:30."
    bare: bool = False


class Earlier(Struct, frozen=True):
    """An earlier message: its text, its time, and whether it is by the same person.

    `elsewhere`: it is in another conversation; `age_ms`: its age.
    """

    text: str
    at_ms: int
    utc_offset: int
    same_sender: bool
    elsewhere: bool = False
    age_ms: int = 0

    def is_near(self) -> bool:
        """Whether restated values may refer to it: it is in this conversation, or recent."""
        return not self.elsewhere or self.age_ms <= _ELSEWHERE_WITHIN_MS


def find_corrections(text: str, at_ms: int, utc_offset: int) -> list[Correction]:
    """Return the corrections in a message; for most messages, none."""
    if _CUE.search(text.lower()) is None:
        return []
    others = reported(text)
    found: list[Correction] = []
    hinted = False
    for start, end in sentences(text):
        sentence = text[start:end]
        cued = _CUE.search(sentence.lower()) is not None
        if (cued or hinted) and "?" not in sentence:
            values = [
                (value, place)
                for value, place in values_in(sentence, at_ms, utc_offset)
                if not is_reported(others, start + place)
            ]
            if made := correction_in(text, start, end, values):
                found.append(made)
        # "Correction! Room 102.": the cue is a sentence of its own.
        hinted = cued and end - start <= 24
    return found


def correction_in(
    text: str, start: int, end: int, values: Sequence[tuple[Value, int]]
) -> Correction | None:
    """Return the correction in a sentence; `values` are its values with their positions."""
    sentence = text[start:end]
    denied = _taken_back(sentence)
    old = [value for value, place in values if _is_inside(denied, place)]
    old += _bare_numbers(sentence, denied, values)
    new = tuple(
        value
        for value, place in values
        if not is_among(value, old)
        and value.text.lower() not in _TODAY
        and not _STILL.search(sentence, max(0, place - 12), place)
    )
    kinds = {value.kind for value in new}
    taken = tuple(value for value in dict.fromkeys(old) if value.kind in kinds)
    if not new or (_only_denies(sentence) and not taken):
        return None
    things = _what_is_counted(new)
    words = content_words(sentence) - things
    plainly = _PLAINLY.search(sentence) is not None or _PLAINLY.search(text, 0, start) is not None
    if len(sentence.split()) <= _BRIEF_WORDS:
        plainly = plainly or _BRIEFLY.search(sentence) is not None
    alone = plainly and not words and _CLOCK.search(sentence) is None
    alone = alone and (bool(taken) or _DENIES.search(sentence) is None)
    bare = not words
    if len(words) < 2:
        words |= content_words(text) - things
    words = (words - _TIMETABLE) or words
    return Correction(start, end, new, taken, words, alone, _owners(sentence), bare)


def _what_is_counted(values: Sequence[Value]) -> frozenset[str]:
    """Return the words that only name a unit or kind: "euros" does not relate two prices."""
    kinds = (value.kind.partition(" ")[2] for value in values if " " in value.kind)
    return content_words(" ".join(kinds)) - _WHO


def _owners(sentence: str) -> frozenset[tuple[str, str]]:
    """Return the owners or ordinals of the things in a sentence: "Otto's lesson"."""
    return frozenset(
        (match["what"].lower(), match["whose"].lower())
        for match in _OWNER.finditer(sentence)
        if match["whose"].lower() in _MINE or match["whose"].lower() not in FUNCTION_WORDS
    )


def _is_of_another(correction: Correction, sentence: str, *, same_sender: bool) -> bool:
    """Whether two sentences are about different people's things, or different ones of several."""
    owners = _owners(sentence)
    return any(
        what == other
        and whose != another
        and (what, whose) not in owners
        # "My" of two people may refer to anybody.
        and (same_sender or _MINE.isdisjoint((whose, another)))
        for what, whose in correction.owners
        for other, another in owners
    )


def _bare_numbers(
    sentence: str, denied: Sequence[Span], values: Sequence[tuple[Value, int]]
) -> list[Value]:
    """Return the values that are taken back as bare numbers: "14 kg, not 12"."""
    counted = {value.kind for value, place in values if not _is_inside(denied, place)}
    kinds = sorted(kind for kind in counted if kind.startswith(("amount", "count", "numbered")))
    if len(kinds) != 1:
        return []
    said = (_BARE.fullmatch(sentence[start:end].strip()) for start, end in denied)
    return [Value(kinds[0], number[0].replace(",", "."), number[0]) for number in said if number]


def _taken_back(text: str) -> list[Span]:
    """Return the values taken back: "not on Friday"; of "moves from A to B", the first one."""
    return [
        match.span("old" if match["was"] is None else "was")
        for match in _TAKEN_BACK.finditer(text)
        if match["was"] is None or _MOVED.search(text) is not None
    ]


def _is_inside(spans: Sequence[Span], place: int) -> bool:
    return any(start <= place < end for start, end in spans)


def _only_denies(sentence: str) -> bool:
    """Whether a denial is the only sign of a correction, which does not suffice."""
    cues = {match.group() for match in _CUE.finditer(sentence.lower())}
    return bool(cues) and cues <= {"not", "no longer"}


class Corrected(NamedTuple):
    """The corrected message, counted from the nearest, and which part of it ends."""

    distance: int
    values: tuple[Value, ...]
    start: int
    end: int


def corrected(correction: Correction, earlier: Sequence[Earlier]) -> Corrected | None:
    """Return which earlier message a correction corrects; `earlier`: the nearest first."""
    best: tuple[float, Corrected] | None = None
    new, back = correction.values, correction.taken_back
    kinds = {value.kind for value in new}
    for distance, message in enumerate(earlier):
        if not message.is_near() or (message.elsewhere and not back):
            continue
        in_message = len(correction.words & content_words(message.text))
        if not in_message and not (back and message.same_sender):
            continue  # no connection
        everything = values_in(message.text, message.at_ms, message.utc_offset, kinds)
        places = [each for each in everything if each[0].kind == "place"]
        denied = _taken_back(message.text)
        said = [
            (value, place)
            for value, place in everything
            if value.kind in kinds and not _is_inside(denied, place)
        ]
        if not said:
            continue
        for start, end in sentences(message.text):
            given = [value for value, place in said if start <= place < end]
            others = [value for value in given if not is_among(value, new)]
            named = [value for value in others if is_among(value, back)]
            if not others or (back and not named) or (len(others) < len(given) and not named):
                continue
            if not named and any(value.kind.startswith("count") for value in others):
                continue  # two numbers for one thing may both be right
            sentence = message.text[start:end]
            if _is_of_another(correction, sentence, same_sender=message.same_sender):
                continue
            about = content_words(sentence)
            if "place" not in kinds:
                # "The canteen closes at two now" is not about the lunch "at the canteen".
                about -= content_words(
                    " ".join(each.text for each, at in places if start <= at < end)
                )
            shared = len(correction.words & about)
            # In another conversation, much may be on the same day: only the thing itself identifies
            # it.
            if message.elsewhere and not shared:
                continue
            if not _is_linked(shared, in_message, message.same_sender, others, bool(named)):
                continue
            score = 3.0 * bool(named) + min(shared, 4) + 0.3 * min(in_message, 4)
            score += 0.5 * message.same_sender - 0.05 * distance
            if best is None or score > best[0]:
                best = (score, Corrected(distance, tuple(named or others), start, end))
    if best is None and correction.alone and not back:
        here = [message for message in earlier[:_JUST_BEFORE] if not message.elsewhere]
        return _said_last(kinds, new, here)
    return None if best is None else best[1]


def _said_last(
    kinds: Set[str], new: Sequence[Value], earlier: Sequence[Earlier]
) -> Corrected | None:
    """Return the same speaker's last sentence that gives a different value of a kind."""
    for distance, message in enumerate(earlier):
        if not message.same_sender:
            continue
        said = values_in(message.text, message.at_ms, message.utc_offset, kinds)
        said = [(value, place) for value, place in said if value.kind in kinds]
        for start, end in reversed(sentences(message.text)):
            given = [value for value, place in said if start <= place < end]
            if given:
                plain = len(given) == 1 and "?" not in message.text[start:end]
                other = plain and not is_among(given[0], new)
                return Corrected(distance, tuple(given), start, end) if other else None
    return None


def says_what(
    values: Sequence[Value], text: str, at_ms: int, utc_offset: int
) -> tuple[int, int] | None:
    """Return the sentence of a message that gives one of some values and names its topic."""
    said = values_in(text, at_ms, utc_offset, {value.kind for value in values})
    given = [(value, place) for value, place in said if is_among(value, values)]
    if not given:
        return None
    others = reported(text)
    things = _what_is_counted(values)
    for start, end in sentences(text):
        sentence = text[start:end]
        here = any(start <= place < end and not is_reported(others, place) for _, place in given)
        if not here or "?" in sentence:
            continue
        # "You can see it at six": the topic is named before.
        points = sentence.count(" ") >= _POINTING_WORDS and content_words(text[:start]) - things
        if content_words(sentence) - things or points:
            return start, end
    return None


def _is_linked(
    shared: int, in_message: int, same_sender: bool, others: Sequence[Value], named: bool
) -> bool:
    """Whether an earlier sentence has the topic of the correction.

    `shared`, `in_message`: how many words the correction shares with it and with its message.
    """
    if named:
        return same_sender or in_message > 0
    if same_sender and in_message and all(value.kind.startswith("amount") for value in others):
        return True
    return shared > 0 and (same_sender or in_message > 1)


#: "The film starts at 14:00 now" is not about the picnic that starts at 13:00; the same for prices.
_TIMETABLE = frozenset(
    stemmed(
        word_set(
            "start starts starting begin begins leave leaves depart departs open opens close "
            "closes end ends arrive arrives finish finishes cost costs weigh weighs"
        )
    )
)
