"""From what was recalled to lines: who said it and when, days resolved, changes told as changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from recollect.projections.events import turns_for_recall
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.facts_for_recall import EventFacts
from recollect.projections.recall.answer.supersessions import changes
from recollect.projections.recall.context.framing import label, quoted
from recollect.projections.recall.context.packing import Line
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery
from recollect.schemas.times import parse_time
from recollect.schemas.wire import MemoryRevision, Result
from recollect.text.dates.found_dates import local_day
from recollect.text.dates.resolved_dates import DatedText, day_in_words, days_in_words
from recollect.text.sentences import sentences

# Of what was true before, as much as shows what it was.
_MAX_PREVIOUS_LENGTH = 200
# A chain of changes is followed no further.
_MAX_CHANGES = 8


class Said(NamedTuple):
    """A turn as it was said: its text, by whom, and on which day (an ordinal) of the speaker's."""

    text: str
    speaker: str
    at: int
    utc_offset: int

    @property
    def day(self) -> int:
        """The local day."""
        return local_day(self.at, self.utc_offset)


def document_line(result: Result) -> Line:
    """Return the line of an observation or a mental model."""
    day = day_in_words(datetime.fromisoformat(result.as_of).date())
    kind = result.type.replace("_", " ")
    about = label(day, kind, "may be out of date" if result.is_stale else None)
    return Line(result, f"{about} {quoted(result.text)}{_previously(result.supersedes)}")


def turn_lines(
    results: Sequence[Result],
    wanted: Collection[str],
    index: Index,
    files: ZoneFiles,
) -> list[Line]:
    """Return the lines of turns, in their order; `wanted` are the index terms of what it asks for.

    What was superseded is told with what replaced it, as "previously", and once.
    """
    ids = [result.id for result in results]
    numbers = index.turns.numbers[index.turns.place_of_id.of(ids)].tolist()
    texts = index.event_texts.of(numbers)
    offsets = turns_for_recall.utc_offsets(files.events.connection, numbers)
    facts = index.event_facts.of(ids)
    told = _Changes(facts, index, files)
    lines: list[Line] = []
    shown: set[str] = set()
    for result, number in zip(results, numbers, strict=True):
        text = texts[number]
        said = Said(text.text, text.speaker, parse_time(result.as_of)[0], offsets[number])
        of_turn = facts.get(result.id)
        over = {} if of_turn is None else told.over(of_turn, said.at)
        if over and of_turn is not None and len(over) == len({*of_turn.stated, *of_turn.repeated}):
            newest = told.newest(next(iter(over)))
            if newest is not None and newest.id not in shown:
                shown.add(newest.id)
                if told.turn_of(newest.id) not in facts:
                    lines.append(_changed(result, newest, list(over.values())))
            continue
        fresh = _spoken(said.text)
        if fresh in shown:
            continue
        shown.add(fresh)
        before, given = told.before(of_turn), [*of_turn.stated.values()] if of_turn else []
        lines.append(_line(result, said, over, before, given, wanted, index))
    return lines


def _line(
    result: Result,
    said: Said,
    over: Mapping[str, str],
    before: Sequence[MemoryRevision],
    facts: Sequence[str],
    wanted: Collection[str],
    index: Index,
) -> Line:
    dated = DatedText(said.text, at_ms=said.at, utc_offset_minutes=said.utc_offset)
    previous = _previously(before)
    ended = {_spoken(text.removeprefix(f"{said.speaker}: ")) for text in over.values()}
    spans = sentences(said.text)

    def part(start: int, end: int) -> str:
        text = quoted(dated.part(start, end))
        return f'(previously: "{text}")' if _spoken(said.text[start:end]) in ended else text

    if any(_spoken(said.text[start:end]) in ended for start, end in spans):
        whole = " ".join(part(start, end) for start, end in spans)
    else:
        whole = quoted(dated.part(0, len(said.text)))
        if ended:
            whole = f"{whole} {_previously_too(over.values())}"
    best = ""
    if len(spans) > 1:
        start, end = max(spans, key=lambda span: _telling(said.text[slice(*span)], wanted, index))
        best = part(start, end)
    told = "" if over else _in_words(facts, said.speaker)
    return Line(
        result,
        f"{whole}{previous}",
        f"{told}{previous}" if 0 < len(told) < len(whole) else "",
        best,
        said.day,
        said.speaker,
        said.at,
    )


def _in_words(facts: Sequence[str], speaker: str) -> str:
    """Return the facts of a turn one after the other, with days as people write them."""
    return " ".join(quoted(days_in_words(fact.removeprefix(f"{speaker}: "))) for fact in facts)


def _telling(sentence: str, wanted: Collection[str], index: Index) -> tuple[float, int]:
    """Return how much of what is asked for, by idf, a sentence has; and how many words."""
    own = index.tokeniser.distinct_terms(sentence)
    return sum(index.turns.idf(term) for term in own.intersection(wanted)), len(own)


def _changed(result: Result, newest: MemoryRevision, before: Sequence[str]) -> Line:
    """Return the line of what replaced a turn that was recalled and holds no more."""
    at = parse_time(newest.at)[0]
    day = datetime.fromisoformat(newest.at).date()
    text = f"{quoted(newest.text)}{_was(before, newest.at)}"
    return Line(result, text, day=day.toordinal(), at=at)


def _previously(before: Sequence[MemoryRevision]) -> str:
    """Return what something replaced, as it is told beside it (B6, B12)."""
    return "".join(_was([change.text], change.at) for change in before[:1])


def _was(texts: Sequence[str], changed: str) -> str:
    said = "; ".join(f'"{_beginning(text)}"' for text in texts)
    return f" (previously: {said}, changed {datetime.fromisoformat(changed):%b %Y})"


def _previously_too(texts: Collection[str]) -> str:
    return f"(of this only previously: {'; '.join(map(_beginning, texts))})"


def _beginning(text: str) -> str:
    return quoted(text if len(text) <= _MAX_PREVIOUS_LENGTH else f"{text[:_MAX_PREVIOUS_LENGTH]}…")


def _spoken(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .!")


class _Changes:
    """What the facts of some turns replaced, and what replaced them."""

    def __init__(self, facts: Mapping[str, EventFacts], index: Index, files: ZoneFiles) -> None:
        self._facts = facts
        self._index = index
        self._files = files
        self._query = RecallQuery(text="")
        ids = [id_ for one in facts.values() for id_ in (*one.stated, *one.repeated)]
        self._found = changes(self._query, ids, index, files)

    def over(self, of_turn: EventFacts, at: int) -> dict[str, str]:
        """Return id -> text of the facts of a turn, said then, that hold no more."""
        given = of_turn.stated
        return {
            id_: given.get(id_, "")
            for id_ in (*given, *of_turn.repeated)
            if id_ in self._found.after and at <= self._found.ended.get(id_, at)
        }

    def before(self, of_turn: EventFacts | None) -> list[MemoryRevision]:
        """Return what the facts of a turn replaced, latest first."""
        if of_turn is None:
            return []
        return [change for id_ in of_turn.stated for change in self._found.before.get(id_, ())]

    def newest(self, fact_id: str) -> MemoryRevision | None:
        """Return what holds now in place of a fact that does not."""
        newest: MemoryRevision | None = None
        after = self._found.after.get(fact_id, [])
        for _ in range(_MAX_CHANGES):
            if not after:
                break
            newest = after[0]
            found = changes(self._query, [newest.id], self._index, self._files)
            after = found.after.get(newest.id, [])
        return newest

    def turn_of(self, fact_id: str) -> str | None:
        """Return the event that gave a fact."""
        place = self._index.facts.places_of([fact_id]).get(fact_id)
        return None if place is None else self._index.turns.ids[place]
