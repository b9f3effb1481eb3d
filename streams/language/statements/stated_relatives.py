"""Statements of who a speaker's relatives and friends are, and the names of those without one.

"My sister Petra is vegetarian" states two things: that Petra is the speaker's sister, and what she
eats. A later "my sister is not fond of fish" is about Petra, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from recollect.streams.language.attributes.named_relatives import NamedRelative, named_relatives
from recollect.streams.language.attributes.plain_attributes import find_pet
from recollect.streams.language.grammar.analysis import Claim, Mention, Statement
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.reported import is_reported, reported
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.names.signature import signature
from recollect.streams.language.statements.document import Findings
from recollect.streams.language.statements.rendering import Renderer
from recollect.text.lexicon import word_set
from recollect.text.relatives import MEANINGS, Relative, relatives_in

#: Somebody may have more of them than the conversation names.
_SEVERAL = word_set(
    """friend buddy pal mate colleague coworker co-worker teammate classmate neighbour neighbor
    client cousin child children kid sibling parent grandparent"""
)


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
    """Yield a statement of each relative and pet whom one with another claim names."""
    stated = {each.claim for each in statements}
    for statement in statements:
        if statement.claim is None:
            continue
        for claim, sentence, name, (start, end) in _relations(statement, findings):
            if claim in stated:
                continue
            stated.add(claim)
            yield Statement(
                start=start,
                end=end,
                sentence=sentence,
                text=renderer.rendered(sentence, [name], (start, end)),
                signature=signature(sentence, speaker=findings.document.speaker),
                mentions=(name,),
                dates=(),
                claim=claim,
                corrects=False,
            )


def _relations(
    statement: Statement, findings: Findings
) -> Iterator[tuple[Claim, str, Mention, Span]]:
    """Yield who is named in a statement: the claim, its sentence, the name, and its words."""
    for each in relatives_of(statement, findings):
        yield each.claim, each.sentence, each.name, each.span
    pet = find_pet(statement.sentence, findings.document.speaker)
    if pet is not None:
        kind, name = pet.value.split(" ", 1)
        for mention in (each for each in statement.mentions if each.text == name):
            yield pet, f"{name} is my {kind}", mention, (statement.start, mention.end)


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

    The event's number is None for the same message. Nobody is meant for certain if the sender
    speaks of several ("my sisters"), or may have more than were named: friends, children.
    """
    document = findings.document
    assert document.speaker is not None
    speaker, until = document.speaker, relative.start
    meanings, mentioned = MEANINGS[relative.word], _mentions_of(relative.word)
    here = named_relatives(findings.text, (0, until), speaker, findings.mentions_in(0, until))
    told: list[tuple[NamedRelative, int | None]] = [
        (each, None) for each in here if not is_reported(findings.quoted, each.relative.start)
    ]
    endings = set(mentioned.findall(findings.text))
    for one in document.before if relative.word not in _SEVERAL else ():
        if one.speaker != speaker or not (found_endings := mentioned.findall(one.text)):
            continue
        endings.update(found_endings)
        others = reported(one.text)
        span, found = (0, len(one.text)), mentions(one.text, one.reading)
        told += (
            (each, one.number)
            for each in named_relatives(one.text, span, speaker, found)
            if not is_reported(others, each.relative.start)
        )
    told = [(each, number) for each, number in told if each.relative.word in meanings]
    if len({each.name.text for each, _ in told}) != 1 or not endings <= {""}:
        return None
    for named, number in told:
        if _is_same(relative, named.relative):
            return relative, named.name, number
    return None


@lru_cache
def _mentions_of(word: str) -> re.Pattern[str]:
    """Return a pattern for the words that mean such a relative; its group: the plural's ending."""
    words = "|".join(sorted(each.replace("-", "[ -]") for each in MEANINGS[word]))
    return re.compile(rf"(?<![\w-])(?:{words})(s?)(?![\w-])", re.IGNORECASE)


def _is_same(relative: Relative, other: Relative) -> bool:
    """Whether two words may be for the same person: "mum" and "mother", but not "older sister"."""
    return relative.qualifier == other.qualifier and bool(MEANINGS[relative.word] & {other.word})
