"""Words statements so that they stand alone: in the third person, and with whom they speak of."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from recollect.streams.language.grammar.analysis import Claim, Mention, Statement, Whom
from recollect.streams.language.grammar.clauses import Span, after_lead_in
from recollect.streams.language.names.signature import assemble, signature, tokens_for_signature
from recollect.streams.language.references.antecedents import antecedent
from recollect.streams.language.references.explaining import tells_what
from recollect.streams.language.references.person_before import (
    Before,
    meant_by,
    nth_pronoun,
    things_meant,
    with_names,
)
from recollect.streams.language.references.person_before import with_things as things_named
from recollect.streams.language.references.standing_alone import left_open
from recollect.streams.language.relations.causes import after_opening
from recollect.streams.language.statements.message_contents import MessageContents
from recollect.streams.language.statements.occasions import Occasion, ToldOccasion, without_occasion
from recollect.streams.language.statements.plain_words import without_marks
from recollect.streams.language.statements.third_person import in_third_person, is_impersonal
from recollect.streams.language.worth.worth import asks_little, count_words
from recollect.streams.language.worth.worth_words import SHOWS
from recollect.text.dates.found_dates import as_reference
from recollect.text.tokenizer import tokenise

THIRD_PERSON = re.compile(r"(?:he|she)(?:['’](?:s|d|ll))?\b(?! (?:or|and)\b)", re.IGNORECASE)
_FIRST_PRONOUN = re.compile(r"\b(?:he|she)(?=\b)", re.IGNORECASE)
#: "I have a new number. It is now …"
_IT_IS = re.compile(r"\A(?:it|that)(?:['’]s| is)(?= )", re.IGNORECASE)
#: A caption with marks that fence what is remembered is not repeated, nor is a long one.
_NO_CAPTION = re.compile(r"[\[\]<>{}]")
_LONGEST_CAPTION = 200
#: So many words of a question tell what is asked.
_TELLING = 2
_SAYS_NO = re.compile(r"\W*(?:no|nope|nah|not (?:yet|really|at all))\b", re.IGNORECASE)
_ADDRESSES = {"phone": "phone number", "email": "e-mail address"}
#: "Maria, I've been busy": whom somebody speaks to is not part of what he says of himself.
_ADDRESSED = re.compile(r"([^\W\d_][\w'’.\-]*),\s+(?=(?:I|I['’]\w+|[Ww]e|[Mm]y|[Oo]ur)\b)")


#: "The checklist is": an item of several is not all that it is.
_TELLS_WHAT = re.compile(r" (?:is|are|was|were|includes?)(?: (?:as follows|these|this))?\Z", re.I)
#: A heading may leave open no more than this.
_TELLS = ("nothing", "aside")

#: So many pronouns of one message are looked up; who says more of them is no chat.
MOST_LOOKED_UP = 128


class Wording:
    """How the statements of one message are put into words.

    `before` are the messages before it, `answering` is the sentence that answers a question, with
    that question; on `occasion` they were written. `pictures` say what is on those that came with
    the message. `resolves`: whether persons are named at all.
    """

    def __init__(
        self,
        contents: MessageContents,
        *,
        before: Sequence[Before] = (),
        answering: tuple[Span, str] | None = None,
        occasion: Occasion | None = None,
        pictures: Sequence[str] = (),
        resolves: bool = True,
    ) -> None:
        self._contents = contents
        self._speaker = contents.speaker
        self._before = before
        self._answering = answering
        self._occasion = occasion
        self._pictures = pictures
        self._resolves = resolves
        self._looked_up = 0

    def with_whom(self, statement: Statement) -> Statement:
        """The statement with a name where it begins with "he" or "she" and that is sure."""
        text, speaker = self._contents.tokens.text, self._speaker
        place = after_lead_in(text, statement.start, statement.end)
        if speaker is None or THIRD_PERSON.match(text, place, statement.end) is None:
            return statement
        meant = antecedent(text, place, self._contents.mentions, speaker, self._contents.others)
        return statement if meant is None else self.with_subject(statement, *meant)

    def with_subject(self, statement: Statement, name: str, named: list[Mention]) -> Statement:
        """The statement with a name in the place of the pronoun with which it begins."""
        if not self._resolves:
            return statement
        own, signed = name[:1].upper() + name[1:], signature(name)
        said = statement.text.removeprefix(f"{self._speaker}: ")
        mentions = [*named, *statement.mentions]
        claim = statement.claim
        if claim is not None and THIRD_PERSON.fullmatch(claim.subject):
            of_named = [item.text for item in named] == [name]
            claim = msgspec.structs.replace(claim, subject=name) if of_named else None
        place = after_lead_in(self._contents.text, statement.start, statement.end)
        pronoun = _FIRST_PRONOUN.match(self._contents.text, place)
        whom = Whom(named[0].text, name, *pronoun.span()) if named and pronoun else None
        return msgspec.structs.replace(
            statement,
            sentence=_FIRST_PRONOUN.sub(lambda _: own, statement.sentence, count=1),
            text=self.worded(_FIRST_PRONOUN.sub(lambda _: own, said, count=1), mentions),
            signature=_FIRST_PRONOUN.sub(lambda _: signed, statement.signature, count=1),
            mentions=tuple(mentions),
            claim=claim,
            whom=whom,
        )

    def named(self, statement: Statement, index: int) -> Statement:
        """The statement with a name in the place of the pronoun that is a token of it."""
        if self._speaker is None or self._looked_up >= MOST_LOOKED_UP:
            return statement
        self._looked_up += 1
        contents = self._contents
        place = contents.tokens.starts[index]
        meant = meant_by(
            contents.tokens,
            index,
            contents.mentions,
            self._speaker,
            self._before,
            contents.others,
        )
        said = contents.text[statement.start : statement.end]
        pronoun = nth_pronoun(said, place - statement.start)
        if meant is None or pronoun is None:
            return statement
        resolved = self._contents.resolved(statement.start, statement.end)
        text = self.worded(with_names(resolved, *pronoun, meant.name), list(statement.mentions))
        end = place + len(pronoun[0])
        whom = Whom(meant.named, meant.name, place, end) if meant.named else None
        return _told(msgspec.structs.replace(statement, whom=whom), text, meant.number)

    def with_things(self, statement: Statement, lead: int) -> Statement | None:
        """The statement with things in the place of the "they" with which it begins."""
        if self._speaker is None:
            return None
        meant = things_meant(self._contents.text, lead, self._speaker, self._before)
        if meant is None:
            return None
        resolved = things_named(self._contents.resolved(statement.start, statement.end), meant.name)
        text = self.worded(resolved, list(statement.mentions))
        return _told(statement, text, meant.number)

    def with_question(self, statement: Statement) -> Statement | None:
        """The statement with the question that it answers; None where that tells nothing."""
        if self._answering is None or self._speaker is None:
            return None
        (start, end), asked = self._answering
        if not start <= statement.start < end or not self.is_told_by(asked):
            return None
        return self.answered(statement, asked)

    def is_told_by(self, asked: str) -> bool:
        """Whether a question says what an answer is about, also one that asks of "it"."""
        told = tokenise(self._in_full(asked))
        if tells_what(told):
            return True
        telling = count_words(told, 0, len(told.words), ()).telling
        return telling >= _TELLING and not asks_little(asked)

    def answered(self, statement: Statement, asked: str) -> Statement:
        """Return the statement with the question that it answers."""
        answered = statement.text.removeprefix(f"{self._speaker}: ")
        if self._speaker is None:
            return msgspec.structs.replace(statement, text=answered)
        text = f'Asked "{self._in_full(asked)}", {self._speaker} answered: {answered}'
        return msgspec.structs.replace(statement, text=text)

    def _in_full(self, asked: str) -> str:
        """Return a question with the sentence before it, where that says what it asks about."""
        told = self._occasion.told if self._occasion and self._occasion.said_by else None
        return asked if told is None or not told.asks else told.words

    def whose_it_is(self, claim: Claim | None, said: str) -> str | None:
        """What is said of an address that the sentence only calls "it"."""
        its = None if claim is None or claim.subject != self._speaker else claim.attribute
        if its not in _ADDRESSES or not self._resolves or not _IT_IS.match(said):
            return None
        whose = f"{self._speaker}'s {_ADDRESSES[its]} is"
        return _IT_IS.sub(lambda _: whose, said)

    def worded(self, said: str, mentions: list[Mention]) -> str:
        """What is said in the third person; as it was said where that would be a guess."""
        said = without_marks(said)
        if self._speaker is None:
            return said
        if not self._resolves:
            return f"{self._speaker}: {said}"
        return in_third_person(_begun(said, mentions), self._speaker) or f"{self._speaker}: {said}"

    def widened(
        self, statement: Statement, span: Span, *, named: bool, whole: bool
    ) -> Statement | None:
        """The statement with the sentence before it, which says what it means.

        `named`: a name already stands for a pronoun in it; `whole`: they are one sentence. None
        where that cannot be put together.
        """
        if self._speaker is None:
            return None
        contents = self._contents
        mentions = contents.mentions_in(span[0], statement.end)
        statement = self._with_dates_of(statement, span)
        if whole:
            text = self.worded(contents.resolved(span[0], statement.end), mentions)
            return None if named else msgspec.structs.replace(statement, text=text)
        said = _begun(without_marks(contents.resolved(statement.start, statement.end)), mentions)
        before = _begun(without_marks(contents.resolved(*span)), mentions)
        earlier = in_third_person(before, self._speaker)
        own = in_third_person(said, self._speaker, explained=True)
        prefix = f"{self._speaker}: "
        if named:
            said = statement.text.removeprefix(prefix)
            own = None if said != statement.text else said
        told = (earlier or own) and (earlier or is_impersonal(before))
        if told and (own or is_impersonal(said)):
            text = f"{earlier or _ended(before)} {own or _ended(said)}"
        elif named and own:
            return None
        else:
            text = f"{prefix}{_ended(before)} {_ended(said)}"
        return msgspec.structs.replace(statement, text=text)

    def with_picture(self, statement: Statement) -> Statement:
        """The statement that only shows a picture, with what is on it, in brackets."""
        if statement.claim is not None or len(self._pictures) != 1:
            return statement
        shown = " ".join(self._pictures[0].split())
        if SHOWS.search(statement.sentence) is None or _NO_CAPTION.search(shown):
            return statement
        if not 0 < len(shown) <= _LONGEST_CAPTION:
            return statement
        return msgspec.structs.replace(statement, text=f"{statement.text} [{shown}]")

    def on_occasion(self, statement: Statement, *, unsure: bool) -> Statement:
        """The statement with the words that tell on what occasion it was made, where it lacks them.

        `unsure`: it tells little by itself.
        """
        occasion = self._occasion
        if self._speaker is None or statement.claim is not None or occasion is None:
            return statement
        told = occasion.told if occasion.may_be_lacked(unsure=unsure) else None
        if told is None or not told.is_lacked(statement, unsure=unsure):
            return statement
        if told.asks and self._denies_before(statement):
            return statement  # With the question alone it would say yes.
        said = statement.text.removeprefix(f"{self._speaker}: ")
        if without_occasion(said) != said:
            return statement  # It is told with the question that it answers.
        in_third = said == statement.text
        text = told.before(said, self._speaker, in_third_person=in_third)
        return _told(statement, text, told.number)

    def _denies_before(self, statement: Statement) -> bool:
        """Whether the message says no to what was asked, before the statement: "No. But I …"."""
        no = _SAYS_NO.match(self._contents.text)
        return no is not None and no.end() <= statement.start

    def with_corrected(
        self, statement: Statement, corrected: Sequence[tuple[Span, ToldOccasion]]
    ) -> Statement:
        """The statement of a value alone with the words that say what the value is of.

        `corrected` has these by the sentence that gives the value. Who is named in it says enough.
        """
        here = (
            told
            for (start, end), told in corrected
            if statement.start < end and start < statement.end
        )
        told = next(here, None)
        said = statement.text.removeprefix(f"{self._speaker}: ")
        if told is None or self._speaker is None or without_occasion(said) != said:
            return statement
        if statement.whom is not None or statement.claim is not None:
            return statement
        text = told.before(said, self._speaker, in_third_person=said == statement.text)
        dates = (*statement.context_dates, *told.dates)
        statement = msgspec.structs.replace(statement, context_dates=dates)
        return _told(statement, text, told.number)

    def as_passage(self, statement: Statement, sentences: Sequence[Span]) -> Statement:
        """The statement with the sentences that stand beside it in the message, all whole."""
        contents = self._contents
        start, end = sentences[0][0], sentences[-1][1]
        if self._speaker is None or (start, end) == (statement.start, statement.end):
            return statement
        left, right = contents.places(start, end)
        mentions = contents.mentions_in(start, end)
        dates = contents.dates_in(left, right)
        said = [_begun(without_marks(contents.resolved(*each)), mentions) for each in sentences]
        own = [
            in_third_person(each, self._speaker, explained=place > 0)
            for place, each in enumerate(said)
        ]
        told = [
            third or (_ended(each) if is_impersonal(each) else None)
            for third, each in zip(own, said, strict=True)
        ]
        if any(own) and all(told):
            text = " ".join(each for each in told if each)
        else:
            text = f"{self._speaker}: {' '.join(map(_ended, said))}"
        words = tokens_for_signature(contents.tokens, left, right, dates)
        by_place = {each.start: each for each in (*mentions, *statement.mentions)}
        return msgspec.structs.replace(
            statement,
            start=start,
            end=end,
            sentence=" ".join(contents.text[start:end].split()),
            text=text,
            signature=assemble(words, self._speaker, question=False),
            mentions=tuple(by_place[place] for place in sorted(by_place)),
            dates=tuple(as_reference(contents.tokens, item) for item in dates),
        )

    def going_on(self, statement: Statement, rest: Sequence[Span]) -> Statement:
        """The answer with the sentences behind it; as it is where these cannot be told as it is."""
        contents, (start, end) = self._contents, (statement.start, rest[-1][1])
        mentions = contents.mentions_in(start, end)
        said = [_begun(without_marks(contents.resolved(*each)), mentions) for each in rest]
        answer = without_occasion(statement.text)
        own = _begun(without_marks(contents.resolved(statement.start, statement.end)), mentions)
        if self._speaker is not None and answer != own:
            third = [in_third_person(each, self._speaker, explained=True) for each in said]
            if not all(one or is_impersonal(each) for one, each in zip(third, said, strict=True)):
                return statement
            said = [one or each for one, each in zip(third, said, strict=True)]
        left, right = contents.places(start, end)
        dates = contents.dates_in(left, right)
        words = tokens_for_signature(contents.tokens, left, right, dates)
        text = " ".join((_ended(statement.text), *map(_ended, said)))
        return msgspec.structs.replace(
            statement,
            end=end,
            sentence=" ".join(contents.text[start:end].split()),
            text=text,
            signature=assemble(words, self._speaker, question=False),
            mentions=tuple(mentions),
            dates=tuple(as_reference(contents.tokens, item) for item in dates),
        )

    def under_heading(self, statement: Statement, span: Span, *, alone: bool) -> Statement:
        """An item of a list with the line that says what it is an item of; `alone`: it is all of
        the list.
        """
        contents = self._contents
        said = _begun(without_marks(contents.resolved(*span)), contents.mentions_in(*span))
        heading, joint = said.rstrip(" :.;,"), ":" if said.rstrip().endswith(":") else ";"
        if not alone and _TELLS_WHAT.search(heading):
            joint = ", among others:"
        tokens = tokenise(heading)
        if self._speaker is None or left_open(tokens, 0, len(tokens.words), (), 0) not in _TELLS:
            return statement
        prefix = f"{self._speaker}: "
        item = statement.text.removeprefix(prefix)
        told = in_third_person(heading, self._speaker)
        if item != statement.text:
            text = f"{prefix}{heading}{joint} {item}"
        elif told is not None or is_impersonal(heading):
            text = f"{(told or heading).rstrip('.')}{joint} {item}"
        else:
            return statement
        return msgspec.structs.replace(self._with_dates_of(statement, span), text=text)

    def _with_dates_of(self, statement: Statement, span: Span) -> Statement:
        """Return the statement with the dates of another sentence that is told with it."""
        contents = self._contents
        found = contents.dates_in(*contents.places(*span))
        dates = tuple(as_reference(contents.tokens, item) for item in found)
        if not dates:
            return statement
        return msgspec.structs.replace(statement, context_dates=(*statement.context_dates, *dates))


def _told(statement: Statement, text: str, number: int | None) -> Statement:
    """Return the statement as a text that has words of an event; None: of this message alone."""
    told = msgspec.structs.replace(statement, text=text)
    return told if number is None else told.told_with_words_of(number)


def _begun(said: str, mentions: list[Mention]) -> str:
    """What is said, without what leads to it and whom it calls."""
    begin = after_opening(said) or after_lead_in(said, 0, len(said))
    if said[:begin].lower().endswith("no "):
        begin = 0  # "No rush to move on"
    addressed = _ADDRESSED.match(said, begin)
    people = {item.text for item in mentions if item.type == "PERSON"}
    if addressed is not None and addressed[1] in people:
        begin = addressed.end()
    return said[begin:]


def _ended(said: str) -> str:
    said = said[:1].upper() + said[1:]
    return said if said.endswith((".", "!", "?", "…", '"', "”")) else f"{said.rstrip(',;: ')}."
