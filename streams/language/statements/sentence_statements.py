"""What a sentence states: its clauses that are worth keeping, as statements that stand alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence

import msgspec

from recollect.streams.language.attributes.claim_parts import ClaimPart, claim_parts
from recollect.streams.language.attributes.frames import MASK
from recollect.streams.language.grammar.analysis import Mention, Statement
from recollect.streams.language.grammar.clauses import Clause, Span, after_lead_in, clauses
from recollect.streams.language.grammar.reported import is_reported
from recollect.streams.language.grammar.vocatives import is_remark, is_salutation
from recollect.streams.language.names.signature import assemble, tokens_for_signature
from recollect.streams.language.references.standing_alone import Open, left_open, person_open
from recollect.streams.language.relations.causes import Joined, after_link, joined
from recollect.streams.language.statements.clause_judge import ClauseJudge, opens_correction
from recollect.streams.language.statements.list_headings import LABEL, ListHeadings
from recollect.streams.language.statements.message_contents import MessageContents
from recollect.streams.language.statements.occasions import FEW_WORDS, is_told_as_answer
from recollect.streams.language.statements.passages import Passages
from recollect.streams.language.statements.said_before import SaidBefore
from recollect.streams.language.statements.wording import THIRD_PERSON, Wording
from recollect.streams.language.worth.judged_clauses import JudgedClause, leads_to, together
from recollect.streams.language.worth.lasting import (
    is_appointment,
    is_event_of_life,
    tells,
    use_later,
)
from recollect.streams.language.worth.worth import Said, is_answer, may_tell, points_back, says
from recollect.text.dates.found_dates import as_reference
from recollect.text.lexicon import RELATIONS, word_set
from recollect.text.tokenizer import tokenise

_KIN = re.compile(rf"\b(?:my|our) (?:\w+ )?(?:{'|'.join(sorted(RELATIONS))})\b", re.IGNORECASE)
#: So few words of a message of so few tell little by themselves.
_FEW_WORDS, _SHORT_MESSAGE = 8, 30
#: A sentence of more words is too much to tell for one of its parts.
_LONGEST_WITH_CAUSE = 30
#: So many words that tell, or names, keep a statement in which something beside its point is left
#: open, and one that is not sure among people.
_ENOUGH = 2
#: What tells so much is told beside other statements of a message: by rules alone, and where the
#: head reads it too.
_SURELY_TOLD, _SURELY_READ = 1, 12
#: Where a message has nothing sure, what tells less is none; what is worth keeping is better by
#: some than what the gate left. To somebody much is only said to be kind.
_LEAST_TOLD, _BETTER = 0, 3
_LEAST_AMONG_PEOPLE = 2
#: Where the head reads too. Who talks with an assistant speaks of their affairs: most messages
#: leave something. Among people more is said to pass the time.
_LEAST_READ, _LEAST_READ_AMONG_PEOPLE = -6, 9
#: Among people a message of fewer words goes on from others: by itself it tells less than it seems.
_LINE, _LEAST_OF_LINE = 12, 16
#: A message of fewer words is as soon read itself: without the head it must tell more.
_SHORT, _LEAST_OF_SHORT = 16, 2
_CALLS = re.compile(r", (\w+)\W*\Z")
_AGREEING = word_set(
    "definitely absolutely totally exactly sure yes yeah yep ha haha oh indeed true thing course "
    "ok okay of agree agreed i thanks thank you so much very a lot"
)


class SentenceStatements:
    """What the sentences of one message state, one sentence after the other.

    Sentences that touch a span of `keep` are kept; `dictated`: plain facts about nobody here are
    kept too. `resolves`: whether a statement must stand alone; `among_people`: whether the message
    is to others, and not to an assistant. `told` are the sentences that tell something, by their
    places in the message.
    """

    def __init__(
        self,
        contents: MessageContents,
        wording: Wording,
        *,
        keep: Sequence[Span] = (),
        dictated: bool = False,
        resolves: bool = True,
        among_people: bool = False,
        told: Mapping[int, Span] | None = None,
    ) -> None:
        self._contents = contents
        self._among_people = among_people
        self._headings = ListHeadings(contents.text)
        self._before = SaidBefore(contents, told or {})
        self._passages = Passages(contents, told or {})
        self._wording = wording
        self._judge = ClauseJudge(contents, keep=keep, dictated=dictated, among_people=among_people)
        self._resolves = resolves
        #: What sentences say on the way, such as whose sister somebody is.
        self.aside: list[Statement] = []
        #: What clauses say in the words of their message alone, by where they stand.
        self._in_own_words: dict[Span, str] = {}
        #: The clauses of sentences that state nothing sure.
        self._left: list[list[JudgedClause]] = []
        #: Whether "he" or "she" in the part that is read is somebody whom the part before names.
        self._known = False
        #: The first part of a sentence, while the second is read.
        self._half: Span | None = None

    def halves(self, span: Span) -> tuple[list[Statement], list[Statement], Joined] | None:
        """The statements of the two parts of a sentence of which one is the cause of the other.

        None where there are no such parts, or one of them says nothing that stands alone.
        """
        joint = joined(self._contents.tokens, *span)
        if joint is None or is_reported(self._contents.others, joint.right[0]):
            return None
        subject = self._subject(joint)
        if subject is None and points_back(self._contents.said(*joint.right)):
            return None
        left = self.statements(joint.left, linked=True, lenient=True)
        self._known, self._half = subject is not None, joint.left
        right = self.statements(joint.right, linked=True, lenient=True) if left else []
        self._known, self._half = False, None
        if right and subject is not None:
            right[0] = self._wording.with_subject(right[0], *subject)
        if right and joint.cause_first:
            right[0] = self._with_cause(left, right, joint, span)
        return (left, right, joint) if right else None

    def _with_cause(
        self, left: list[Statement], right: list[Statement], joint: Joined, span: Span
    ) -> Statement:
        """The effect, told with the cause before it where it is short and fills no slot."""
        cause, effect = left[0], right[0]
        words = self._contents.text.count(" ", *span) + 1
        few = effect.sentence.count(" ") < FEW_WORDS - 1 and words <= _LONGEST_WITH_CAUSE
        whole = (cause.start, left[-1].end) == joint.left
        whole = whole and (effect.start, right[-1].end) == joint.right
        if not (whole and few) or effect.claim is not None or not self._resolves:
            return effect
        if cause.text != self._in_own_words.get((cause.start, cause.end)):
            return effect  # The cause is told with a name or a question that the sentence lacks.
        return self._wording.widened(effect, span, named=False, whole=True) or effect

    def _subject(self, joint: Joined) -> tuple[str, list[Mention]] | None:
        """Who "he" or "she", with which the second part begins, is; None if it is not plain.

        It is the subject of the first part where that names nobody else.
        """
        text = self._contents.tokens.text
        if THIRD_PERSON.match(text, *joint.right) is None:
            return None
        persons = [
            item for item in self._contents.mentions_in(*joint.left) if item.type == "PERSON"
        ]
        kin = list(_KIN.finditer(text, *joint.left))
        if len(persons) + len(kin) != 1:
            return None
        (start, end) = (persons[0].start, persons[0].end) if persons else kin[0].span()
        return (text[start:end], persons) if start == joint.left[0] else None

    def without_open_claim(self, statement: Statement) -> Statement:
        """The statement without a claim about him or her, where nobody knows who that is."""
        claim = statement.claim
        if claim is None or THIRD_PERSON.fullmatch(claim.subject) is None:
            return statement
        return msgspec.structs.replace(statement, claim=None)

    def statements(
        self, span: Span, linked: bool, lenient: bool = False, explains: bool = False
    ) -> list[Statement]:
        """The statements of a sentence that is worth keeping; of its clauses only those that are.

        `linked` says that it is the cause or the effect of what stands beside it, in so many words;
        `lenient` that this is reason enough to keep it; `explains` that what stands before it was.
        """
        tokens = self._contents.tokens
        start, end = span
        left, right = self._contents.places(start, end)
        if left == right or not self._contents.is_prose(start, end):
            return []
        if self._contents.is_anothers(start):
            return []
        if is_salutation(tokens, start, end, left, right):
            return []
        pieces = [self._judge.judged(clause, linked, explains) for clause in clauses(tokens, span)]
        said: list[Statement] = []
        for first, last in together(pieces):
            group = pieces[first : last + 1]
            if first and self._before.clauses_explain(pieces[:first], group):
                # "I inherited a vineyard, and my cousin runs it"
                group = pieces[: last + 1]
                said = []
            statement = self._standing_alone(group, lenient)
            if statement is None and first and leads_to(pieces[first - 1]):
                # "My one-year-old is so cute, his name is Kyle"
                statement = self._standing_alone(pieces[first - 1 : last + 1], lenient)
            if statement is not None:
                said += self._claim_by_claim(group, statement, lenient)
        if not said:
            self._left.append(pieces)
        return said

    def _claim_by_claim(
        self, group: list[JudgedClause], statement: Statement, lenient: bool
    ) -> list[Statement]:
        """The statement, or one for each of the claims that its first clause makes."""
        tokens, speaker, claim = self._contents.tokens, self._contents.speaker, statement.claim
        whom = statement.whom
        if speaker is None or (whom is None and (claim is None or MASK in claim.attribute)):
            return [statement]
        start, end, *_ = group[0].clause
        mentions = self._contents.mentions_in(start, end)
        parts = claim_parts(
            tokens.text, start, end, self._judge.claim_read, mentions, speaker, whom
        )
        if not parts or (whom is None and len(parts) == 1):
            return [statement]
        first, *others = parts
        if len(group) > 1:
            others = [each for each in others if each.beside]
        elif first.end < end:
            lead = after_lead_in(tokens.text, start, end)
            said = self._contents.said(lead, first.end)
            clause = group[0].clause._replace(end=first.end)
            cut = self._standing_alone([group[0]._replace(clause=clause, said=said)], lenient)
            statement = cut or statement
        statement = msgspec.structs.replace(statement, claim=first.claim)
        named = [each for each in statement.mentions if each.text == first.claim.subject]
        made = [(each, self._of_part(each, named, statement)) for each in others]
        self.aside += [one for each, one in made if each.beside]
        return [statement, *(one for each, one in made if not each.beside)]

    def _of_part(self, part: ClaimPart, named: list[Mention], first: Statement) -> Statement:
        """The statement of a part of a clause; `named` are the mentions of whom it is said of, and
        `first` is the statement of what the clause mainly says.
        """
        contents = self._contents
        start, end = part.start, part.end
        left, right = contents.places(start, end)
        dates = contents.dates_in(left, right)
        opening, whom = part.opening, first.whom
        if whom is not None and first.told_with:
            # Who that is stands in another message; the words of this one are kept.
            opening = opening.replace(whom.called, contents.text[whom.start : whom.end], 1)
        before = tokenise(opening)
        words = tokens_for_signature(before, 0, len(before.words), ())
        words += tokens_for_signature(contents.tokens, left, right, dates)
        mentions = [*named, *contents.mentions_in(start, end)]
        said = part.opening + contents.resolved(start, end)
        return Statement(
            start=start,
            end=end,
            sentence=opening + " ".join(contents.text[start:end].split()),
            text=self._wording.worded(said[0].upper() + said[1:], mentions),
            signature=assemble(words, contents.speaker, question=False),
            mentions=tuple(dict.fromkeys(mentions)),
            dates=tuple(as_reference(contents.tokens, item) for item in dates),
            claim=part.claim,
            corrects=False,
            whom=whom,
            told_with=first.told_with,
        )

    def _standing_alone(self, pieces: list[JudgedClause], lenient: bool) -> Statement | None:
        """The statement of clauses, with the name of whom it speaks; None where that is open, or
        where it may be of no use later; `lenient`: it is told for another reason.
        """
        surely = lenient or _overruled(pieces) or self._is_surely_of_use(pieces)
        if not surely and not any(piece.claim for piece in pieces):
            return None
        statement, is_open = self._worded(pieces)
        if _overruled(pieces) or (surely and is_open == "nothing"):
            return statement
        if lenient and is_open == "aside":
            return statement
        return statement if is_open != "thing" and _claims_of_another(statement) else None

    def _worded(self, pieces: list[JudgedClause]) -> tuple[Statement, Open]:
        """The statement of clauses, with the name of whom it speaks, and what it leaves open."""
        said = statement = self._statement(pieces)
        if not self._resolves:
            return statement, "nothing"
        if not self._known:
            statement = self._wording.with_whom(statement)
        tokens, mentions = self._contents.tokens, statement.mentions
        left, right = self._contents.places(statement.start, statement.end)
        lead = after_lead_in(tokens.text, statement.start, statement.end)
        lead = max(lead, statement.start + after_link(tokens.text[statement.start : statement.end]))
        begin = bisect_left(tokens.starts, lead)
        index = None
        known = self._known or statement is not said
        if not known:
            index = person_open(tokens, left, right, mentions, begin)
        named = statement if index is None else self._wording.named(statement, index)
        unknown = index is not None and named is statement
        after = begin if index is None or unknown else index + 1
        known = known or (index is not None and not unknown)
        is_open = left_open(tokens, left, right, mentions, after, known=known)
        if tokens.text[statement.end - 1] == ":":
            is_open = "thing"  # what it leads to is told with what follows
        if is_open != "nothing" or unknown:
            person = index if unknown else None
            completed = self._completed(named, lead, person, is_open, named=named is not said)
            if completed is not None:
                named, is_open, unknown = completed, "nothing", False
        too_open = unknown or (is_open == "part" and not _tells_enough(pieces))
        return self._as_item(named), "thing" if too_open else is_open

    def _as_item(self, statement: Statement) -> Statement:
        """The statement with the heading of the list of which it is an item, where it needs one."""
        heading = self._headings.above(statement.start)
        if heading is None:
            return statement
        said = self._contents.said(statement.start, statement.end)
        if says(said) and LABEL.match(self._contents.text, statement.start) is None:
            return statement
        alone = self._headings.is_alone(heading)
        return self._wording.under_heading(statement, heading, alone=alone)

    def _completed(
        self, statement: Statement, lead: int, person: int | None, is_open: Open, *, named: bool
    ) -> Statement | None:
        """The statement with what it leaves open: things, the sentence before it, the question."""
        if is_open == "thing" and person is None and not named:
            things = self._wording.with_things(statement, lead)
            if things is not None:
                return things
        before = self._before.sentence(statement, person, self._half)
        if before is not None:
            whole = before == self._half
            return self._wording.widened(statement, before, named=named, whole=whole)
        if is_open == "aside" or named:
            return None
        return self._wording.with_question(statement)

    def _is_surely_of_use(self, pieces: list[JudgedClause]) -> bool:
        """Whether clauses surely tell what is of use later."""
        telling = self._telling(pieces)
        if all(piece.said.read is None for piece in pieces):
            lasts = any(piece.kept and use_later(piece.said) >= 0 for piece in pieces)
            return lasts and telling >= _SURELY_TOLD
        if self._is_line() and any(piece.kept and is_appointment(piece.said) for piece in pieces):
            return telling >= 0
        of_life = any(is_event_of_life(piece.said) for piece in pieces)
        least = _LEAST_OF_LINE if self._is_line() and not of_life else _SURELY_READ
        return any(piece.kept for piece in pieces) and telling >= least

    def best_unsure(self) -> Statement | None:
        """What may be of use later: of several what tells most, and the longest of these.

        What leaves nothing open goes before what does.
        """
        parts = [part for left in self._left for part in self._parts(left)]
        rated = [
            (self._rate(part), part)
            for part in parts
            if (not self._among_people or _tells_enough(part)) and not self._is_remark(part)
        ]
        least = self._least_told()
        open_ones: list[Statement] = []
        for _, part in sorted((each for each in rated if each[0] >= least), key=_goes_first):
            statement, is_open = self._worded(part)
            if is_open == "thing":
                continue
            if is_open in ("nothing", "aside") or _claims_of_another(statement):
                return self.with_passage(statement)
            open_ones.append(statement)
        return self.with_passage(open_ones[0]) if open_ones else None

    def _is_remark(self, part: list[JudgedClause]) -> bool:
        return is_remark(self._contents.tokens, (part[0].clause.start, part[-1].clause.end))

    def _least_told(self) -> int:
        """How much the best of a message tells at least to be told, where nothing is sure."""
        if any(piece.said.read is not None for left in self._left for piece in left):
            if self._is_line():
                return _LEAST_OF_LINE
            return _LEAST_READ_AMONG_PEOPLE if self._among_people else _LEAST_READ
        # In scripts without spaces nobody counts words.
        if 0 < self._contents.text.strip().count(" ") < _SHORT - 1:
            return _LEAST_OF_SHORT
        return _LEAST_AMONG_PEOPLE if self._among_people else _LEAST_TOLD

    def _is_line(self) -> bool:
        """Whether the message is a line that somebody throws in among people."""
        return self._among_people and self._contents.text.strip().count(" ") < _LINE - 1

    def with_passage(self, statement: Statement, others: Collection[int] = ()) -> Statement:
        """The statement with the sentences beside it, but for those that `others` begin in.

        What is told in other words than the message's own, with a name or a question, stays so.
        """
        if statement.claim is not None or not self._resolves:
            return statement
        if statement.text != self._in_own_words.get((statement.start, statement.end)):
            return statement
        sentences = self._passages.around(statement.start, others)
        return self._wording.as_passage(statement, sentences) if len(sentences) > 1 else statement

    def with_rest_of_answer(self, statement: Statement, others: Collection[int]) -> Statement:
        """An answer with the sentences behind it, but for those that `others` begin in."""
        if statement.claim is not None or not is_told_as_answer(statement.text):
            return statement
        rest = self._passages.behind(statement.start, others)
        return self._wording.going_on(statement, rest) if rest else statement

    def with_sentence_before(self, statement: Statement) -> Statement:
        """A few words of a short message with the sentence that they go on from."""
        own = statement.text == self._in_own_words.get((statement.start, statement.end))
        if statement.claim is not None or not own or not self._resolves:
            return statement
        few = statement.sentence.count(" ") < _FEW_WORDS - 1
        if not few or self._contents.text.count(" ") >= _SHORT_MESSAGE:
            return statement
        before = self._passages.before(statement.start)
        if before is None:
            return statement
        told = self._wording.widened(statement, before, named=False, whole=False)
        return statement if told is None else told

    def _rate(self, part: list[JudgedClause]) -> int:
        """How much a part of a message tells; more where it is worth keeping by itself."""
        return self._telling(part) + (_BETTER if any(piece.kept for piece in part) else 0)

    def _parts(self, pieces: list[JudgedClause]) -> list[list[JudgedClause]]:
        """The whole sentence, what of it is worth keeping, and the clauses that may tell more."""
        groups = [pieces[first : last + 1] for first, last in together(pieces)]
        may = [
            not each.clause.purpose
            and (each.kept or may_tell(each.said, each.about, self._judge.message))
            for each in pieces
        ]
        singles = [[each] for each, may_be in zip(pieces, may, strict=True) if may_be]
        whole = [pieces] if len(pieces) > 1 and all(may) and pieces not in groups else []
        return [*whole, *groups, *(each for each in singles if each not in groups)]

    def _telling(self, pieces: list[JudgedClause]) -> int:
        """How much clauses that stand beside each other tell."""
        if len(pieces) == 1:
            return tells(pieces[0].said)
        text, (start, end) = self._contents.text, (pieces[0].clause.start, pieces[-1].clause.end)
        return tells(self._contents.said(after_lead_in(text, start, end), end))

    def answer(self, span: Span, asked: str) -> list[Statement]:
        """The statement of a few words that only say something with the question before them."""
        piece = self._judge.judged(Clause(*span), linked=False)
        if piece.said.left == piece.said.right or not is_answer(piece.said, asked):
            return []
        statement = self._statement([piece])
        said = piece.said
        if said.text.endswith(",") or self._only_agrees(said):
            return []
        is_open = left_open(said.tokens, said.left, said.right, said.mentions, said.left)
        if is_open != "nothing" and not (said.mentions or self._wording.is_told_by(asked)):
            return []
        return [self._wording.answered(statement, asked)]

    def _only_agrees(self, said: Said) -> bool:
        """Whether it says yes, and perhaps to whom: "Definitely, Maria!"."""
        named = {word for item in said.mentions for word in item.text.lower().split()}
        lowers = said.tokens.lowers[said.left : said.right]
        called = _CALLS.search(said.text)
        if called is not None:
            named.add(called[1].lower())
        return set(lowers) - named <= _AGREEING and bool(_AGREEING & set(lowers))

    def _statement(self, pieces: list[JudgedClause]) -> Statement:
        wording = self._wording
        tokens, speaker = self._contents.tokens, self._contents.speaker
        start, end = pieces[0].clause.start, pieces[-1].clause.end
        left, right = self._contents.places(start, end)
        sentence = tokens.text[start:end]
        dates = self._contents.dates_in(left, right)
        references = [as_reference(tokens, item) for item in dates]
        plain = " ".join(sentence.split())
        resolved = self._contents.resolved(start, end)
        words = tokens_for_signature(tokens, left, right, dates)
        mentions = self._contents.mentions_in(start, end)
        claim = next((piece.claim for piece in pieces if piece.claim), None)
        text = wording.whose_it_is(claim, resolved) or wording.worded(resolved, mentions)
        self._in_own_words[start, end] = text
        return Statement(
            start=start,
            end=end,
            sentence=plain,
            text=text,
            signature=assemble(words, speaker, question=False),
            mentions=tuple(mentions),
            dates=tuple(references),
            claim=claim,
            corrects=opens_correction(sentence),
        )


def _overruled(pieces: list[JudgedClause]) -> bool:
    return any(piece.overruled for piece in pieces)


def _tells_enough(pieces: list[JudgedClause]) -> bool:
    """Whether clauses tell something beside what they leave open."""
    telling = max(piece.said.words.telling + len(piece.said.mentions) for piece in pieces)
    return telling >= _ENOUGH


def _claims_of_another(statement: Statement) -> bool:
    """Whether something is claimed of somebody who is named in the place of a pronoun."""
    return statement.whom is not None and statement.claim is not None


def _goes_first(rated: tuple[int, list[JudgedClause]]) -> tuple[int, int]:
    """What tells more goes first, and the longer; later what points back to a sentence before."""
    rate, part = rated
    length = part[-1].clause.end - part[0].clause.start
    return (_BETTER if points_back(part[0].said) else 0) - rate, -length
