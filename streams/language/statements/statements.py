"""The statements of one message: its salient clauses as self-contained facts, and other findings.

The stages, each a function of the earlier ones' findings: segmentation, attribution (whose words
they are), dates, mentions, salience, claims, coreference, rendering, relations, values.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import msgspec

from recollect.schemas.attributes import MASK, is_open, is_single_valued
from recollect.streams.language.attributes.claims import day_of_birth
from recollect.streams.language.attributes.endings import ending_of
from recollect.streams.language.attributes.plain_attributes import find_attribute, find_pet
from recollect.streams.language.attributes.stated_values import MOST_ENDED, stated_slot
from recollect.streams.language.grammar.analysis import (
    Analysis,
    Claim,
    Contact,
    EndedOutside,
    Mention,
    Statement,
)
from recollect.streams.language.grammar.clauses import Span, after_lead_in
from recollect.streams.language.grammar.enrichment import ALL, Without, left_out
from recollect.streams.language.grammar.named_weekdays import as_named, collection_days
from recollect.streams.language.grammar.questions import is_question, told_in_question
from recollect.streams.language.grammar.reported import is_reported, reported
from recollect.streams.language.names.contacts import find_contacts
from recollect.streams.language.names.display_names import called
from recollect.streams.language.names.mentions import find_mentions
from recollect.streams.language.names.naming import find_introductions
from recollect.streams.language.names.signature import assemble
from recollect.streams.language.relations.causes import opening
from recollect.streams.language.statements.beginnings import with_beginning
from recollect.streams.language.statements.clause_salience import ClauseSalience
from recollect.streams.language.statements.clause_statements import (
    ClauseStatements,
    containers,
)
from recollect.streams.language.statements.document import Document, Findings
from recollect.streams.language.statements.further_slots import slot_statements
from recollect.streams.language.statements.occurrences import recurs, with_occurrence
from recollect.streams.language.statements.rendering import THIRD_PERSON, Renderer
from recollect.streams.language.statements.stated_additions import StatedAdditions
from recollect.streams.language.statements.stated_causes import StatedCauses
from recollect.streams.language.statements.stated_relatives import (
    relation_statements,
    relatives_of,
    with_named_relative,
)
from recollect.text.addresses import addresses
from recollect.text.dates.dates_in_text import find_dates
from recollect.text.dates.found_dates import as_reference, local_day, local_minute
from recollect.text.lexicon import word_set
from recollect.text.relatives import relatives_in
from recollect.text.sentences import sentences, without_broken_phrases
from recollect.text.tokenizer import tokenise

#: The maximum number of statements per message; later ones are dropped.
MAX_STATEMENTS = 256
#: The minimum probability (percent) that a sentence without a statement ends anything; at a lower
#: one no claim ends.
_LEAST_ENDED = 4
_CAUSAL = word_set("because caused due led resulted")
_BECAUSE = re.compile(r"\b(?:because|caused by|due to|led to|resulted in)\b", re.IGNORECASE)


def analyse(document: Document, without: Without = ALL) -> Analysis:
    """Return the statements of a document; `without`: the enrichment steps that are disabled."""
    if document.speaker is not None:
        speaker = " ".join(document.speaker.split()) or None
        document = msgspec.structs.replace(document, speaker=speaker)
    document = msgspec.structs.replace(document, text=without_broken_phrases(document.text))
    spans = sentences(document.text)
    if not spans:
        return Analysis((), (), ())
    if "salience" in without:
        document = msgspec.structs.replace(document, keep=((0, len(document.text)),))
    findings, told, days_meant = _find(document, spans, without)
    resolves = "coreference" not in without
    salience = ClauseSalience(findings)
    own = {place: span for place, span in told.items() if salience.is_own(span)}
    renderer = Renderer(findings, resolves=resolves)
    stating = ClauseStatements(findings, salience, renderer, own)
    statements, causes = _state(stating, findings, own)
    statements = [
        with_named_relative(_completed(each, findings), findings, renderer) for each in statements
    ]
    statements, causes = _deduplicated(statements, causes, findings)
    additions = StatedAdditions(findings, own, statements)
    further = chain(
        relation_statements(statements, findings, renderer),
        chain.from_iterable(
            slot_statements(each, _with_subject(each, findings), findings, renderer)
            for each in statements
        ),
    )
    related = _not_stated(further, statements, MAX_STATEMENTS - len(statements))
    analysis = Analysis(
        statements=(*statements, *related),
        contacts=tuple(findings.contacts),
        introductions=tuple(findings.introductions),
        causes=tuple(causes.found),
        outside=tuple(causes.outside),
        added=tuple(additions.within),
        added_outside=tuple(additions.outside),
        ended_outside=tuple(_ended_outside(findings, [*own.values()], statements)),
        days_meant=days_meant,
        dates=tuple(as_reference(findings.tokens, each) for each in findings.dates),
    )
    return left_out(analysis, without) if without else analysis


def _not_stated(
    further: Iterable[Statement], statements: Sequence[Statement], limit: int
) -> list[Statement]:
    """Return up to `limit` further statements whose claims no statement makes."""
    made = {(each.claim.subject, each.claim.attribute) for each in statements if each.claim}
    found: list[Statement] = []
    for each in islice(further, limit):
        slot = each.claim and (each.claim.subject, each.claim.attribute)
        if slot not in made or (each.claim and not is_single_valued(each.claim.attribute)):
            found.append(each)
            made.add(slot or ("", ""))
    return found


def _find(
    document: Document, spans: Sequence[Span], without: Without
) -> tuple[Findings, dict[int, Span], frozenset[int]]:
    """Return the findings in a document, with two further results.

    They are the spans of the sentences that state something, by index, and the days that bare
    weekdays mean because the conversation named them.
    """
    text, speaker = document.text, document.speaker
    tokens, places = tokenise(text), addresses(text)
    today = local_day(document.at_ms, document.utc_offset_minutes)
    minute = local_minute(document.at_ms, document.utc_offset_minutes)
    found = find_dates(tokens, today, places, minute=minute)
    dates, days_meant = as_named(tokens, found, today, document.days)
    quoted = reported(text, speaker)
    told: dict[int, Span] = {}
    for place, span in enumerate(spans):
        if document.is_played or _is_others_sentence(text, quoted, span):
            continue
        if not is_question(text[span[0] : span[1]]):
            told[place] = span
        elif said := told_in_question(tokens, span):
            told[place] = said
    asserted = list(told.values())
    contacts = find_contacts(tokens, asserted)
    if contacts and quoted:
        contacts = [each for each in contacts if not _is_others(each, quoted)]
    introductions = find_introductions(tokens, asserted, quoted)
    mentions = find_mentions(tokens, dates, places, asserted, document.reading)
    findings = Findings(
        document=document,
        tokens=tokens,
        dates=dates,
        mentions=_outside(mentions, contacts),
        contacts=contacts,
        introductions=introductions,
        quoted=quoted,
        kept=(*document.keep, *collection_days(tokens)),
        resolves_days="temporal_resolution" not in without,
    )
    return findings, told, days_meant


def _is_others_sentence(text: str, quoted: list[Span], span: Span) -> bool:
    """Whether a sentence is in somebody else's words.

    A message that is in quotation marks as a whole is its sender's.
    """
    if not is_reported(quoted, span[0]):
        return False
    at = bisect_left(quoted, (span[0] + 1,)) - 1
    start, end = quoted[max(at, 0)]
    return bool(text[:start].strip() or text[end:].strip())


def _state(
    stating: ClauseStatements, findings: Findings, told: Mapping[int, Span]
) -> tuple[list[Statement], StatedCauses]:
    """Return the statements of sentences, by index, and their causal links."""
    text = findings.text
    statements: list[Statement] = []
    causes = StatedCauses(text, findings.quoted)
    previous = -2  # the index of the sentence that made the last statement
    because = not _CAUSAL.isdisjoint(findings.tokens.lowers)
    openings = {place: opening(text, *span) for place, span in told.items()}
    for place, span in told.items():
        if len(statements) >= MAX_STATEMENTS:
            break
        opens = openings[place]
        halves = stating.halves(span)
        if halves is not None:
            causes.between(len(statements) + len(halves.left), halves.joint)
            found = halves.left + halves.right
        else:
            joins = opens is not None or openings.get(place + 1) is not None
            joins = joins or (because and _BECAUSE.search(text, *span) is not None)
            found = stating.of(span, lenient=joins)
            if found and stating.is_fragment(span):
                if previous == place - 1 and stating.completes(found[0], statements[-1]):
                    statements[-1] = stating.completed(statements[-1], found[0])
                    previous = place
                    continue
                found = [each for each in found if stating.stands_alone(each)]
        if found:
            follows = previous == place - 1
            causes.of(span, len(statements), opens, statements, follows=follows, first=place == 0)
            statements += found
            previous = place
    return statements, causes


def _completed(statement: Statement, findings: Findings) -> Statement:
    """Return a statement with its slot, and the days on which it happens."""
    found = with_occurrence(_with_slots(statement, findings), findings)
    return with_beginning(found, findings)


def _with_slots(statement: Statement, findings: Findings) -> Statement:
    """Return a statement with the slot that it fills, and the claims that it may end.

    A plain attribute takes precedence over the reader's slot; so does a claim, unless it is a frame
    or has several values at a time and the reader's has one. Who a relative is comes last, since a
    statement of its own gives it beside any other claim.
    """
    reading, speaker = findings.document.reading, findings.document.speaker
    if speaker is None or reading is None:
        return statement
    span = (statement.start, statement.end)
    relatives = relatives_of(statement, findings)
    names = [(each.name.start, each.name.end) for each in relatives]
    mentions = _with_subject(statement, findings)
    read = stated_slot(findings.text, span, speaker, mentions, reading, names)
    if read is not None and read.value.lower() in called(speaker):
        read = None  # "I'm Ada, the new baker" names the speaker, not a baker
    read = read and _not_of_addressee(read, statement, findings)
    claim = statement.claim
    if read is not None and _names_thing(read):
        read = find_pet(statement.sentence, speaker) or read
    if claim is None:
        claim = find_attribute(statement.sentence, speaker, statement.mentions)
        if claim is not None and read is not None and _says_more(read, claim):
            claim = None
        if claim is None and (read is None or is_open(read.attribute)):
            claim = next((each.claim for each in relatives), None)
            claim = claim or find_pet(statement.sentence, speaker)
        claim = claim or read
    elif (
        read is not None
        and (is_single_valued(read.attribute) or read.attribute == "pet")
        and (MASK in claim.attribute or not is_single_valued(claim.attribute))
    ):
        claim = read
    if claim is not None and claim.attribute == "birthday":
        claim = _with_day(claim, statement, findings)
    ending = ending_of(findings.text, span, speaker, statement.mentions, reading)
    return msgspec.structs.replace(statement, claim=claim, ending=ending)


def _with_day(claim: Claim, statement: Statement, findings: Findings) -> Claim:
    """Return a birthday whose value is the day that its words mean."""
    at = findings.text.find(claim.value, statement.start, statement.end)
    dates = findings.references_in(statement.start, statement.end)
    named = [each for each in dates if each.start < at + len(claim.value) and at < each.end]
    if len(named) != 1 or named[0].first != named[0].last or named[0].is_time:
        return claim
    return msgspec.structs.replace(claim, value=day_of_birth(named[0]))


def _with_subject(statement: Statement, findings: Findings) -> list[Mention]:
    """Return the mentions of a statement, with the person whom its first pronoun means."""
    text, whom = findings.text, statement.whom
    place = after_lead_in(text, statement.start, statement.end)
    if whom is not None:
        meant = Mention(whom.start, whom.end, whom.name, "PERSON")
    elif (said := THIRD_PERSON.match(text, place, statement.end)) is not None:
        # The sentence has "my brother" in the place of "he".
        relative = next(relatives_in(statement.sentence, 0, len(statement.sentence)), None)
        if relative is None or not relative.is_own or relative.owns:
            return [*statement.mentions]
        name = f"{findings.document.speaker}'s {relative.word}"
        meant = Mention(place, said.end(), name, "PERSON")
    else:
        return [*statement.mentions]
    inside = (each for each in statement.mentions if statement.start <= each.start < statement.end)
    others = (each for each in inside if each.start != meant.start)
    return sorted((meant, *others), key=lambda each: each.start)


def _names_thing(claim: Claim) -> bool:
    """Whether a slot is the name of a thing, which may be an animal."""
    return claim.attribute == f"{MASK}'s name"


def _says_more(read: Claim, claim: Claim) -> bool:
    """Whether the reader's slot says more than the claim of a plain sentence.

    Of "I work at the bakery", the reader knows whether that is an employer; a list may be longer.
    """
    same = read.attribute == claim.attribute and read.subject == claim.subject
    return claim.attribute == "work" or (same and claim.value in read.value)


def _not_of_addressee(read: Claim, statement: Statement, findings: Findings) -> Claim:
    """Return a slot as the speaker's relative's if its subject is only addressed.

    "Thanks Tom, my sister is vegan" is told without "Tom", and is about the sister.
    """
    addressed = next((each for each in statement.mentions if each.text == read.subject), None)
    if addressed is None or addressed.text in statement.text:
        return read
    relatives = [*relatives_in(findings.text, addressed.end, statement.end)]
    if len(relatives) != 1 or not relatives[0].is_own or relatives[0].owns:
        return read
    subject = f"{findings.document.speaker}'s {relatives[0].word}"
    return msgspec.structs.replace(read, subject=subject)


def _ended_outside(
    findings: Findings, told: Sequence[Span], statements: Sequence[Statement]
) -> Iterator[EndedOutside]:
    """Yield what the sentences without a statement may end: "Bruno died this morning".

    At most `MAX_STATEMENTS` are looked at, since a message may have any number of sentences.
    """
    reading, speaker = findings.document.reading, findings.document.speaker
    if speaker is None or reading is None:
        return
    likely = (
        each
        for each in reading.sentences
        if sum(percent for _, percent in each.ends) >= _LEAST_ENDED
        or any(value.holds <= MOST_ENDED for value in reading.values_in(each.start, each.end))
    )
    for sentence in islice(likely, MAX_STATEMENTS):
        at = bisect_left(told, (sentence.end,)) - 1
        if at < 0 or told[at][1] <= sentence.start:
            continue
        start, end = told[at]
        if any(each.start < end and start < each.end for each in statements):
            continue
        mentions = findings.mentions_in(start, end)
        found = ending_of(findings.text, (start, end), speaker, mentions, reading)
        if found is not None:
            yield EndedOutside(findings.text[start:end], found)


def _deduplicated(
    statements: list[Statement], causes: StatedCauses, findings: Findings
) -> tuple[list[Statement], StatedCauses]:
    """Return statements without those that another contains, except causes and effects.

    The other statement takes over their mentions, endings and dates.
    """
    linked = causes.linked()
    kept = []
    found = list(statements)
    for place, container in enumerate(containers(statements)):
        if container is None or place in linked:
            kept.append(place)
        else:
            found[container] = _absorbed(found[container], statements[place], findings)
    kept = kept[:MAX_STATEMENTS]
    causes.renumber({place: number for number, place in enumerate(kept)})
    return [found[place] for place in kept], causes


def _absorbed(statement: Statement, part: Statement, findings: Findings) -> Statement:
    """Return a statement that takes the place of a part of it, too.

    A part just before it becomes its beginning; one that is said elsewhere in the text is only
    dropped. The dates of both are in the statement's text.
    """
    happens = statement.happens
    if happens is None and not statement.dates and not recurs(statement, findings):
        happens = part.happens
    start, sentence, own = statement.start, statement.sentence, statement.signature
    mentions = statement.mentions
    if part.end <= start and not findings.text[part.end : start].strip():
        start, sentence = part.start, f"{part.sentence} {sentence}"
        mentions = (*part.mentions, *mentions)
        speaker = assemble([], findings.document.speaker, question=False)
        own = f"{part.signature} {own.removeprefix(speaker)}"
    ending = statement.ending or part.ending
    if statement.ending is not None and part.ending is not None:
        ending = statement.ending.joined(part.ending)
    return msgspec.structs.replace(
        statement,
        start=start,
        sentence=sentence,
        signature=own,
        mentions=mentions,
        happens=happens,
        claim=statement.claim or part.claim,
        ending=ending,
    )


def _is_others(contact: Contact, quoted: list[Span]) -> bool:
    """Whether "my" belongs to a quoted person; the address alone may be in quotation marks."""
    return (
        contact.owner is None
        and is_reported(quoted, contact.start)
        and (
            contact.start < 1
            or not is_reported(quoted, contact.start - 1)
            or is_reported(quoted, contact.start - 2)
        )
    )


def _outside(mentions: list[Mention], contacts: Sequence[Contact]) -> list[Mention]:
    """Return mentions without the numbers and names inside a telephone number or a handle."""
    starts = [each.start for each in contacts]
    kept: list[Mention] = []
    for mention in mentions:
        at = bisect_left(starts, mention.end) - 1
        if mention.type not in ("NUMBER", "OTHER") or at < 0 or contacts[at].end <= mention.start:
            kept.append(mention)
    return kept
