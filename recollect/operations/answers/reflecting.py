"""Reflecting: what all kinds of memory say on a question, from the most worked out to the rawest.

No model is asked. Mental models come first, then observations, facts and turns; what may be out of
date is said to be, and every line names its sources.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from recollect.home.open_zone import OpenZone
from recollect.home.token_counting import token_bound
from recollect.operations.answers.recalling import recall
from recollect.operations.memories import mental_models
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, pluralise
from recollect.schemas.wire import MentalModel, Reflection, Result, Scope, Time

#: The kinds in the order of a report, each with how many of them it may hold at most.
_LEVELS: tuple[tuple[Scope, str, int], ...] = (
    ("mental_models", "Reports that were kept", 3),
    ("observations", "Observations", 5),
    ("facts", "Facts", 15),
    ("events", "What was said", 10),
)
# What scores less than this share of the best of its kind is about something else.
_MIN_SHARE = 0.4
_MAX_QUOTE_LENGTH = 600
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
    """Return what all kinds of memory say on a question.

    `max_tokens`: the report has fewer results, where it would take more. `save_as`: keep it as the
    mental model of this name, as a new version of it where there is one. It is erased with any
    event that it quotes.

    Raises:
        InvalidInput: the question cannot be asked, or nothing was found that could be kept.
    """
    started = time.monotonic()
    if save_as is not None and (not isinstance(save_as, str) or not save_as.strip()):
        raise InvalidInput("save_as is empty; give the name of the report")
    asked = {
        "query": query,
        "entity": entity,
        "platform": platform,
        "time_after": time_after,
        "source_event_ids": source_event_ids,
        "max_results": max_results,
        "budget": "high",
    }
    near = [
        (title, most, _near(recall(zone, {**asked, "scope": [scope]}).results))
        for scope, title, most in _LEVELS
    ]
    levels = _levels(near, max_results)
    report = _report(query, levels)
    while max_tokens is not None and token_bound(report) > max_tokens and levels:
        max_results //= 2
        levels = _levels(near, max_results)
        report = _report(query, levels) if levels else ""
    results = [item for _, found in levels for item in found]
    kept = None
    if save_as is not None:
        if not results:
            raise InvalidInput(f"nothing was found on {query[:60]!r}, so nothing was kept")
        kept = _keep(zone, save_as.strip(), report, results)
    return Reflection(
        query=query,
        text=report,
        results=results,
        stale_ids=[item.id for item in results if item.is_stale],
        saved_as=None if kept is None else kept.id,
        ms=round((time.monotonic() - started) * 1000, 3),
    )


def _levels(
    near: Sequence[tuple[str, int, list[Result]]], room: int
) -> list[tuple[str, list[Result]]]:
    """Return what each part of a report shows, by its title, where there is room for so many."""
    levels: list[tuple[str, list[Result]]] = []
    shown = set[str]()
    for title, most, found in near:
        fresh = [item for item in found if _adds(item, shown)][: min(most, room)]
        for item in fresh:
            shown.update(_shown_with(item))
        room -= len(fresh)
        if fresh:
            levels.append((title, fresh))
    return levels


def _near(found: Sequence[Result]) -> list[Result]:
    least = _MIN_SHARE * max((item.score for item in found), default=0.0)
    return [item for item in found if item.score >= least and item.score > 0]


def _doubtful(item: Result) -> bool:
    """Return whether an item may be out of date, and nothing says what is so instead."""
    return item.is_stale and not item.superseded_by


def _adds(item: Result, shown: set[str]) -> bool:
    """Return whether an item says what no one above it does; a turn may stand there as a fact."""
    if item.type == "event":
        return not set(item.source_event_ids) <= shown
    return item.id not in shown


def _shown_with(item: Result) -> Iterable[str]:
    yield item.id
    yield from (fact.id for fact in item.facts)
    if item.type == "fact":
        yield from item.source_event_ids


def _report(query: str, levels: Sequence[tuple[str, list[Result]]]) -> str:
    """Return the report in Markdown; everything that was remembered stands on a line of its own."""
    lines = [f"# {_quoted(query)}"]
    if not levels:
        lines += ["", "Nothing is remembered on this."]
    for title, found in levels:
        lines += ["", f"## {title}", ""]
        for item in found:
            lines += _lines(item)
    stale = sum(_doubtful(item) for _, found in levels for item in found)
    if stale:
        lines += ["", f"{pluralise(stale, 'line')} may be out of date: go by the facts."]
    return "\n".join(lines)


def _lines(item: Result) -> Iterable[str]:
    who = f", {_quoted(item.sender_name)}" if item.sender_name else ""
    old = " (may be out of date)" if _doubtful(item) else ""
    cited = f" [{', '.join(map(_quoted, item.source_event_ids))}]" if item.source_event_ids else ""
    # A fact may begin with the name of who said it.
    said = item.text.removeprefix(f"{item.sender_name}: ")
    yield f"- {item.as_of[:10]}{who}: {_quoted(said)}{old}{cited}"
    for change in item.supersedes:
        yield f"  - previously, until {change.at[:10]}: {_quoted(change.text)}"
    for change in item.superseded_by:
        yield f"  - no longer so since {change.at[:10]}: {_quoted(change.text)}"
    for fact in item.facts:
        yield f"  - rests on {fact.as_of[:10]}: {_quoted(fact.text)}"


def _quoted(text: str) -> str:
    """Return a text as one line that forges no other."""
    text = collapse_whitespace(text)
    return text if len(text) <= _MAX_QUOTE_LENGTH else text[:_MAX_QUOTE_LENGTH] + "…"


def _keep(zone: OpenZone, name: str, report: str, results: Sequence[Result]) -> MentalModel:
    """Keep a report that is erased with any event that it quotes."""
    quoted = [item.id for item in results]
    for item in results:
        quoted += [fact.id for fact in item.facts]
        quoted += [change.id for change in (*item.supersedes, *item.superseded_by)]
    for model in mental_models.mental_models(zone):
        if model.name == name and model.subtype == _SUBTYPE:
            return mental_models.update(zone, model.id, report, sources=quoted)
    return mental_models.create(zone, name, report, subtype=_SUBTYPE, sources=quoted)
