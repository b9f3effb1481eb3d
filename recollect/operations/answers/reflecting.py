"""Reflection: a report on a question from all kinds of memory, without a language model.

Mental models come first, then observations, facts and turns. Each line cites its sources, and is
marked if it may be out of date.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from recollect.home.open_zone import OpenZone
from recollect.home.token_counting import estimate_tokens
from recollect.operations.answers.recalling import recall
from recollect.operations.memories.derived import mental_models
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise
from recollect.schemas.wire import MentalModel, Reflection, Result, Scope, Time, Uncertainty

# The sections in order: the scope, the title, and the maximum number of results.
_SECTIONS: tuple[tuple[Scope, str, int], ...] = (
    ("mental_models", "Saved reports", 3),
    ("observations", "Observations", 5),
    ("facts", "Facts", 15),
    ("events", "What was said", 10),
)
# The minimum score of a result, relative to the best result of its kind.
_MIN_RELATIVE_SCORE = 0.4
_MAX_QUOTE_LENGTH = 600
# A line cites at most this many sources; `results` has all of them.
_MAX_CITED = 5
_SUBTYPE = "emergent"


def reflect(
    zone: OpenZone,
    query: str,
    *,
    entity: str | None = None,
    platform: str | None = None,
    time_after: Time | None = None,
    time_before: Time | None = None,
    source_event_ids: Sequence[str] | None = None,
    max_results: int = 20,
    max_tokens: int | None = None,
    save_as: str | None = None,
) -> Reflection:
    """Return a report on a question from all kinds of memory.

    `max_tokens`: reduce the number of results until the report fits. `save_as`: save the report as
    a mental model with this name, or as a new version if there is one already. Erasing an event
    that the report quotes erases the report too.

    Raises:
        InvalidInput: the query is invalid, or nothing was found to save.
    """
    started = time.monotonic()
    if save_as is not None and not save_as.strip():
        raise InvalidInput("save_as is empty; give the name of the report")
    fields = {
        "query": query,
        "entity": entity,
        "platform": platform,
        "time_after": time_after,
        "time_before": time_before,
        "source_event_ids": source_event_ids,
        "max_results": max_results,
        "budget": "high",
    }
    candidates = [
        (title, limit, _relevant(recall(zone, {**fields, "scope": [scope]}).results))
        for scope, title, limit in _SECTIONS
    ]
    facts = {item.id: item for _, _, items in candidates for item in items if item.type == "fact"}
    sections = _sections(candidates, max_results)
    report = _report(query, sections, facts)
    while max_tokens is not None and estimate_tokens(report) > max_tokens and sections:
        max_results //= 2
        sections = _sections(candidates, max_results)
        report = _report(query, sections, facts) if sections else ""
    results = [item for _, items in sections for item in items]
    saved = None
    if save_as is not None:
        if not results:
            raise InvalidInput(f"nothing was found on {query[:60]!r}, so nothing was saved")
        saved = _save(zone, save_as.strip(), report, results, facts)
    return Reflection(
        query=query,
        text=report,
        results=results,
        stale_ids=[item.id for item in results if item.is_stale],
        saved_as=None if saved is None else saved.id,
        ms=round((time.monotonic() - started) * 1000, 3),
    )


def _sections(
    candidates: Sequence[tuple[str, int, list[Result]]], max_results: int
) -> list[tuple[str, list[Result]]]:
    """Return the non-empty sections with their titles, without duplicates across sections."""
    sections: list[tuple[str, list[Result]]] = []
    shown = set[str]()
    for title, limit, items in candidates:
        new_items: list[Result] = []
        earlier = [item for item in items if not _is_new(item, shown)]
        for item in items:
            if len(new_items) >= min(limit, max_results):
                break
            if _is_new(item, shown) and not _is_in(item, [*earlier, *new_items]):
                new_items = [each for each in new_items if not _is_in(each, [item])] + [item]
        for item in new_items:
            shown.update(_ids_shown_by(item))
        max_results -= len(new_items)
        if new_items:
            sections.append((title, new_items))
    return sections


def _relevant(results: Sequence[Result]) -> list[Result]:
    threshold = _MIN_RELATIVE_SCORE * max((item.score for item in results), default=0.0)
    return [item for item in results if item.score >= threshold and item.score > 0]


def _may_be_outdated(item: Result) -> bool:
    """Return whether an item may be out of date although no newer version is known."""
    return item.is_stale and not item.superseded_by


def _uncertainty(item: Result) -> Uncertainty | None:
    """Return why an item, or a fact that it rests on, is uncertain."""
    return item.uncertain or next((fact.uncertain for fact in item.facts if fact.uncertain), None)


def _is_new(item: Result, shown: set[str]) -> bool:
    """Return whether an item is not shown yet; a turn counts as shown if a fact from it is."""
    if item.type == "event":
        return not set(item.source_event_ids) <= shown
    return item.id not in shown


def _is_in(item: Result, items: Sequence[Result]) -> bool:
    """Return whether another fact of the same messages has all the words of a fact."""
    return item.type == "fact" and any(
        len(other.text) > len(item.text)
        and item.text in other.text
        and other.source_event_ids == item.source_event_ids
        for other in items
    )


def _ids_shown_by(item: Result) -> Iterable[str]:
    yield item.id
    for fact in item.facts:
        yield from (fact.id, fact.source_event_id)
    if item.type == "fact":
        yield from item.source_event_ids


def _report(
    query: str, sections: Sequence[tuple[str, list[Result]]], facts: Mapping[str, Result]
) -> str:
    """Render a report in Markdown, with each memory on a line of its own.

    `facts`: fact id -> fact found; they show the history of facts that an observation rests on.
    """
    lines = [f"# {_single_line(query)}"]
    if not sections:
        lines += ["", "Nothing is remembered about this."]
    for title, items in sections:
        lines += ["", f"## {title}", ""]
        for item in items:
            lines += _lines(item, facts)
    uncertain = sum(_uncertainty(item) is not None for _, items in sections for item in items)
    if uncertain:
        lines += [
            "",
            f"{pluralise(uncertain, 'line')} may no longer hold: confirm before acting.",
        ]
    stale = sum(_may_be_outdated(item) for _, items in sections for item in items)
    if stale:
        lines += ["", f"{pluralise(stale, 'line')} may be out of date: go by the facts."]
    return "\n".join(lines)


def _lines(item: Result, facts: Mapping[str, Result]) -> Iterator[str]:
    # Imported here: it loads rules of language, which no other answer needs.
    from recollect.streams.consolidation.repeated_names import named_once

    doubt = _uncertainty(item)
    marks = [
        *(["may be out of date"] if _may_be_outdated(item) else []),
        *([f"uncertain since {doubt.since[:10]}"] if doubt is not None else []),
    ]
    note = f" ({', '.join(marks)})" if marks else ""
    cited = _citation(item.source_event_ids)
    # A fact may begin with its sender's name.
    text = item.text.removeprefix(f"{item.sender_name}: ")
    who = _single_line(item.sender_name or "")
    if item.type == "fact" and who and text.startswith((f"{who} ", f"{who}'s ")):
        # It is in the third person, and need not name the speaker twice.
        who = ""
    who = who and f", {who}"
    if item.type == "fact":
        text = named_once(text, item.sender_name or "")
    first, *more = _page_lines(text) if item.type == "mental_model" else [_single_line(text)]
    yield f"- {item.as_of[:10]}{who}: {first}{note}{cited}"
    yield from (f"  {line}" for line in more)
    if doubt is not None:
        because = f'"{_single_line(doubt.dependency)}"; "{_single_line(doubt.change)}"'
        yield f"  - because: {because}{_citation(doubt.source_event_ids)}"
    yield from _revision_lines(item, "  ")
    heading = item.text.partition(" – ")[0] if item.type == "observation" else ""
    for fact in item.facts:
        mark = " (uncertain)" if fact.uncertain else ""
        told = _single_line(named_once(fact.text, heading))
        yield f"  - rests on {fact.as_of[:10]}: {told}{mark}"
        if fact.id in facts:
            yield from _revision_lines(facts[fact.id], "    ")


def _citation(event_ids: Sequence[str]) -> str:
    """Return the sources of a line, in brackets: the first ones, and how many more there are."""
    if not event_ids:
        return ""
    more = len(event_ids) - _MAX_CITED
    shown = ", ".join(map(_single_line, event_ids[:_MAX_CITED]))
    return f" [{shown} and {more} more]" if more > 0 else f" [{shown}]"


def _revision_lines(item: Result, indent: str) -> Iterator[str]:
    for change in item.supersedes:
        yield f"{indent}- previously, until {change.at[:10]}: {_single_line(change.text)}"
    for change in item.superseded_by:
        yield f"{indent}- superseded on {change.at[:10]} by: {_single_line(change.text)}"


def _page_lines(text: str) -> list[str]:
    """Return the lines of a report as they fit; what stands under a heading is indented.

    The first line, with the name of the report, is returned in any case.
    """
    first, *more = text.split("\n")
    # A page has no words of its own between its name and its first section.
    name, opening, heading = first.partition(": ## ")
    if opening:
        first, more = name, [f"## {heading}", *more]
    lines, length, indent = [_single_line(first)], len(first), ""
    for line in filter(None, map(_single_line, more)):
        words = line.lstrip("#*- ")
        length += len(words)
        if length > _MAX_QUOTE_LENGTH:
            return [*lines, f"{indent}- …"]
        if line.startswith("#"):
            lines.append(f"- {words}")
            indent = "  "
        elif words:
            lines.append(f"{indent}- {words}")
    return lines


def _single_line(text: str) -> str:
    """Shorten a text and put it on one line, so that it cannot forge lines of the report."""
    text = collapse_whitespace(text)
    if len(text) <= _MAX_QUOTE_LENGTH:
        return text
    # Not within a word.
    whole = text[:_MAX_QUOTE_LENGTH].rpartition(" ")[0]
    return (whole or text[:_MAX_QUOTE_LENGTH]) + "…"


def _save(
    zone: OpenZone,
    name: str,
    report: str,
    results: Sequence[Result],
    facts: Mapping[str, Result],
) -> MentalModel:
    """Save a report as a mental model; erasing an event that it quotes erases the report too."""
    supporting = [fact.id for item in results for fact in item.facts]
    quoted = [*(item.id for item in results), *supporting]
    for item in (*results, *(facts[id_] for id_ in supporting if id_ in facts)):
        quoted += [change.id for change in (*item.supersedes, *item.superseded_by)]
    for model in mental_models.mental_models(zone):
        if model.name == name and model.subtype == _SUBTYPE:
            return mental_models.update(zone, model.id, report, sources=quoted)
    return mental_models.create(zone, name, report, subtype=_SUBTYPE, sources=quoted)
