"""Statements of who a speaker's relatives and friends are, and the names of those without one.

"My sister Petra is vegetarian" states two things: that Petra is the speaker's sister, and what she
eats. A later "my sister is not fond of fish" is about Petra, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.streams.language.attributes.named_relatives import NamedRelative, named_relatives
from recollect.streams.language.grammar.analysis import Mention, Statement
from recollect.streams.language.grammar.reported import is_reported, reported
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.names.signature import signature
from recollect.streams.language.statements.document import Findings
from recollect.streams.language.statements.rendering import Renderer
from recollect.text.relatives import MEANINGS, Relative, relatives_in


def relatives_of(statement: Statement, findings: Findings) -> list[NamedRelative]:
    """Return the relatives and friends of the speaker whom a statement names, each once."""
    speaker = findings.document.speaker
    if speaker is None:
        return []
    span = (statement.start, statement.end)
    found = named_relatives(findings.text, span, speaker, statement.mentions)
    own = (each for each in found if not is_reported(findings.quoted, each.relative.start))
    return list({each.claim: each for each in own}.values())


def relation_statements(
    statements: Sequence[Statement], findings: Findings, renderer: Renderer
) -> Iterator[Statement]:
    """Yield a statement of each relative whom one with another claim names."""
    stated = {each.claim for each in statements}
    for statement in statements:
        if statement.claim is None:
            continue
        for each in relatives_of(statement, findings):
            if each.claim in stated:
                continue
            stated.add(each.claim)
            start, end = each.span
            yield Statement(
                start=start,
                end=end,
                sentence=each.sentence,
                text=renderer.rendered(each.sentence, [each.name], each.span),
                signature=signature(each.sentence, speaker=findings.document.speaker),
                mentions=(each.name,),
                dates=(),
                claim=each.claim,
                corrects=False,
            )


def with_named_relative(statement: Statement, findings: Findings, renderer: Renderer) -> Statement:
    """Return a statement about "my sister" with her name, if an earlier one names only one.

    It is in the same message, or in one of the previous messages of the same sender.
    """
    claim, speaker = statement.claim, findings.document.speaker
    if claim is None or speaker is None or statement.whom is not None:
        return statement
    for relative in relatives_in(findings.text, statement.start, statement.end):
        if relative.is_own and claim.subject == f"{speaker}'s {relative.word}":
            found = _name_of(relative, findings)
            return statement if found is None else renderer.with_relative(statement, *found)
    return statement


def _name_of(relative: Relative, findings: Findings) -> tuple[Relative, Mention, int | None] | None:
    """Return a relative with the only name that was given, and the event of the name.

    The event's number is None for the same message.
    """
    document = findings.document
    assert document.speaker is not None
    speaker, until = document.speaker, relative.start
    here = named_relatives(findings.text, (0, until), speaker, findings.mentions_in(0, until))
    told: list[tuple[NamedRelative, int | None]] = [
        (each, None) for each in here if not is_reported(findings.quoted, each.relative.start)
    ]
    for one in document.before:
        if one.speaker != speaker or not any(
            _is_same(relative, each) for each in relatives_in(one.text)
        ):
            continue
        others = reported(one.text)
        span, found = (0, len(one.text)), mentions(one.text, one.reading)
        told += (
            (each, one.number)
            for each in named_relatives(one.text, span, speaker, found)
            if not is_reported(others, each.relative.start)
        )
    same = [(each, number) for each, number in told if _is_same(relative, each.relative)]
    if len({each.name.text for each, _ in same}) != 1:
        return None
    named, number = same[0]
    return relative, named.name, number


def _is_same(relative: Relative, other: Relative) -> bool:
    """Whether two words may be for the same person: "mum" and "mother", but not "older sister"."""
    return relative.qualifier == other.qualifier and bool(MEANINGS[relative.word] & {other.word})
