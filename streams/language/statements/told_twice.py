"""Statements of a message that a later one of it tells whole, and with more."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from recollect.streams.language.grammar.analysis import Caused, Outside, Statement
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.names.signature import assemble, tokens_for_signature
from recollect.streams.language.statements.message_contents import MessageContents
from recollect.text.dates.found_dates import as_reference

_WORD = re.compile(r"\w+")


def told_once(
    contents: MessageContents,
    statements: Sequence[Statement],
    *,
    linked: Collection[int],
    keep: Sequence[Span],
) -> tuple[list[Statement], list[int]]:
    """Return the statements without those that a later one repeats from the first word to the last,
    and the new place of each, which is that of the one that tells it.

    What fills a slot stays, and so does what is `linked` as a cause or an effect (by its place) or
    touches a span of `keep`. The later one takes over where the earlier stands, whom and which days
    it names.
    """
    told = list(statements)
    into = list(range(len(told)))
    words = [_words(each.text, contents.speaker) for each in told]
    for place, earlier in enumerate(statements):
        stays = place in linked or earlier.claim is not None or earlier.corrects
        if stays or any(start < earlier.end and earlier.start < end for start, end in keep):
            continue
        for later in range(place + 1, len(told)):
            if words[place] not in words[later] or words[place] == words[later]:
                continue
            if earlier.whom is not None and told[later].whom not in (None, earlier.whom):
                continue
            told[later] = _with(contents, told[later], told[place])
            into[place] = later
            break
    left = [place for place, to in enumerate(into) if place == to]
    for place in reversed(range(len(into))):
        into[place] = into[into[place]] if into[place] != place else left.index(place)
    return [told[place] for place in left], into


def moved(
    found: Sequence[Caused], outside: Sequence[Outside], places: Sequence[int]
) -> tuple[list[Caused], list[Outside]]:
    """Return what led to what with statements by their new places."""
    return (
        [
            msgspec.structs.replace(one, cause=places[one.cause], effect=places[one.effect])
            for one in found
        ],
        [msgspec.structs.replace(one, statement=places[one.statement]) for one in outside],
    )


def _words(text: str, speaker: str | None) -> str:
    """Return the words of a statement alone, each between two spaces."""
    said = text if speaker is None else text.removeprefix(f"{speaker}: ")
    return f" {' '.join(_WORD.findall(said.lower()))} "


def _with(contents: MessageContents, later: Statement, earlier: Statement) -> Statement:
    """The later statement, which stands for the earlier one too."""
    start, end = min(earlier.start, later.start), max(earlier.end, later.end)
    left, right = contents.places(start, end)
    dates = contents.dates_in(left, right)
    words = tokens_for_signature(contents.tokens, left, right, dates)
    mentions = {each.start: each for each in (*earlier.mentions, *later.mentions)}
    return msgspec.structs.replace(
        later.told_with_words_of(*earlier.told_with),
        start=start,
        end=end,
        sentence=" ".join(contents.text[start:end].split()),
        signature=assemble(words, contents.speaker, question=False),
        mentions=tuple(mentions[place] for place in sorted(mentions)),
        dates=tuple(as_reference(contents.tokens, item) for item in dates),
        whom=later.whom or earlier.whom,
    )
