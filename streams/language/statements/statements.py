"""What one message says: its durable sentences as self-contained facts, with what they mention."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from recollect.streams.language.grammar.analysis import Analysis, Contact, Mention, Statement
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.enrichment import ALL, Without, left_out
from recollect.streams.language.grammar.named_weekdays import as_named, collection_days
from recollect.streams.language.grammar.pasted import pasted
from recollect.streams.language.grammar.questions import is_question, told_in_question
from recollect.streams.language.grammar.reported import is_reported, reported
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.grammar.vocatives import is_courtesy, is_remark
from recollect.streams.language.names.contacts import find_contacts
from recollect.streams.language.names.mentions import find_mentions
from recollect.streams.language.names.naming import find_introductions
from recollect.streams.language.references.person_before import Before
from recollect.streams.language.relations.causes import opening
from recollect.streams.language.statements.message_contents import MessageContents
from recollect.streams.language.statements.occasions import FEW_WORDS, Occasion, ToldOccasion
from recollect.streams.language.statements.sentence_statements import SentenceStatements
from recollect.streams.language.statements.stated_additions import StatedAdditions
from recollect.streams.language.statements.stated_causes import StatedCauses
from recollect.streams.language.statements.told_twice import moved, told_once
from recollect.streams.language.statements.wording import Wording
from recollect.text.addresses import addresses
from recollect.text.dates.dates_in_text import find_dates
from recollect.text.dates.found_dates import as_reference, local_day, local_minute
from recollect.text.lexicon import word_set
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

_CAUSAL = word_set("because caused due led resulted")
_BECAUSE = re.compile(r"\b(?:because|caused by|due to|led to|resulted in)\b", re.IGNORECASE)


def analyse(
    text: str,
    *,
    speaker: str | None,
    at_ms: int,
    utc_offset_minutes: int = 0,
    limit: int = 256,
    asked: str | None = None,
    dictated: bool = False,
    reading: TextReading | None = None,
    keep: Sequence[Span] = (),
    days: Sequence[int] = (),
    without: Without = ALL,
    before: Sequence[Before] = (),
    occasion: Occasion | None = None,
    among_people: bool = False,
    in_play: bool = False,
    pictures: Sequence[str] = (),
    corrected: Sequence[tuple[Span, ToldOccasion]] = (),
) -> Analysis:
    """Return what `speaker` says in `text`, written at `at_ms` (unix milliseconds).

    At most `limit` statements are returned, the first ones of the message. `asked` is the question
    that somebody else asked just before. `dictated` says that the speaker stated a plain fact just
    before, so a plain fact that is about nobody here is kept too. `reading` is what the heads on
    the encoder read in the same text; None: rules alone. Sentences that touch a span of `keep` are
    kept, whatever they say. `days` are those that the conversation named before (ordinals): a bare
    weekday means the one that has it. `before` are the messages before it, the nearest first, which
    may name whom it means; on `occasion` it was written; `among_people`: it is to others, and not
    to an assistant; `in_play`: what it says is nobody's own. `pictures` say what is on those that
    came with it; `corrected` says what values are of that a sentence gives alone. `without` are the
    steps that are left out.
    """
    spans = sentences(text)
    if not spans:
        return Analysis((), (), ())
    speaker = " ".join(speaker.split()) if speaker else None
    tokens = tokenise(text)
    places = addresses(text)
    today = local_day(at_ms, utc_offset_minutes)
    minute = local_minute(at_ms, utc_offset_minutes)
    dates, meant = as_named(tokens, find_dates(tokens, today, places, minute=minute), today, days)
    material = pasted(text, speaker)
    told: dict[int, Span] = {}  # what is said, by the place of its sentence
    for place, span in enumerate(spans):
        if in_play or is_reported(material, span[0]):
            continue
        if not is_question(text[span[0] : span[1]]):
            told[place] = span
        elif said := told_in_question(tokens, span):
            told[place] = said
    asserted = list(told.values())
    answering = next(
        (each for each in asserted if not (is_courtesy(tokens, each) or is_remark(tokens, each))),
        None,
    )
    others = reported(text, speaker)
    contacts = find_contacts(tokens, asserted)
    if contacts and others:
        contacts = [item for item in contacts if not _is_others(item, others)]
    introductions = find_introductions(tokens, asserted, others)
    found = find_mentions(tokens, dates, places, asserted, reading)
    if contacts:
        found = _outside(found, contacts)
    contents = MessageContents(
        tokens,
        dates,
        found,
        contacts,
        introductions,
        others,
        speaker,
        read=reading.sentences if reading else (),
        days_resolved="temporal_resolution" not in without,
    )
    resolves = "coreference" not in without
    answered = (answering, asked) if answering and asked else None
    wording = Wording(
        contents,
        before=before,
        answering=answered,
        occasion=occasion,
        pictures=pictures,
        resolves=resolves,
    )
    keep = [*keep, *collection_days(tokens)]
    stating = SentenceStatements(
        contents,
        wording,
        keep=keep,
        dictated=dictated,
        resolves=resolves,
        among_people=among_people,
        told=told,
    )
    statements, causes = _stated(stating, contents, told, asked, answering, limit)
    if len(statements) < limit:
        starts = [each.start for each in statements]
        statements = [stating.with_rest_of_answer(each, starts) for each in statements]
        statements = [
            stating.with_passage(each, starts) if each.sentence.count(" ") < FEW_WORDS - 1 else each
            for each in statements
        ]
        linked = causes.linked()
        statements = [
            each if place in linked else stating.with_sentence_before(each)
            for place, each in enumerate(statements)
        ]
    unsure = not statements
    if unsure and (best := stating.best_unsure()) is not None:
        # Nothing here surely lasts: the best of it is kept, and the rest is left to the message.
        statements.append(best)
    if statements and resolves:
        shown = map(wording.with_picture, statements)
        whole = [wording.with_corrected(each, corrected) for each in shown]
        statements = [wording.on_occasion(each, unsure=unsure) for each in whole]
    statements, moves = told_once(contents, statements, linked=causes.linked(), keep=keep)
    found_causes, outside = moved(causes.found, causes.outside, moves)
    additions = StatedAdditions(contents, told, statements[:limit])
    statements += stating.aside
    analysis = Analysis(
        tuple(statements[:limit]),
        tuple(contacts),
        tuple(introductions),
        tuple(each for each in found_causes if max(each.cause, each.effect) < limit),
        tuple(each for each in outside if each.statement < limit),
        tuple(additions.within),
        tuple(additions.outside),
        meant,
        tuple(as_reference(tokens, item) for item in dates),
    )
    return left_out(analysis, without) if without else analysis


def _stated(
    stating: SentenceStatements,
    contents: MessageContents,
    told: Mapping[int, Span],
    asked: str | None,
    answering: Span | None,
    limit: int,
) -> tuple[list[Statement], StatedCauses]:
    """Return what the sentences of a message state, and which of it led to which.

    `told` are they by their places; `answering` is the one that answers what was `asked`.
    """
    text = contents.text
    statements: list[Statement] = []
    causes = StatedCauses(text, contents.others)
    previous = -2  # the place of the sentence that made the last statement
    because = not _CAUSAL.isdisjoint(contents.tokens.lowers)
    openings = {place: opening(text, *span) for place, span in told.items()}
    for place, span in told.items():
        if len(statements) >= limit:
            break
        opens = openings[place]
        # What answers a question is told for a reason, as causes and effects are.
        joins = opens is not None or openings.get(place + 1) is not None
        linked = (
            joins
            or (asked is not None and span == answering)
            or (because and _BECAUSE.search(text, *span) is not None)
        )
        halves = stating.halves(span)
        if halves is not None:
            left, right, caused = halves
            causes.between(len(statements) + len(left), caused)
            kept = left + right
        else:
            explains = opens is not None and previous == place - 1
            kept = stating.statements(span, linked, lenient=joins, explains=explains)
        if not kept and asked and span == answering:
            kept = stating.answer(span, asked)
        if kept:
            follows = previous == place - 1
            causes.of(span, len(statements), opens, statements, follows=follows, first=place == 0)
            statements += map(stating.without_open_claim, kept)
            previous = place
    return statements, causes


def _is_others(contact: Contact, others: list[Span]) -> bool:
    """Whether "my" is the word of somebody who is quoted: the address alone may be in quotes."""
    return (
        contact.owner is None
        and is_reported(others, contact.start)
        and (
            contact.start < 1
            or not is_reported(others, contact.start - 1)
            or is_reported(others, contact.start - 2)
        )
    )


def _outside(mentions: list[Mention], contacts: list[Contact]) -> list[Mention]:
    """Without the numbers and names that are part of a telephone number or a handle."""
    starts = [contact.start for contact in contacts]
    kept: list[Mention] = []
    for mention in mentions:
        at = bisect_left(starts, mention.end) - 1
        if mention.type not in ("NUMBER", "OTHER") or at < 0 or contacts[at].end <= mention.start:
            kept.append(mention)
    return kept
