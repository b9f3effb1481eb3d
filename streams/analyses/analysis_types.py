"""The types of analyses: each reads the messages of an episode, and returns a text and facets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from recollect.schemas.events import OwnAnalysis
from recollect.streams.analyses.conversation_report import report, report_text
from recollect.streams.analyses.entities_and_topics import Named, entities, topics
from recollect.streams.analyses.model_analyses import checked_statements, statements_text
from recollect.streams.analyses.personal_data import personal_data
from recollect.streams.analyses.summary import summarise, summary_text
from recollect.streams.analyses.utterances import Quote, Utterance
from recollect.streams.language.grammar.text_reading import TextReading

Readings = Mapping[int, TextReading]


class FoundFacet(Struct, frozen=True):
    """A structured result: characters `start` to `end` of the message `number`.

    `confidence` is 0 to 1, or None. `rule`: what found it; for names their type. `position`: of a
    statement that quotes no characters, among those of its run. `seen`: the messages from whose
    words a statement was made.
    """

    type: str
    value: str
    number: int
    start: int
    end: int
    confidence: float | None = None
    rule: str | None = None
    count: int | None = None
    position: int | None = None
    seen: tuple[int, ...] = ()


class AnalysisResult(Struct, frozen=True):
    """The result of an analysis; `sources` are the messages whose words `output` has."""

    output: str
    sources: tuple[int, ...]
    facets: tuple[FoundFacet, ...]


class AnalysisBlocked(Exception):
    """An analysis cannot run here; the message says why, and what to do."""


class AnalysisFailed(Exception):
    """An analysis ran without a result that can be kept; the message says why."""


class AnalysisKind(NamedTuple):
    """A built-in type of analysis."""

    output_type: str
    run: Callable[[Sequence[Utterance], Readings], AnalysisResult]


def _summary(utterances: Sequence[Utterance], readings: Readings) -> AnalysisResult:
    chosen = summarise(utterances)
    offsets = {utterance.number: utterance.utc_offset for utterance in utterances}
    return AnalysisResult(
        summary_text(chosen, offsets),
        _numbers(chosen),
        tuple(_of_quote("summary", sentence) for sentence in chosen),
    )


def _conversation(utterances: Sequence[Utterance], readings: Readings) -> AnalysisResult:
    if not utterances:
        return AnalysisResult("", (), ())
    outcome = report(utterances)
    first: dict[str, Utterance] = {}
    for utterance in utterances:
        first.setdefault(utterance.speaker, utterance)
    facets = [
        FoundFacet("participant", it.name, first[it.name].number, 0, 0, count=it.messages)
        for it in outcome.participants
    ]
    for type_, sentences in (
        ("decision", outcome.decisions),
        ("open_question", outcome.open_questions),
        ("next_step", outcome.next_steps),
    ):
        facets += [_of_quote(type_, sentence) for sentence in sentences]
    # The report names everybody who wrote.
    return AnalysisResult(report_text(outcome), _numbers(utterances), tuple(facets))


def _pii(utterances: Sequence[Utterance], readings: Readings) -> AnalysisResult:
    facets = (
        FoundFacet(f"pii_{it.type}", it.value, number, it.start, it.end, it.confidence, it.rule)
        for number, text in ((each.number, each.text) for each in utterances)
        for it in personal_data(text)
    )
    return AnalysisResult("", (), tuple(facets))


def _entities(utterances: Sequence[Utterance], readings: Readings) -> AnalysisResult:
    return _of_names("entity", entities(utterances, readings))


def _topics(utterances: Sequence[Utterance], readings: Readings) -> AnalysisResult:
    return _of_names("topic", topics(utterances, readings))


#: The built-in types by id, which is a name and a version.
BUILT_IN: Mapping[str, AnalysisKind] = {
    "summary_v1": AnalysisKind("text", _summary),
    "conversation_v1": AnalysisKind("text", _conversation),
    "pii_v1": AnalysisKind("facets", _pii),
    "entities_v1": AnalysisKind("facets", _entities),
    "topics_v1": AnalysisKind("facets", _topics),
}


def analyse(
    type_id: str,
    own: OwnAnalysis | None,
    utterances: Sequence[Utterance],
    readings: Readings,
    calls: Sequence[tuple[str, str]] | None = None,
) -> AnalysisResult:
    """Run an analysis; `own`: the definition of a type that is not built in.

    `calls`: the calls (tool, JSON arguments) of a model that was asked; None if none was.

    Raises:
        AnalysisBlocked: nothing here can run it.
        AnalysisFailed: it gave nothing that can be kept.
        re.error: a pattern of its own is invalid.
    """
    if own is not None and own.prompt is not None:
        return _by_model(own, utterances, calls)
    if own is not None:
        return _by_patterns(own, utterances)
    if type_id not in BUILT_IN:
        raise AnalysisBlocked(
            f"there is no analysis type {type_id}; types are {', '.join(BUILT_IN)}, and those that "
            "home.json defines"
        )
    return BUILT_IN[type_id].run(utterances, readings)


def _by_model(
    own: OwnAnalysis, utterances: Sequence[Utterance], calls: Sequence[tuple[str, str]] | None
) -> AnalysisResult:
    if not utterances:
        return AnalysisResult("", (), ())
    if calls is None:
        raise AnalysisBlocked(
            "the type has a prompt, which needs a language model; to add one to this home, run "
            "recollect init --writer model"
        )
    statements = checked_statements(calls, own, utterances)
    if calls and not statements:
        raise AnalysisFailed(
            "the messages support nothing that the model stated; raise the type's version to ask "
            "again"
        )
    seen = _numbers(utterances)
    facets = (
        FoundFacet(
            statement.facet,
            statement.text,
            statement.cited[0].number,
            0,
            0,
            count=len(statement.cited),
            position=position,
            seen=seen,
        )
        for position, statement in enumerate(statements)
    )
    return AnalysisResult(statements_text(statements, own), seen, tuple(facets))


def _by_patterns(own: OwnAnalysis, utterances: Sequence[Utterance]) -> AnalysisResult:
    forms = [(facet, re.compile(pattern)) for facet, pattern in sorted(own.patterns.items())]
    facets: list[FoundFacet] = []
    for utterance in utterances:
        for facet, form in forms:
            for match in form.finditer(utterance.text):
                start, end = match.span(1 if form.groups else 0)
                if start < end:
                    value = utterance.text[start:end]
                    facets.append(FoundFacet(facet, value, utterance.number, start, end))
    return AnalysisResult("", (), tuple(facets))


def _of_quote(type_: str, sentence: Quote) -> FoundFacet:
    text = " ".join(sentence.text.split())
    return FoundFacet(type_, text, sentence.number, sentence.start, sentence.end)


def _of_names(type_: str, found: Sequence[Named]) -> AnalysisResult:
    facets = (
        FoundFacet(
            type_, it.text, it.number, it.start, it.end, rule=it.type or None, count=it.count
        )
        for it in found
    )
    return AnalysisResult("", (), tuple(facets))


def _numbers(of: Sequence[Quote] | Sequence[Utterance]) -> tuple[int, ...]:
    return tuple(sorted({each.number for each in of}))
