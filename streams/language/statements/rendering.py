"""Rendering of statements: third person, names instead of pronouns, and days written out."""

from __future__ import annotations

import re

import msgspec

from recollect.streams.language.grammar.analysis import Claim, Mention, Statement, Whom
from recollect.streams.language.grammar.clauses import Span, after_lead_in
from recollect.streams.language.grammar.verbs import THIRDS, is_past
from recollect.streams.language.names.naming import without_own_name
from recollect.streams.language.names.signature import signature
from recollect.streams.language.references.antecedents import antecedent
from recollect.streams.language.references.person_antecedents import (
    meant_by,
    nth_pronoun,
    with_names,
)
from recollect.streams.language.relations.causes import after_opening
from recollect.streams.language.statements.document import Findings
from recollect.streams.language.statements.plain_words import without_marks
from recollect.streams.language.statements.third_person import in_third_person, is_impersonal
from recollect.text.relatives import Relative, name_of, relatives_in
from recollect.text.tokenizer import tokenise

THIRD_PERSON = re.compile(r"(?:he|she)(?:['’](?:s|d|ll))?\b(?! (?:or|and)\b)", re.IGNORECASE)
_FIRST_PRONOUN = re.compile(r"\b(?:he|she)(?=\b)", re.IGNORECASE)
#: "I have a new number. It is now …"
_IT_IS = re.compile(r"\A(?:it|that)(?:['’]s| is)(?= )", re.IGNORECASE)
_NEXT_WORD = re.compile(r" ([a-z]+)\b")
_ADDRESSES = {"phone": "phone number", "email": "e-mail address"}
#: "Maria, I've been busy", "Maria I've been busy": the addressee is not part of a statement about
#: the speaker; but "Maria my sister" is no address.
_ADDRESSED = re.compile(
    r"([^\W\d_][\w'’.\-]*)(?:,\s+(?=(?:[Mm]y|[Oo]ur|I|I['’]\w+|[Ww]e)\b)|"
    r"\s+(?=(?:I(?! (?:\w+ed|\w+s|had|of|and)\b)|I['’]\w+|[Ww]e)\b))"
)
#: The maximum number of pronouns per message that are resolved.
MAX_PRONOUNS = 128


class Renderer:
    """Renders the statements of one document; without coreference, each as it was said."""

    def __init__(self, findings: Findings, *, resolves: bool = True) -> None:
        self._findings = findings
        self._speaker = findings.document.speaker
        self._addressee = findings.document.addressee
        self._before = findings.document.before
        self._resolves = resolves
        self._looked_up = 0

    def rendered(self, said: str, mentions: list[Mention], span: Span) -> str:
        """Return a clause in the third person, or as it was said if that would be a guess.

        `span`: where the message says it.
        """
        said = without_marks(said)
        if self._speaker is None:
            return said
        if not self._resolves:
            return f"{self._speaker}: {said}"
        own = _without_opening(said, mentions)
        own = without_own_name(own, self._speaker) or own
        # "Maria, I'll bring you the keys" is to Maria.
        addressee = self._addressee if own == said else None
        told = self._told(own, span, addressee=addressee)
        return told or self._quoted(said, self._speaker)

    def _told(
        self, own: str, span: Span, *, addressee: str | None = None, explained: bool = False
    ) -> str | None:
        """Return the speaker's words for a span in the third person; None if that is a guess."""
        assert self._speaker is not None
        tags = self._findings.tags_of(tokenise(own).words, *span)
        return in_third_person(
            own, self._speaker, addressee=addressee, explained=explained, tags=tags
        )

    @staticmethod
    def _quoted(said: str, speaker: str) -> str:
        """Return a sentence with "Name: " before it, unless the speaker's name is its subject."""
        after = _NEXT_WORD.match(said, len(speaker)) if said.startswith(speaker) else None
        if after is not None and (after[1] in THIRDS or is_past(after[1])):
            return said
        return f"{speaker}: {said}"

    def of_address(self, claim: Claim | None, said: str) -> str | None:
        """Return the statement of a contact that the clause only calls "it", or None."""
        attribute = None if claim is None or claim.subject != self._speaker else claim.attribute
        if attribute not in _ADDRESSES or not self._resolves or not _IT_IS.match(said):
            return None
        subject = f"{self._speaker}'s {_ADDRESSES[attribute]} is"
        return _IT_IS.sub(lambda _: subject, said)

    def with_antecedent(self, statement: Statement) -> Statement:
        """Return the statement with its initial "he" or "she" replaced by a name, if certain."""
        text, speaker = self._findings.text, self._speaker
        place = after_lead_in(text, statement.start, statement.end)
        if speaker is None or THIRD_PERSON.match(text, place, statement.end) is None:
            return statement
        found = antecedent(
            text, place, list(self._findings.mentions), speaker, self._findings.quoted
        )
        return statement if found is None else self.with_subject(statement, *found)

    def with_subject(self, statement: Statement, name: str, named: list[Mention]) -> Statement:
        """Return the statement with its initial pronoun replaced by a name."""
        if not self._resolves:
            return statement
        own, signed = name[:1].upper() + name[1:], signature(name)
        span = statement.start, statement.end
        said = statement.text.removeprefix(f"{self._speaker}: ")
        mentions = [*named, *statement.mentions]
        place = after_lead_in(self._findings.text, statement.start, statement.end)
        pronoun = _FIRST_PRONOUN.match(self._findings.text, place)
        whom = Whom(named[0].text, name, *pronoun.span()) if named and pronoun else None
        return msgspec.structs.replace(
            statement,
            sentence=_FIRST_PRONOUN.sub(lambda _: own, statement.sentence, count=1),
            text=self.rendered(_FIRST_PRONOUN.sub(lambda _: own, said, count=1), mentions, span),
            signature=_FIRST_PRONOUN.sub(lambda _: signed, statement.signature, count=1),
            mentions=tuple(mentions),
            whom=whom,
        )

    def with_name(self, statement: Statement, token: int) -> Statement:
        """Return the statement with the pronoun at a token replaced by a name, if certain."""
        if self._speaker is None or self._looked_up >= MAX_PRONOUNS:
            return statement
        self._looked_up += 1
        findings = self._findings
        place = findings.tokens.starts[token]
        found = meant_by(
            findings.tokens,
            token,
            list(findings.mentions),
            self._speaker,
            self._before,
            findings.quoted,
        )
        said = findings.text[statement.start : statement.end]
        pronoun = nth_pronoun(said, place - statement.start)
        if found is None or pronoun is None:
            return statement
        named = with_names(findings.with_days(statement.start, statement.end), *pronoun, found.name)
        span = statement.start, statement.end
        text = self.rendered(named, list(statement.mentions), span)
        end = place + len(pronoun[0])
        whom = Whom(found.named, found.name, place, end) if found.named else None
        return _from_event(msgspec.structs.replace(statement, whom=whom), text, found.number)

    def with_relative(
        self, statement: Statement, relative: Relative, name: Mention, number: int | None
    ) -> Statement:
        """Return a statement about "my sister" with the name that an event gives her.

        `number`: the event's; None for this message.
        """
        if not self._resolves or statement.claim is None:
            return statement
        kin = self._findings.text[relative.start : relative.end]
        span = statement.start, statement.end
        said = self._findings.with_days(*span).replace(kin, f"{kin} {name.text}", 1)
        whom = Whom(name.text, f"{kin} {name.text}", relative.start, relative.end)
        found = msgspec.structs.replace(
            statement,
            whom=whom,
            claim=msgspec.structs.replace(statement.claim, subject=name.text),
        )
        return _from_event(found, self.rendered(said, list(statement.mentions), span), number)

    def after_sentence(self, statement: Statement, span: Span) -> Statement | None:
        """Return the statement after the previous sentence, which names what it leaves open."""
        if self._speaker is None:
            return None
        findings = self._findings
        mentions = findings.mentions_in(span[0], statement.end)
        own = _without_opening(
            without_marks(findings.with_days(statement.start, statement.end)), mentions
        )
        before = _without_opening(without_marks(findings.with_days(*span)), mentions)
        earlier = self._told(before, span)
        third = self._told(own, (statement.start, statement.end), explained=True)
        told = (earlier or third) and (earlier or is_impersonal(before))
        if told and (third or is_impersonal(own)):
            text = f"{earlier or _ended(before)} {third or _ended(own)}"
        else:
            text = f"{self._speaker}: {_ended(before)} {_ended(own)}"
        dates = (*findings.references_in(*span), *statement.dates)
        return msgspec.structs.replace(statement, text=text, dates=dates)


def _from_event(statement: Statement, text: str, number: int | None) -> Statement:
    """Return the statement with a text that quotes an event; None: only the document."""
    found = msgspec.structs.replace(statement, text=text)
    return found if number is None else found.told_with_words_of(number)


def _without_opening(said: str, mentions: list[Mention]) -> str:
    """Return the content, without its introduction and its vocative."""
    begin = after_opening(said) or after_lead_in(said, 0, len(said))
    if said[:begin].lower().endswith("no "):
        begin = 0  # "No rush to move on"
    addressed = _ADDRESSED.match(said, begin)
    people = {each.text for each in mentions if each.type == "PERSON"}
    if addressed is not None and addressed[1] in people and not _is_apposed(said, addressed):
        begin = addressed.end()
    return said[begin:]


def _is_apposed(said: str, addressed: re.Match[str]) -> bool:
    """Whether a name at the beginning is somebody's of whom it is said: "Eve, my sister, …"."""
    relative = next(relatives_in(said, addressed.end()), None)
    return relative is not None and name_of(said, relative, [addressed.span(1)]) is not None


def _ended(said: str) -> str:
    return with_stop(said[:1].upper() + said[1:])


def with_stop(said: str) -> str:
    """Return a sentence with a full stop, if it has no end mark."""
    return said if said.endswith((".", "!", "?", "…", '"', "”")) else f"{said.rstrip(',;: ')}."
