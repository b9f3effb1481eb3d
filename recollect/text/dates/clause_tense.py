"""Whether a clause is about the past or the future."""

from __future__ import annotations

from recollect.text.dates.date_tokens import word_at, word_before
from recollect.text.lexicon import BE_PRESENT, FUTURE, NOT_PAST, PAST, word_set
from recollect.text.tokenizer import Tokens

#: One of these separates clauses.
_CONTRAST = frozenset({"but", "because", "although", "though", "so", "whereas", "while"})
# Verbs of rescheduling: "moved to Monday" gives the new day, whenever the move was made.
_RESCHEDULING = frozenset(
    stem + ending
    for stems, endings in (
        ("slip", ("", "s", "ped", "ping")),
        ("push shift delay bump extend prolong defer adjourn switch", ("", "s", "ed", "ing")),
        ("mov reschedul postpon rearrang chang advanc", ("e", "es", "ed", "ing")),
        ("defer", ("red", "ring")),
        ("switch push", ("es",)),
        ("rebook", ("", "s", "ed", "ing")),
    )
    for stem in stems.split()
    for ending in endings
)
#: These reschedule only together with a word of direction ("brought forward", "put off").
_RESCHEDULING_PAIRED = word_set(
    "bring brings brought bringing put puts putting pull pulls pulled set"
)
_RESCHEDULING_WAYS = frozenset({"forward", "forwards", "back", "off", "up", "out", "in"})
#: Words that may stand between "to" and the day.
_ABOUT = frozenset({"the", "around", "about", "approximately", "roughly", "early", "late", "mid"})
#: In the present tense, these verbs refer to the future: "Our lease ends in November".
_TO_BE = word_set(
    "renews expires starts begins opens closes reopens resumes arrives departs returns finishes "
    "retires launches turns"
)
#: Before a day, these give the time at which something was moved, not its new day.
_WHEN = word_set("on in since at during after before by last this around over")
_PLANNED = word_set("scheduled planned booked rescheduled arranged slated postponed set confirmed")
#: With one of these, a past form expresses a plan, whose day may be in the future.
_PLAN_WORDS = word_set("deadline due supposed originally scheduled planned expected slated target")
#: The past of these verbs looks like the present; it is the past after a subject: "he quit".
_SAME_IN_PAST = word_set("quit split hurt cut put hit shut burst upset")
_SUBJECTS = word_set("i we you he she it they")
#: These are adjectives, too; they are the past of verbs before a word of time: "Tom retired in".
_ADJECTIVES_TOO = word_set("retired married united advanced")
_BEFORE_ADJECTIVES = word_set("be being been get gets getting a an the my our his her their will")
# Verbs of arranging: "signed up for the class on 10 May" gives the day of the class. Those of the
# second kind arrange only together with a word of what is arranged: "got tickets".
_ARRANGING = word_set(
    """booked reserved registered enrolled enroled scheduled arranged planned organised organized
    invited"""
)
_GETTING = word_set("got bought made secured grabbed scored received")
_ARRANGED = word_set(
    """ticket tickets appointment reservation booking slot slots spot spots seat seats place places
    invitation invite"""
)
_CALLING_OFF = word_set("cancelled canceled closed suspended confirmed fixed")
#: Verbs of agreeing: "agreed to meet on 10 May" gives the day of the meeting.
_AGREEING = word_set("agreed promised offered decided volunteered arranged planned signed")
#: After these, "to" is a preposition: "agreed to the terms".
_DETERMINERS = word_set("the a an this that these those my your his her its our their")
#: "We stayed until Sunday" is over; "the office closed until Monday" is not.
_LASTED = word_set("was were stayed waited worked lasted had ran lived slept kept sat")
#: The clause is certainly, or probably, past. 1 is a future clause, 0 an unknown one.
SURELY, _PERHAPS = -2, -1


def direction_of(tokens: Tokens, left: int, right: int) -> int:
    """Return a negative number if the surrounding clause is past, 1 if future, 0 if unknown.

    The nearest verb before the reference decides, or else the nearest one after it.
    """
    lowers = tokens.lowers
    before = "" if lowers[left].endswith("'s") else word_before(tokens, left)
    goal = _goal(tokens, left)
    apart = False  # a comma stands between
    fragment = _is_fragment(tokens, left, right)
    for index in range(left - 1, max(left - 15, -1), -1):
        gap = tokens.gap(index)
        if not fragment and any(mark in ".!?\n" for mark in gap):
            break
        lower = lowers[index]
        if lower in _CONTRAST or (":" in gap and word_at(tokens, index + 1) in _SUBJECTS):
            break
        if goal and (lower in _RESCHEDULING or _moves_with(lowers, index, left)):
            return 1
        if before == "for" and lower in _PLANNED:
            again = lower in _RESCHEDULING
            was = word_at(tokens, index - 1) in ("was", "were", "been")
            return _PERHAPS if was and not again else 1
        if (
            before in ("until", "till", "til")
            and lower not in _LASTED
            and _tense(lowers, index) < 0
        ):
            return 1
        apart = apart or "," in gap
        if lower in BE_PRESENT:
            return 0
        tense = _tense(lowers, index)
        if tense < 0 and lower in _RESCHEDULING and before not in _WHEN | {lower}:
            return 0  # "moved the talk of Monday": its original day
        if tense < 0 and (arranged := _arranges(lowers, index, left)):
            return arranged
        if tense < 0 and (apart or _is_plan(lowers, index, left)):
            return _PERHAPS
        is_label = ":" in tokens.gap(left - 1) and index == left - 1
        if tense < 0 and (is_label or _calls_off(lowers, index)):
            return _PERHAPS
        if tense:
            return 1 if tense < 0 and _under_future(lowers, index) else tense
    opens = left == 0 or any(mark in ".!?\n" for mark in tokens.gap(left - 1))
    for index in range(right, min(right + 11, len(lowers))):
        gap = tokens.gap(index - 1)
        if any(mark in ".!?\n" for mark in gap) or lowers[index] in _CONTRAST:
            break
        if "," in gap and not opens:
            break  # another clause follows
        if lowers[index] == "got" and gap != " " and word_at(tokens, index + 1) in ("it", "that"):
            break  # "Monday, got it."
        if index == right and lowers[index] in BE_PRESENT and word_at(tokens, index + 1) != "when":
            return 0
        if tense := _tense(lowers, index):
            return tense
    return 0


def _is_fragment(tokens: Tokens, left: int, right: int) -> bool:
    """Whether a reference is a sentence of its own, about the previous one: "Lost it. Friday."."""
    if left == 0 or not any(mark in ".!?" for mark in tokens.gap(left - 1)):
        return False
    rest = tokens.text[tokens.ends[right - 1] :][:2].strip()
    return right == len(tokens.lowers) or rest[:1] in (".", "!", "?")


def _under_future(lowers: list[str], index: int) -> bool:
    """Whether this is the future perfect: "I'll have it done", "you will have seen it"."""
    before = lowers[max(index - 5, 0) : index]
    return any(each.endswith("'ll") or each in ("will", "shall", "gonna") for each in before)


def is_present(tokens: Tokens, left: int) -> bool:
    """Whether "is" or "are" is the verb of the clause before a reference."""
    for index in range(left - 1, max(left - 15, -1), -1):
        if any(mark in ".!?\n" for mark in tokens.gap(index)):
            return False
        if tokens.lowers[index] in BE_PRESENT:
            return True
        if _tense(tokens.lowers, index):
            return False
    return False


def _goal(tokens: Tokens, left: int) -> bool:
    """Whether "to" or "until" leads to the reference."""
    at = left - 1
    while at > left - 4 and word_at(tokens, at) in _ABOUT:
        at -= 1
    return word_at(tokens, at) in ("to", "until", "till", "til")


def _moves_with(lowers: list[str], index: int, left: int) -> bool:
    """Whether a verb and its particle reschedule: "brought forward", "put off"."""
    return lowers[index] in _RESCHEDULING_PAIRED and not _RESCHEDULING_WAYS.isdisjoint(
        lowers[index + 1 : left]
    )


def _is_plan(lowers: list[str], index: int, left: int) -> bool:
    return not _PLAN_WORDS.isdisjoint(lowers[max(index - 6, 0) : left])


def _calls_off(lowers: list[str], index: int) -> bool:
    """Whether a participle without a subject before it calls off something that may be ahead."""
    return lowers[index] in _CALLING_OFF and _SUBJECTS.isdisjoint(lowers[max(index - 3, 0) : index])


def _arranges(lowers: list[str], index: int, left: int) -> int:
    """Return the direction of a reference whose verb, in the past, arranges something; 0 if none.

    The day of "booked a room for the conference on 10 May" is surely that of the conference; the
    day of "booked a room on 10 May", and the month of "registered in May", only probably.
    """
    verb, rest = lowers[index], lowers[index + 1 : left]
    agreed = rest[rest.index("to") + 1 :] if verb in _AGREEING and "to" in rest else []
    if agreed and agreed[0] not in _DETERMINERS:
        return 1
    signs_up = verb == "signed" and "up" in rest[:2]
    gets = verb in _GETTING and not _ARRANGED.isdisjoint(rest)
    if not (verb in _ARRANGING or signs_up or gets) or set(rest) <= {"up", "on", "in"}:
        return 0
    is_for_something = not {"for", "to", "with"}.isdisjoint(rest)
    return 1 if is_for_something and rest[-1] != "in" else _PERHAPS


def _tense(lowers: list[str], index: int) -> int:
    lower = lowers[index]
    if lower == "due" and index and lowers[index - 1] in ("was", "were"):
        return 0  # a plan, whose day may be over
    if lower in FUTURE or lower in _TO_BE or lower.endswith("'ll"):
        return 1
    if (lower in PAST or lower.endswith("ed")) and _is_causative(lowers, index):
        return 1
    if lower in PAST:
        return 0 if _is_passive(lowers, index) else SURELY
    if lower.endswith("ed") and len(lower) > 3 and lower not in NOT_PAST:
        return 0 if _is_passive(lowers, index) else SURELY
    if lower in _SAME_IN_PAST and index and lowers[index - 1] in _SUBJECTS:
        return SURELY
    if lower in _ADJECTIVES_TOO and index and not _WHEN.isdisjoint(lowers[index + 1 : index + 2]):
        before = lowers[index - 1]
        return 0 if before in BE_PRESENT or before in _BEFORE_ADJECTIVES else SURELY
    if lower.endswith("ing") and index and lowers[index - 1] in BE_PRESENT:
        return 1
    return 0


def _is_passive(lowers: list[str], index: int) -> bool:
    """Whether a participle is passive, so its auxiliary gives the tense: "is closed"."""
    at = index - 1
    if at > 0 and (
        lowers[at] in ("now", "also", "only", "still", "not") or lowers[at][-2:] == "ly"
    ):
        at -= 1
    return at >= 0 and (lowers[at] in ("be", "get", "being") or lowers[at] in BE_PRESENT)


def _is_causative(lowers: list[str], index: int) -> bool:
    """Whether a participle is what somebody is having done: "we're having the roof repaired"."""
    return any(
        lowers[at] in ("having", "getting")
        and (lowers[at - 1] in BE_PRESENT or lowers[at - 1].endswith(("'s", "'re", "'m")))
        for at in range(max(index - 5, 1), index - 1)
    )


def is_rescheduled(tokens: Tokens, left: int) -> bool:
    """Whether a verb of rescheduling precedes, in the same sentence."""
    for index in range(left - 1, max(left - 15, -1), -1):
        if any(mark in ".!?\n" for mark in tokens.gap(index)):
            return False
        if tokens.lowers[index] in _RESCHEDULING or _moves_with(tokens.lowers, index, left):
            return True
    return False
