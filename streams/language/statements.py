"""What one message says: its durable sentences as self-contained facts, with what they mention."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from projections.text.addresses import addresses
from projections.text.dates import DateReference, Found, as_reference, find_dates, local_day
from projections.text.lexicon import RELATIONS
from projections.text.resolved_dates import resolved as with_days
from projections.text.sentences import sentences
from projections.text.tokenizer import Tokens, tokenise
from streams.language.analysis import (
    Analysis,
    Caused,
    Claim,
    Contact,
    Introduction,
    Mention,
    Outside,
    Statement,
)
from streams.language.antecedents import antecedent
from streams.language.causes import (
    STATED,
    Joined,
    Opening,
    after_link,
    after_opening,
    joined,
    named_cause,
    opening,
)
from streams.language.claims import TRIGGERS as CLAIM_TRIGGERS
from streams.language.claims import find_claim
from streams.language.clauses import Clause, Span, after_lead_in, clauses
from streams.language.contacts import find_contacts
from streams.language.corrections import content_words
from streams.language.enrichment import ALL, Without, left_out
from streams.language.frames import VERBS as FRAME_VERBS
from streams.language.frames import find_frame
from streams.language.lasting import use_later
from streams.language.mentions import find_mentions
from streams.language.named_weekdays import as_named, collection_days
from streams.language.naming import find_introductions
from streams.language.person_before import (
    Before,
    meant_by,
    nth_pronoun,
    things_meant,
    with_names,
    with_things,
)
from streams.language.questions import is_question, told_in_question
from streams.language.reported import is_reported, reported
from streams.language.signature import assemble, signature, tokens_for_signature
from streams.language.standing_alone import Open, left_open, person_open
from streams.language.text_reading import ReadSentence, TextReading
from streams.language.third_person import in_third_person
from streams.language.vocatives import is_courtesy, is_salutation, is_vocative
from streams.language.worth import (
    About,
    Message,
    Said,
    about,
    asks_little,
    count_words,
    is_answer,
    is_comment,
    is_order,
    is_rule,
    is_worth,
    points_back,
)

_CORRECTION = re.compile(
    r"(?:actually\b|correction\b|(?:sorry,? |oops,? |no,? |wait,? )*(?:i meant|i mean[, ]+(?=it)|"
    r"scratch that|let me correct)|(?:no|wait|oops|sorry),? (?:wait,? )?actually\b|"
    r"edit:|\*+(?=\w))",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\b(?:because|caused by|due to|led to|resulted in)\b", re.IGNORECASE)
_THIRD_PERSON = re.compile(r"(?:he|she)(?:['’](?:s|d|ll))?\b(?! (?:or|and)\b)", re.IGNORECASE)
_FIRST_PRONOUN = re.compile(r"\b(?:he|she)(?=\b)", re.IGNORECASE)
_KIN = re.compile(rf"\b(?:my|our) (?:\w+ )?(?:{'|'.join(sorted(RELATIONS))})\b", re.IGNORECASE)
#: "I have a new number. It is now …"
_IT_IS = re.compile(r"\A(?:it|that)(?:['’]s| is)(?= )", re.IGNORECASE)
_ADDRESSES = {"phone": "phone number", "email": "e-mail address"}
#: So many words that tell keep a statement in which something beside its point is left open.
_TOLD_BESIDE = 2
#: Less use than this is none, also where a message has nothing better.
_LEAST_USE = -6
_CODE_MARKS = ("();", "==", "=>", "</", "::", "&&")
#: "Maria, I've been busy": whom somebody speaks to is not part of what he says of himself.
_ADDRESSED = re.compile(r"([^\W\d_][\w'’.\-]*),\s+(?=(?:I|I['’]\w+|[Ww]e|[Mm]y|[Oo]ur)\b)")
_PLACED = re.compile(r"\b(?:in|from|to|near|at|around|for|the)\s\Z", re.IGNORECASE)


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
) -> Analysis:
    """Return what `speaker` says in `text`, written at `at_ms` (unix milliseconds).

    At most `limit` statements are returned, the first ones of the message. `asked` is the question
    that somebody else asked just before. `dictated` says that the speaker stated a plain fact just
    before, so a plain fact that is about nobody here is kept too. `reading` is what the heads on
    the encoder read in the same text; None: rules alone. Sentences that touch a span of `keep` are
    kept, whatever they say. `days` are those that the conversation named before (ordinals): a bare
    weekday means the one that has it. `without` are the steps that are left out.
    """
    spans = sentences(text)
    if not spans:
        return Analysis((), (), ())
    speaker = " ".join(speaker.split()) if speaker else None
    tokens = tokenise(text)
    places = addresses(text)
    today = local_day(at_ms, utc_offset_minutes)
    dates, meant = as_named(tokens, find_dates(tokens, today, places), today, days)
    told: dict[int, Span] = {}  # what is said, by the place of its sentence
    for place, span in enumerate(spans):
        if not is_question(text[span[0] : span[1]]):
            told[place] = span
        elif said := told_in_question(tokens, span):
            told[place] = said
    asserted = list(told.values())
    answering = next((each for each in asserted if not is_courtesy(tokens, each)), None)
    others = reported(text)
    contacts = find_contacts(tokens, asserted)
    if contacts and others:
        contacts = [item for item in contacts if not _is_others(item, others)]
    introductions = find_introductions(tokens, asserted, others)
    found = find_mentions(tokens, dates, places, asserted, reading)
    if contacts:
        found = _outside(found, contacts)
    parts = _Parts(tokens, dates, found, contacts, introductions, others, speaker)
    parts.dictated = dictated
    parts.keep = [*keep, *collection_days(tokens)]
    parts.without = without
    parts.read = reading.sentences if reading else ()
    parts.before = before
    parts.answering = (answering, asked) if answering and asked else None
    statements, causes = _stated(parts, told, asked, answering, limit)
    if not statements and (best := parts.best_unsure()) is not None:
        # Nothing here surely lasts: the best of it is kept, and the rest is left to the message.
        statements.append(best)
    named_by = (parts.named_by.get(each.start) for each in statements)
    analysis = Analysis(
        tuple(statements[:limit]),
        tuple(contacts),
        tuple(introductions),
        tuple(each for each in causes.found if max(each.cause, each.effect) < limit),
        tuple(each for each in causes.outside if each.statement < limit),
        meant,
        frozenset(number for number in named_by if number is not None),
    )
    return left_out(analysis, without) if without else analysis


def _stated(
    parts: _Parts,
    told: Mapping[int, Span],
    asked: str | None,
    answering: Span | None,
    limit: int,
) -> tuple[list[Statement], _Causes]:
    """Return what the sentences of a message state, and which of it led to which.

    `told` are they by their places; `answering` is the one that answers what was `asked`.
    """
    text = parts.text
    statements: list[Statement] = []
    causes = _Causes(text, parts.others)
    previous = -2  # the place of the sentence that made the last statement
    for place, span in told.items():
        if len(statements) >= limit:
            break
        opens = opening(text, *span)
        # What answers a question is told for a reason, as causes and effects are.
        joins = opens is not None or (
            place + 1 in told and opening(text, *told[place + 1]) is not None
        )
        linked = (
            joins
            or (asked is not None and span == answering)
            or _BECAUSE.search(text, *span) is not None
        )
        halves = parts.halves(span)
        if halves is not None:
            left, right, caused = halves
            causes.between(len(statements) + len(left), caused)
            kept = left + right
        else:
            kept = parts.statements(span, linked, lenient=joins)
        if not kept and asked and span == answering:
            kept = parts.answer(span, asked)
        if kept:
            follows = previous == place - 1
            causes.of(span, len(statements), opens, statements, follows=follows, first=place == 0)
            statements += map(parts.with_claims_of_known, kept)
            previous = place
    return statements, causes


class _Causes:
    """Which statements of a message led to which, by their places, as they are collected."""

    def __init__(self, text: str, others: list[Span]) -> None:
        self._text = text
        self.others = others
        self.found: list[Caused] = []
        self.outside: list[Outside] = []

    def between(self, right: int, joint: Joined) -> None:
        """Note the cause within a sentence whose second part begins with statement `right`."""
        places = (right - 1, right) if joint.cause_first else (right, right - 1)
        self.found.append(Caused(*places, joint.strength))

    def of(
        self,
        span: Span,
        place: int,
        opens: Opening | None,
        before: Sequence[Statement],
        *,
        follows: bool,
        first: bool,
    ) -> None:
        """Note what a sentence, whose first statement is `place`, says of those before it.

        `follows`: the sentence before it made the last of them; `first`: none is before it.
        """
        if is_reported(self.others, span[0]):
            return
        if opens is not None:
            is_cause = opens == "cause"
            if follows:
                pair = (place, place - 1) if is_cause else (place - 1, place)
                self.found.append(Caused(*pair, STATED))
            elif first:
                self.outside.append(Outside(place, frozenset(), is_cause, STATED))
            return
        words = named_cause(self._text, *span)
        if not words:
            return
        said = [each for each, one in enumerate(before) if words <= content_words(one.sentence)]
        if said:
            self.found.append(Caused(said[-1], place, STATED))
        else:
            self.outside.append(Outside(place, words, False, STATED))


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


class _Piece(NamedTuple):
    """A clause, or several that belong together, as it was judged."""

    clause: Clause
    said: Said
    about: About
    claim: Claim | None
    kept: bool
    overruled: bool  # kept whatever the gate says


class _Parts:
    """The words of a message and what was found in them, in the order of the text."""

    def __init__(
        self,
        tokens: Tokens,
        dates: list[Found],
        mentions: list[Mention],
        contacts: list[Contact],
        introductions: list[Introduction],
        others: list[Span],
        speaker: str | None,
    ) -> None:
        self._tokens = tokens
        self._dates = dates
        self._date_lefts = [item.left for item in dates]
        self._mentions = mentions
        self._mention_starts = [mention.start for mention in mentions]
        self._contacts = contacts
        self._contact_starts = [contact.start for contact in contacts]
        self._introduced = [introduction.start for introduction in introductions]
        self.text = tokens.text
        self.others = others
        self._speaker = speaker
        self._own = frozenset(speaker.lower().split()) if speaker else frozenset()
        self.dictated = False
        self.keep: Sequence[Span] = ()
        self.without = ALL
        self.read: tuple[ReadSentence, ...] = ()
        self.before: Sequence[Before] = ()
        #: The sentence that answers a question, and the question.
        self.answering: tuple[Span, str] | None = None
        #: The event before it that names whom a statement means, by where the statement begins.
        self.named_by: dict[int, int] = {}
        self._unsure: list[tuple[int, Statement]] = []
        #: Whether "he" or "she" in the part that is read is somebody whom the part before names.
        self._known = False
        self._message = Message.of(tokens)

    def halves(self, span: Span) -> tuple[list[Statement], list[Statement], Joined] | None:
        """The statements of the two parts of a sentence of which one is the cause of the other.

        None where there are no such parts, or one of them says nothing that stands alone.
        """
        joint = joined(self._tokens, *span)
        if joint is None or is_reported(self.others, joint.right[0]):
            return None
        subject = self._subject(joint)
        if subject is None and points_back(self._said(*joint.right)):
            return None
        left = self.statements(joint.left, linked=True, lenient=True)
        self._known = subject is not None
        right = self.statements(joint.right, linked=True, lenient=True) if left else []
        self._known = False
        if right and subject is not None:
            right[0] = self._with_subject(right[0], *subject)
        return (left, right, joint) if right else None

    def _subject(self, joint: Joined) -> tuple[str, list[Mention]] | None:
        """Who "he" or "she", with which the second part begins, is; None if it is not plain.

        It is the subject of the first part where that names nobody else.
        """
        text = self._tokens.text
        if _THIRD_PERSON.match(text, *joint.right) is None:
            return None
        persons = [item for item in self._mentions_in(*joint.left) if item.type == "PERSON"]
        kin = list(_KIN.finditer(text, *joint.left))
        if len(persons) + len(kin) != 1:
            return None
        (start, end) = (persons[0].start, persons[0].end) if persons else kin[0].span()
        return (text[start:end], persons) if start == joint.left[0] else None

    def with_whom(self, statement: Statement) -> Statement:
        """The statement with a name where it begins with "he" or "she" and that is sure."""
        text, speaker = self._tokens.text, self._speaker
        place = after_lead_in(text, statement.start, statement.end)
        if speaker is None or _THIRD_PERSON.match(text, place, statement.end) is None:
            return statement
        meant = antecedent(text, place, self._mentions, speaker, self.others)
        return statement if meant is None else self._with_subject(statement, *meant)

    def with_claims_of_known(self, statement: Statement) -> Statement:
        """The statement without a claim about him or her, where nobody knows who that is."""
        claim = statement.claim
        if claim is None or _THIRD_PERSON.fullmatch(claim.subject) is None:
            return statement
        return msgspec.structs.replace(statement, claim=None)

    def _with_subject(self, statement: Statement, name: str, named: list[Mention]) -> Statement:
        """The statement with a name in the place of the pronoun with which it begins."""
        if "coreference" in self.without:
            return statement
        own = name[:1].upper() + name[1:]
        said = statement.text.removeprefix(f"{self._speaker}: ")
        mentions = [*named, *statement.mentions]
        claim = statement.claim
        if claim is not None and _THIRD_PERSON.fullmatch(claim.subject):
            of_named = [item.text for item in named] == [name]
            claim = msgspec.structs.replace(claim, subject=name) if of_named else None
        return msgspec.structs.replace(
            statement,
            sentence=_FIRST_PRONOUN.sub(own, statement.sentence, count=1),
            text=self._worded(_FIRST_PRONOUN.sub(own, said, count=1), mentions),
            signature=_FIRST_PRONOUN.sub(signature(name), statement.signature, count=1),
            mentions=tuple(mentions),
            claim=claim,
        )

    def statements(self, span: Span, linked: bool, lenient: bool = False) -> list[Statement]:
        """The statements of a sentence that is worth keeping; of its clauses only those that are.

        `linked` says that it is the cause or the effect of what stands beside it, in so many words;
        `lenient` that this is reason enough to keep it.
        """
        tokens = self._tokens
        start, end = span
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        if left == right or not _is_prose(tokens.text, start, end, tokens, left, right):
            return []
        if is_salutation(tokens, start, end, left, right):
            return []
        pieces = [self._piece(clause, linked) for clause in clauses(tokens, span)]
        said: list[Statement] = []
        for first, last in _together(pieces):
            group = pieces[first : last + 1]
            statement = self._standing_alone(group, lenient)
            if statement is None and first and _leads_to(pieces[first - 1]):
                # "My one-year-old is so cute, his name is Kyle"
                statement = self._standing_alone(pieces[first - 1 : last + 1], lenient)
            if statement is not None:
                said.append(statement)
        return said

    def _standing_alone(self, pieces: list[_Piece], lenient: bool) -> Statement | None:
        """The statement of clauses, with the name of whom it speaks; None where that is open, or
        where it may be of no use later.
        """
        statement = self._statement(pieces)
        if "coreference" in self.without:
            return self._useful(pieces, statement, "nothing", lenient)
        if not self._known:
            statement = self.with_whom(statement)
        tokens, mentions = self._tokens, statement.mentions
        left = bisect_left(tokens.starts, statement.start)
        right = bisect_left(tokens.starts, statement.end)
        lead = after_lead_in(tokens.text, statement.start, statement.end)
        lead = max(lead, statement.start + after_link(tokens.text[statement.start : statement.end]))
        begin = bisect_left(tokens.starts, lead)
        index = None
        known = self._known or statement.sentence != " ".join(
            tokens.text[statement.start : statement.end].split()
        )
        if not known:
            index = person_open(tokens, left, right, mentions, begin)
        named = statement if index is None else self._named(statement, index)
        if any(piece.overruled for piece in pieces):
            return named
        unknown = index is not None and named is statement
        after = begin if index is None else index + 1
        known = known or index is not None
        is_open = left_open(tokens, left, right, mentions, after, known=known)
        if unknown:
            return None
        if is_open == "thing":
            completed = self._with_things(statement, lead) or self._with_question(statement)
            if completed is None:
                return None
            named, is_open = completed, "nothing"
        return self._useful(pieces, named, is_open, lenient)

    def _useful(
        self, pieces: list[_Piece], statement: Statement, is_open: Open, lenient: bool
    ) -> Statement | None:
        """The statement where it is surely of use later; what may be is kept apart."""
        use = max(use_later(piece.said) for piece in pieces if piece.kept)
        if (is_open == "nothing" and use >= 0) or any(piece.overruled for piece in pieces):
            return statement
        telling = max(
            count_words(piece.said).telling + len(piece.said.mentions) for piece in pieces
        )
        if is_open == "part" and telling < _TOLD_BESIDE:
            return None
        if lenient:
            return statement
        if use >= _LEAST_USE:
            self._unsure.append((use, statement))
        return None

    def _with_things(self, statement: Statement, lead: int) -> Statement | None:
        """The statement with things in the place of the "they" with which it begins."""
        if self._speaker is None:
            return None
        meant = things_meant(self.text, lead, self._speaker, self.before)
        if meant is None:
            return None
        if meant.number is not None:
            self.named_by[statement.start] = meant.number
        resolved = with_things(self._resolved(statement.start, statement.end), meant.name)
        text = self._worded(resolved, list(statement.mentions))
        return msgspec.structs.replace(statement, text=text)

    def _with_question(self, statement: Statement) -> Statement | None:
        """The statement with the question that it answers; None where that leaves as much open."""
        if self.answering is None or self._speaker is None:
            return None
        span, asked = self.answering
        tokens = tokenise(asked)
        if not span[0] <= statement.start < span[1] or asks_little(asked):
            return None
        if left_open(tokens, 0, len(tokens.words), (), 0) != "nothing":
            return None
        return self._answered(statement, asked)

    def _answered(self, statement: Statement, asked: str) -> Statement:
        answered = statement.text.removeprefix(f"{self._speaker}: ")
        if self._speaker is None:
            return msgspec.structs.replace(statement, text=answered)
        text = f'Asked "{asked}", {self._speaker} answered: {answered}'
        return msgspec.structs.replace(statement, text=text)

    def best_unsure(self) -> Statement | None:
        """What may be of use later: of several the one that tells most."""
        best = max(self._unsure, key=lambda each: each[0], default=None)
        return None if best is None else best[1]

    def _named(self, statement: Statement, index: int) -> Statement:
        """The statement with a name in the place of the pronoun that is a token of it."""
        if self._speaker is None:
            return statement
        place = self._tokens.starts[index]
        meant = meant_by(self._tokens, index, self._mentions, self._speaker, self.before)
        pronoun = nth_pronoun(self.text[statement.start : statement.end], place - statement.start)
        if meant is None or pronoun is None:
            return statement
        if meant.number is not None:
            self.named_by[statement.start] = meant.number
        resolved = self._resolved(statement.start, statement.end)
        text = self._worded(with_names(resolved, *pronoun, meant.name), list(statement.mentions))
        return msgspec.structs.replace(statement, text=text)

    def answer(self, span: Span, asked: str) -> list[Statement]:
        """The statement of a few words that only say something with the question before them."""
        piece = self._piece(Clause(*span, shifts=False), linked=False)
        if piece.said.left == piece.said.right or not is_answer(piece.said, asked):
            return []
        statement = self._statement([piece])
        said = piece.said
        is_open = left_open(said.tokens, said.left, said.right, said.mentions, said.left)
        if is_open != "nothing" and not said.mentions:
            return []
        return [self._answered(statement, asked)]

    def _piece(self, clause: Clause, linked: bool) -> _Piece:
        start, end = clause.start, clause.end
        said = self._said(after_lead_in(self._tokens.text, start, end), end)
        claim = self._claim(start, end)
        whom = about(said)
        frame = self._frame(start, end) if claim is None else None
        overruled = (
            claim is not None
            or bool(self._contacts_in(start, end))
            or bisect_left(self._introduced, start) != bisect_left(self._introduced, end)
            or bool(said.mentions and _CORRECTION.match(said.text))
            or is_rule(said)
            or (self.dictated and frame is not None)
            or any(first < end and start < last for first, last in self.keep)
        )
        kept = overruled or is_worth(said, whom, self._message, linked)
        return _Piece(clause, said, whom, claim or frame, kept, overruled)

    def _said(self, start: int, end: int) -> Said:
        tokens = self._tokens
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        mentions = self._mentions_in(start, end)
        text = tokens.text
        return Said(
            tokens,
            left,
            right,
            text[start:end],
            [item for item in mentions if not is_vocative(text, item, end)],
            self._dates_in(left, right),
            self._own,
            self._read_at(start),
        )

    def _claim(self, start: int, end: int) -> Claim | None:
        tokens = self._tokens
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        contacts = self._contacts_in(start, end)
        if is_reported(self.others, start) or not (
            contacts or not CLAIM_TRIGGERS.isdisjoint(tokens.lowers[left:right])
        ):
            return None
        mentions = self._mentions_in(start, end)
        dates = [as_reference(tokens, item) for item in self._dates_in(left, right)]
        return find_claim(tokens.text[start:end], start, self._speaker, mentions, dates, contacts)

    def _frame(self, start: int, end: int) -> Claim | None:
        tokens = self._tokens
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        if is_reported(self.others, start) or FRAME_VERBS.isdisjoint(tokens.lowers[left:right]):
            return None
        return find_frame(tokens.text[start:end], self._speaker)

    def _statement(self, pieces: list[_Piece]) -> Statement:
        tokens, speaker = self._tokens, self._speaker
        start, end = pieces[0].clause.start, pieces[-1].clause.end
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        sentence = tokens.text[start:end]
        dates = self._dates_in(left, right)
        references = [as_reference(tokens, item) for item in dates]
        plain = " ".join(sentence.split())
        resolved = self._resolved(start, end)
        words = tokens_for_signature(tokens, left, right, dates)
        mentions = self._mentions_in(start, end)
        claim = next((piece.claim for piece in pieces if piece.claim), None)
        return Statement(
            start=start,
            end=end,
            sentence=plain,
            text=self._whose_it_is(claim, resolved) or self._worded(resolved, mentions),
            signature=assemble(words, speaker, question=False),
            mentions=tuple(mentions),
            dates=tuple(references),
            claim=claim,
            corrects=_CORRECTION.match(sentence) is not None,
        )

    def _whose_it_is(self, claim: Claim | None, said: str) -> str | None:
        """What is said of an address that the sentence only calls "it"."""
        its = None if claim is None or claim.subject != self._speaker else claim.attribute
        if its not in _ADDRESSES or "coreference" in self.without or not _IT_IS.match(said):
            return None
        return _IT_IS.sub(f"{self._speaker}'s {_ADDRESSES[its]} is", said)

    def _resolved(self, start: int, end: int) -> str:
        """What is said, with the days that are meant."""
        tokens = self._tokens
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        dates = self._dates_in(left, right)
        if not dates or "temporal_resolution" in self.without:
            return " ".join(tokens.text[start:end].split())
        references = [as_reference(tokens, item) for item in dates]
        return with_days(tokens.text, start, end, dates, references, _iso)

    def _worded(self, said: str, mentions: list[Mention]) -> str:
        """What is said in the third person; as it was said where that would be a guess."""
        if self._speaker is None:
            return said
        if "coreference" in self.without:
            return f"{self._speaker}: {said}"
        begin = after_opening(said) or after_lead_in(said, 0, len(said))
        if said[:begin].lower().endswith("no "):
            begin = 0  # "No rush to move on"
        addressed = _ADDRESSED.match(said, begin)
        people = {item.text for item in mentions if item.type == "PERSON"}
        if addressed is not None and addressed[1] in people:
            begin = addressed.end()
        return in_third_person(said[begin:], self._speaker) or f"{self._speaker}: {said}"

    def _mentions_in(self, start: int, end: int) -> list[Mention]:
        first = bisect_left(self._mention_starts, start)
        last = bisect_left(self._mention_starts, end)
        text, speaker = self._tokens.text, self._speaker
        mentions = [_by_speaker(item, speaker, text) for item in self._mentions[first:last]]
        while mentions and mentions[-1].end > end:
            mentions.pop()
        return mentions

    def _dates_in(self, left: int, right: int) -> list[Found]:
        lefts = self._date_lefts
        dates = self._dates[bisect_left(lefts, left) : bisect_left(lefts, right)]
        while dates and dates[-1].right > right:
            dates.pop()
        return dates

    def _contacts_in(self, start: int, end: int) -> list[Contact]:
        starts = self._contact_starts
        return self._contacts[bisect_left(starts, start) : bisect_left(starts, end)]

    def _read_at(self, start: int) -> ReadSentence | None:
        return next((one for one in self.read if one.start <= start < one.end), None)


def _leads_to(piece: _Piece) -> bool:
    """Whether a clause that was not kept itself may say of whom the next one speaks."""
    return not (piece.kept or piece.about == "listener" or is_order(piece.said))


def _together(pieces: list[_Piece]) -> list[tuple[int, int]]:
    """Return the first and last of the clauses that make one statement each.

    A clause with a claim or a subject of its own stands alone; a comment goes, and what takes
    something back ("but", "though") stays with what it takes back.
    """
    groups: list[tuple[int, int]] = []
    for place, piece in enumerate(pieces):
        shifts = piece.clause.shifts and groups and groups[-1][1] == place - 1
        if shifts:
            groups[-1] = (groups[-1][0], place)
        elif piece.kept:
            apart = not points_back(piece.said) and (
                piece.about in ("speaker", "person") or piece.claim is not None
            )
            if groups and groups[-1][1] == place - 1 and not apart:
                groups[-1] = (groups[-1][0], place)
            else:
                groups.append((place, place))
        elif groups and groups[-1][1] == place - 1 and not is_comment(piece.said):
            groups[-1] = (groups[-1][0], place)
    return groups


def _by_speaker(mention: Mention, speaker: str | None, text: str) -> Mention:
    """The speaker's own name is a person's, whatever else it could be."""
    if (
        mention.type in ("OTHER", "LOCATION", "CONCEPT")
        and speaker
        and mention.text in (speaker, speaker.split(" ")[0])
        and not _PLACED.search(text, max(0, mention.start - 12), mention.start)
    ):
        return Mention(mention.start, mention.end, mention.text, "PERSON")
    return mention


def _is_prose(text: str, start: int, end: int, tokens: Tokens, left: int, right: int) -> bool:
    """Whether most of it is words: not a rule, a row of a table, ASCII art or a line of code."""
    if text[end - 1] in ";{}|" or any(text.find(mark, start, end) >= 0 for mark in _CODE_MARKS):
        return False
    inked = end - start - text.count(" ", start, end)
    return 2 * sum(map(len, tokens.words[left:right])) >= inked


def _iso(reference: DateReference) -> str:
    if reference.last == reference.first:
        return reference.first
    return f"{reference.first} to {reference.last}"
