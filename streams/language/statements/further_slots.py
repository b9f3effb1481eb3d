"""Statements of the further slots that a sentence fills: a fact fills one slot only.

"I work for the council as a planner" says who the employer is, and "Petra is a planner" as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recollect.streams.language.attributes.stated_values import stated_slot
from recollect.streams.language.grammar.analysis import Claim, Mention, Statement
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.names.signature import signature
from recollect.streams.language.statements.document import Findings
from recollect.streams.language.statements.rendering import Renderer

#: How a slot is told of the speaker, and of others; and whether its value is a name.
_TOLD: Mapping[str, tuple[str, str, bool]] = {
    "home": ("I live in {}", "{} lives in {}", True),
    "employer": ("I work for {}", "{} works for {}", True),
    "role": ("I am {}", "{} is {}", False),
    "school": ("I go to {}", "{} goes to {}", True),
    "language": ("I speak {}", "{} speaks {}", True),
}
_VOWELS = "aeiou"
#: The maximum number of further slots of a statement, and of words in a role.
_MOST, _LONGEST_ROLE = 3, 4


class FurtherSlot(NamedTuple):
    """A claim, its sentence in the speaker's words, and the span of its value."""

    claim: Claim
    sentence: str
    span: Span


def further_slots(
    statement: Statement, mentions: Sequence[Mention], findings: Findings
) -> Iterator[FurtherSlot]:
    """Yield the slots that a statement with a claim fills besides; `mentions` are its mentions."""
    reading, speaker = findings.document.reading, findings.document.speaker
    if reading is None or speaker is None or statement.claim is None:
        return
    text, span = findings.text, (statement.start, statement.end)
    filled = {statement.claim.attribute}
    known = [_place(text, span, statement.claim.value)]
    for _ in range(_MOST):
        claim = stated_slot(text, span, speaker, mentions, reading, known)
        if claim is None:
            return
        place = _place(text, span, claim.value)
        known.append(place)
        sentence = _sentence(claim, speaker)
        if sentence is not None and claim.attribute not in filled and place[1] > place[0]:
            filled.add(claim.attribute)
            yield FurtherSlot(claim, sentence, place)


def slot_statements(
    statement: Statement, mentions: Sequence[Mention], findings: Findings, renderer: Renderer
) -> Iterator[Statement]:
    """Yield a statement of each slot that a statement fills besides its own."""
    for claim, sentence, (start, end) in further_slots(statement, mentions, findings):
        inside = tuple(each for each in mentions if start <= each.start and each.end <= end)
        yield Statement(
            start=start,
            end=end,
            sentence=sentence,
            text=renderer.rendered(sentence, [*inside], (start, end)),
            signature=signature(sentence, speaker=findings.document.speaker),
            mentions=inside,
            dates=(),
            claim=claim,
            corrects=False,
            told_with=statement.told_with,
            begins=statement.begins,
        )


def _place(text: str, span: Span, value: str) -> Span:
    """Return where a value is in a span of a text; an empty span if it is not there as such."""
    at = text.find(value, *span)
    return (at, at + len(value)) if at >= 0 else (span[0], span[0])


def _sentence(claim: Claim, speaker: str) -> str | None:
    """Return a sentence of the speaker that states a claim; None if it cannot be told shortly."""
    if claim.attribute not in _TOLD:
        return None
    of_speaker, of_others, is_name = _TOLD[claim.attribute]
    value = claim.value
    if value[:1].isupper() != is_name or len(value.split()) > _LONGEST_ROLE:
        return None
    if not is_name:
        first = value.split()[0]
        if first not in ("a", "an", "the"):
            value = f"{'an' if first[0] in _VOWELS else 'a'} {value}"
    if claim.subject == speaker:
        return of_speaker.format(value)
    subject = claim.subject
    if subject.startswith(f"{speaker}'s "):
        subject = "My " + subject.removeprefix(f"{speaker}'s ")
    return of_others.format(subject, value)
