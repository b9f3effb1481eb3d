"""Convert results to lines with speaker and date, dates resolved and former values marked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from recollect.projections.events import turns_for_recall
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.facts_for_recall import EventFacts, contexts, message_dates
from recollect.projections.memory.facts_for_recall import texts as fact_texts
from recollect.projections.recall.answer.supersessions import supersessions_of
from recollect.projections.recall.context.framing import escape, label
from recollect.projections.recall.context.packing import Line
from recollect.projections.recall.index.retracted import span_after
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery
from recollect.schemas.changes import MessageDate
from recollect.schemas.times import parse_time
from recollect.schemas.wire import MemoryRevision, Result, Uncertainty
from recollect.text.dates.found_dates import DateReference, local_day
from recollect.text.dates.resolved_dates import day_in_words, days_in_words, in_words, with_days
from recollect.text.sentences import sentences

# Maximum number of characters shown of a former value.
_MAX_PREVIOUS_LENGTH = 200
# Turns of at most this many words are shown with their context (what they answer or correct, or
# their heading): longer ones can mostly be understood alone.
_MAX_FRAMED_WORDS = 8
# Maximum number of supersessions that are followed from a fact to its latest version.
_MAX_SUPERSESSIONS = 8
# The note on a text that is uncertain for a reason that was given before.
_SHORT_DOUBT = " (uncertain)"


class TurnText(NamedTuple):
    """The text of a turn with its dates, its speaker, and its time.

    The time is in unix ms, with the UTC offset in minutes. The dates were resolved when the message
    was decided.
    """

    text: str
    dates: Sequence[DateReference]
    speaker: str
    at: int
    utc_offset: int

    @property
    def day(self) -> int:
        """The day in the speaker's time zone, as an ordinal."""
        return local_day(self.at, self.utc_offset)


def document_line(result: Result) -> Line:
    """Return the line of an observation or a mental model."""
    day = day_in_words(datetime.fromisoformat(result.as_of).date())
    kind = result.type.replace("_", " ")
    heading = label(day, kind, "may be out of date" if result.is_stale else None)
    notes = f"{previous_value(result.supersedes)}{doubt(result.uncertain)}"
    return Line(result, f"{heading} {escape(result.text)}{notes}")


def turn_lines(
    results: Sequence[Result],
    terms: Collection[str],
    query: RecallQuery,
    index: Index,
    files: ZoneFiles,
) -> list[Line]:
    """Return the lines of turns, in their order; `terms` are the index terms of the questions.

    Supersessions count up to the time that `query` is about.

    A superseded value appears once, as "previously" next to the value that replaced it.
    """
    ids = [result.id for result in results]
    numbers = index.turns.numbers[index.turns.place_of_id.of(ids)].tolist()
    texts = index.event_texts.of(numbers)
    offsets = turns_for_recall.utc_offsets(files.events.connection, numbers)
    dates = message_dates(files.memory.connection, ids)
    facts = index.event_facts.of(ids)
    history = _FactHistory(facts, query, index, files)
    frames = contexts(
        files.memory.connection,
        [id_ for event_facts in facts.values() for id_ in event_facts.stated],
    )
    retracted = index.retracted
    lines: list[Line] = []
    shown: set[str] = set()
    for result, number in zip(results, numbers, strict=True):
        text = texts[number]
        words = retracted.texts.get(number, text.text)
        turn = TurnText(
            words,
            _dates_in(text.text, dates.get(result.id, ()), retracted.spans.get(number, ())),
            text.speaker,
            parse_time(result.as_of)[0],
            offsets[number],
        )
        turn_facts = facts.get(result.id)
        ended = {} if turn_facts is None else history.ended(turn_facts, turn.at)
        if (
            ended
            and turn_facts is not None
            and len(ended) == len({*turn_facts.stated, *turn_facts.repeated})
        ):
            latest = history.latest_version(next(iter(ended)))
            if latest is not None and latest.id not in shown:
                shown.add(latest.id)
                if history.turn_of(latest.id) not in facts:
                    lines.append(_replacement_line(result, latest, list(ended.values())))
            continue
        normalised = _normalise(turn.text)
        if normalised in shown or _only_repeats(turn_facts, shown):
            continue
        shown.add(normalised)
        if turn_facts is not None:
            shown.update((*turn_facts.stated, *turn_facts.repeated))
        before = history.replaced_values(turn_facts)
        stated = [
            fact
            for id_, fact in (turn_facts.stated.items() if turn_facts else ())
            if id_ not in retracted.facts
        ]
        frame = _frame(turn, turn_facts, frames, shown)
        lines.append(_line(result, turn, ended, before, stated, frame, terms, index))
    return lines


def _only_repeats(turn_facts: EventFacts | None, shown: Collection[str]) -> bool:
    """Return whether a turn states nothing but facts that are shown."""
    if turn_facts is None or turn_facts.stated or not turn_facts.repeated:
        return False
    return all(fact in shown for fact in turn_facts.repeated)


def _frame(
    turn: TurnText,
    turn_facts: EventFacts | None,
    frames: Mapping[str, str],
    shown: set[str],
) -> str:
    """Return a note with the context of a short turn, to follow its text.

    It is empty if there is no context, or if the message with the question is itself a
    better-ranked result.
    Otherwise the question is added to `shown`, so that it gets no line of its own.
    """
    if turn_facts is None or len(turn.text.split()) > _MAX_FRAMED_WORDS:
        return ""
    context = next((frames[fact] for fact in turn_facts.stated if fact in frames), "")
    quoted = _normalise(context.partition(": ")[2])
    if not context or quoted in shown:
        return ""
    if quoted and len(context) <= _MAX_PREVIOUS_LENGTH:
        shown.add(quoted)
    return f" ({_excerpt(context)})"


def _line(
    result: Result,
    turn: TurnText,
    ended: Mapping[str, str],
    before: Sequence[MemoryRevision],
    facts: Sequence[str],
    frame: str,
    terms: Collection[str],
    index: Index,
) -> Line:
    # The notes that follow each of the turn's texts.
    notes = f"{frame}{previous_value(before)}{doubt(result.uncertain)}"
    ended_texts = {_normalise(text.removeprefix(f"{turn.speaker}: ")) for text in ended.values()}
    spans = sentences(turn.text)

    def part(start: int, end: int) -> str:
        text = escape(with_days(turn.text, start, end, turn.dates, in_words))
        is_ended = _normalise(turn.text[start:end]) in ended_texts
        return f'(previously: "{text}")' if is_ended else text

    if any(_normalise(turn.text[start:end]) in ended_texts for start, end in spans):
        full = " ".join(part(start, end) for start, end in spans)
    else:
        full = escape(with_days(turn.text, 0, len(turn.text), turn.dates, in_words))
        if ended_texts:
            full = f"{full} {_partly_previous(ended.values())}"
    best_sentence = ""
    if len(spans) > 1:
        start, end = max(
            spans, key=lambda span: _term_coverage(turn.text[slice(*span)], terms, index)
        )
        best_sentence = part(start, end)
    fact_text = "" if ended else _fact_text(facts, turn.speaker)
    return Line(
        result,
        f"{full}{notes}",
        f"{fact_text}{notes}" if 0 < len(fact_text) < len(full) else "",
        f"{best_sentence}{frame}" if best_sentence else "",
        turn.day,
        turn.speaker,
        turn.at,
    )


def _dates_in(
    text: str, dates: Sequence[MessageDate], retracted: Sequence[tuple[int, int]]
) -> list[DateReference]:
    """Return the dates of a message, with their positions after `retracted` spans are replaced."""
    moved_dates: list[DateReference] = []
    for row in dates:
        moved = span_after(row.char_start, row.char_end, retracted)
        if moved is not None:
            words = text[row.char_start : row.char_end]
            days = row.first_day, row.last_day
            moved_dates.append(DateReference(*moved, words, *days, bool(row.is_relative)))
    return moved_dates


def _fact_text(facts: Sequence[str], speaker: str) -> str:
    """Return the facts of a turn, one after the other, with dates in words."""
    return " ".join(escape(days_in_words(fact.removeprefix(f"{speaker}: "))) for fact in facts)


def _term_coverage(sentence: str, terms: Collection[str], index: Index) -> tuple[float, int]:
    """Return the summed idf of the `terms` in a sentence, and its number of distinct terms."""
    own = index.tokeniser.document_terms(sentence)
    return sum(index.turns.idf(term) for term in own.intersection(terms)), len(own)


def _replacement_line(result: Result, latest: MemoryRevision, before: Sequence[str]) -> Line:
    """Return the line for a turn whose facts have all ended; it shows their latest version."""
    at = parse_time(latest.at)[0]
    day = datetime.fromisoformat(latest.at).date()
    text = f"{escape(latest.text)}{_former_text(before, latest.at)}"
    return Line(result, text, day=day.toordinal(), at=at)


def previous_value(before: Sequence[MemoryRevision]) -> str:
    """Return a note on the value that was replaced last, to follow the current one."""
    return "".join(_former_text([revision.text], revision.at) for revision in before[:1])


def _former_text(texts: Sequence[str], changed_at: str) -> str:
    values = "; ".join(f'"{_excerpt(text)}"' for text in texts)
    return f" (previously: {values}, changed {datetime.fromisoformat(changed_at):%b %Y})"


def doubt(uncertain: Uncertainty | None) -> str:
    """Return a note on why a text is uncertain, to be appended; empty if it is not."""
    if uncertain is None:
        return ""
    day = day_in_words(datetime.fromisoformat(uncertain.since).date())
    because = f'"{_excerpt(uncertain.dependency)}"; "{_excerpt(uncertain.change)}"'
    return f" (uncertain since {day}: {because})"


class Doubtful(NamedTuple):
    """A text, and the note on why it is uncertain; empty if it is not."""

    text: str
    note: str

    def cost(self, count: Callable[[str], int], noted: Collection[str]) -> int:
        """Return the tokens of the text with its note, which is shortened if it is in `noted`."""
        note = _SHORT_DOUBT if self.note in noted else self.note
        return count(f"{self.text}{note}" if self.note else self.text)


def with_notes(texts: Iterable[Doubtful]) -> list[str]:
    """Return texts with their notes; a note that occurs again is shortened."""
    noted = {""}
    shown = []
    for text, note in texts:
        shown.append(f"{text}{_SHORT_DOUBT if note and note in noted else note}")
        noted.add(note)
    return shown


def _partly_previous(texts: Collection[str]) -> str:
    return f"(of this only previously: {'; '.join(map(_excerpt, texts))})"


def _excerpt(text: str) -> str:
    return escape(text if len(text) <= _MAX_PREVIOUS_LENGTH else f"{text[:_MAX_PREVIOUS_LENGTH]}…")


def _normalise(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .!")


class _FactHistory:
    """What the facts of some turns replaced, and what replaced them."""

    def __init__(
        self,
        facts: Mapping[str, EventFacts],
        query: RecallQuery,
        index: Index,
        files: ZoneFiles,
    ) -> None:
        self._facts = facts
        self._index = index
        self._files = files
        self._query = query
        ids = [id_ for of_turn in facts.values() for id_ in (*of_turn.stated, *of_turn.repeated)]
        self._found = supersessions_of(self._query, ids, index, files)
        repeated = [id_ for of_turn in facts.values() for id_ in of_turn.repeated]
        self._repeated = fact_texts(files.memory.connection, repeated) if repeated else {}

    def ended(self, turn_facts: EventFacts, at: int) -> dict[str, str]:
        """Return id -> text of the facts of a turn, stated at `at`, that have ended since."""
        stated = turn_facts.stated
        return {
            id_: stated.get(id_) or self._repeated.get(id_, "")
            for id_ in (*stated, *turn_facts.repeated)
            if id_ in self._found.after and at <= self._found.ended.get(id_, at)
        }

    def replaced_values(self, turn_facts: EventFacts | None) -> list[MemoryRevision]:
        """Return what the facts of a turn replaced, latest first."""
        if turn_facts is None:
            return []
        return [
            revision for id_ in turn_facts.stated for revision in self._found.before.get(id_, ())
        ]

    def latest_version(self, fact_id: str) -> MemoryRevision | None:
        """Return the current version of a fact that has ended."""
        latest: MemoryRevision | None = None
        after = self._found.after.get(fact_id, [])
        for _ in range(_MAX_SUPERSESSIONS):
            if not after:
                break
            latest = after[0]
            history = supersessions_of(self._query, [latest.id], self._index, self._files)
            after = history.after.get(latest.id, [])
        return latest

    def turn_of(self, fact_id: str) -> str | None:
        """Return the id of the event that states a fact."""
        place = self._index.facts.places_of([fact_id]).get(fact_id)
        return None if place is None else self._index.turns.ids[place]
