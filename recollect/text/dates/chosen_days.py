"""Which of several candidate days an expression means, by its clause's tense and by proximity.

A date without a year is the nearest one within about two months. Beyond that, the clause's tense
decides; without a tense, the date is in the future. Bare weekdays and days of the month follow the
tense.
"""

from __future__ import annotations

from recollect.text.dates.calendar_days import Days
from recollect.text.dates.clause_tense import SURELY, direction_of, is_present
from recollect.text.dates.date_tokens import word_at
from recollect.text.dates.time_values import Now, When
from recollect.text.lexicon import BE_PRESENT

#: In days: a date this near is meant whatever the tense; likewise a month that has just ended.
_NEAR, _JUST_OVER = 60, 31
#: In days: if the clause is only likely past, a date further back than this is not meant.
_LONG_AGO = 150
_NEAR_WEEKDAY, _AHEAD, _COMING = 190, 366, 31


def chosen(when: When, now: Now, left: int, right: int, *, of_past: bool = False) -> Days | None:
    """Return the days that the expression of the tokens from `left` to before `right` means.

    `of_past`: unless its clause is in the future tense, the latest candidate that has begun.
    """
    spans = when.spans
    if not spans:
        return None
    if len(spans) == 1 and when.pick != "dated":
        return spans[0]
    direction = direction_of(now.tokens, left, right)
    today = now.today
    if of_past and direction <= 0:
        begun = [span for span in spans if span[0] <= today]
        return begun[-1] if begun else spans[0]
    if when.pick == "weekday":
        # The candidates: the last one, the one within the next seven days, and the one after that.
        if direction < 0:
            return spans[0]
        ahead = when.clock is not None and when.clock > now.minute
        here = ahead or _is_heading(now, left, right)
        here = here or word_at(now.tokens, left - 1) in BE_PRESENT
        return spans[1 + (spans[1][0] == today and not here)]
    if when.pick == "this":
        return spans[0] if direction < 0 and spans[1][0] != today else spans[1]
    if when.pick == "weekend":
        return spans[0] if direction < 0 else spans[-1]
    if when.pick == "dated":
        return _with_weekday(when, now, left, right, direction)
    if when.pick == "near":
        nearest = min(spans, key=lambda span: (_distance(span, today), -span[0]))
        if _distance(nearest, today) <= _NEAR:
            return nearest
    return _by_tense(spans, today, direction, _JUST_OVER if when.pick == "month" else 0)


def _is_heading(now: Now, left: int, right: int) -> bool:
    """Whether a line begins with a weekday alone, as in a diary: "Sunday. We slept late."."""
    tokens = now.tokens
    if right == len(tokens.lowers) or (left > 0 and "\n" not in tokens.gap(left - 1)):
        return False
    return tokens.gap(right - 1).strip(" ")[:1] in (".", ":", "\n", "-", "–")


def _distance(span: Days, today: int) -> int:
    return max(span[0] - today, today - span[1], 0)


def _by_tense(spans: tuple[Days, ...], today: int, direction: int, just_over: int) -> Days:
    """Return the latest span that has begun if the clause is past, else the first not yet over."""
    begun = [span for span in spans if span[0] <= today]
    if direction < 0 and begun:
        if direction == SURELY or begun[-1][1] >= today - _LONG_AGO:
            return begun[-1]
        direction = 0
    over = 0 if direction > 0 else just_over
    return next((span for span in spans if span[1] >= today - over), spans[-1])


def _with_weekday(when: When, now: Now, left: int, right: int, direction: int) -> Days | None:
    """Return a day on which weekday and date agree, or None if none is near enough to be meant."""
    today, spans = now.today, list(when.spans)
    near = [span for span in spans if abs(span[0] - today) <= _NEAR_WEEKDAY]
    if direction == 0 and near:
        spans = near
    else:
        if when.slip:
            reach = _AHEAD if direction else _NEAR_WEEKDAY
            spans = [span for span in spans if abs(span[0] - today) <= reach]
        if direction > 0 or (direction == 0 and is_present(now.tokens, left)):
            spans = [span for span in spans if span[0] >= today] or near
        elif direction < 0:
            spans = [span for span in spans if span[0] <= today] or near
    if not spans:
        return None
    coming = [span for span in spans if today <= span[0] <= today + _COMING]
    if direction == 0:
        return coming[0] if coming else min(spans, key=lambda span: _distance(span, today))
    return _by_tense(tuple(spans), today, direction, 0)
