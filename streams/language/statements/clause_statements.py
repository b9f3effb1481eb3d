"""The statements of a sentence: its salient clauses, each as a self-contained fact."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import msgspec

from recollect.schemas.attributes import is_open
from recollect.streams.language.attributes.claim_parts import ClaimPart, claim_parts
from recollect.streams.language.attributes.claims import TRIGGERS, find_claim
from recollect.streams.language.attributes.frames import VERBS as FRAME_VERBS
from recollect.streams.language.attributes.frames import find_frame
from recollect.streams.language.attributes.named_relatives import named_relatives
from recollect.streams.language.attributes.plain_attributes import find_attribute, find_pet
from recollect.streams.language.attributes.stated_values import stated_slot
from recollect.streams.language.grammar.analysis import Claim, Mention, Statement
from recollect.streams.language.grammar.clauses import (
    Clause,
    Span,
    after_lead_in,
    clauses,
    is_finite,
)
from recollect.streams.language.grammar.reported import is_reported
from recollect.streams.language.grammar.vocatives import is_salutation
from recollect.streams.language.names.naming import without_own_name
from recollect.streams.language.names.signature import assemble, tokens_for_signature
from recollect.streams.language.references.person_antecedents import names_anybody
from recollect.streams.language.references.standing_alone import left_open, person_open
from recollect.streams.language.relations.causes import Joined, after_link, joined
from recollect.streams.language.statements.clause_salience import ClauseSalience, opens_correction
from recollect.streams.language.statements.document import Findings
from recollect.streams.language.statements.plain_words import without_marks
from recollect.streams.language.statements.rendering import THIRD_PERSON, Renderer, with_stop
from recollect.text.dates.found_dates import as_reference
from recollect.text.relatives import relatives_in
from recollect.text.tokenizer import tokenise

_WORD = re.compile(r"\w+")
#: What a statement may leave open, if nothing in the message names it, because it is incidental.
_MAY_LEAVE_OPEN = frozenset({"aside", "which", "part"})
#: How much more salient a clause with an open subject must be, in percent.
_OPEN_MARGIN = 15
_FINITE = frozenset({"VBD", "VBP", "VBZ", "VB", "MD"})
#: The minimum number of words of a fragment that states something by itself.
_FEWEST_WORDS = 3
#: The maximum length of a statement with fragments, in characters.
_LONGEST_COMPLETED = 400
#: A line that ends with a colon, and the list below it up to the beginning of an item.
_BULLET = r"[ \t]*(?:[-*•]|\d{1,3}[.)])"
_LISTED = re.compile(
    rf"^[ \t]*(?P<heading>\w[^\n]*:)[ \t]*\n+(?:{_BULLET}[^\n]*\n)*{_BULLET}[ \t]*\Z", re.MULTILINE
)
#: In characters.
_LONGEST_LIST, _LONGEST_HEADING = 1_000, 120


class Halves(NamedTuple):
    """The two parts of a sentence, one of which is the cause of the other."""

    left: list[Statement]
    right: list[Statement]
    joint: Joined


class ClauseStatements:
    """Extracts the statements of the sentences of one document, in order.

    `told`: the spans of the sentences that state something, by index.
    """

    def __init__(
        self,
        findings: Findings,
        salience: ClauseSalience,
        renderer: Renderer,
        told: dict[int, Span],
    ) -> None:
        self._findings = findings
        self._salience = salience
        self._renderer = renderer
        self._told = list(told.values())
        self._claims: dict[Span, Claim | None] = {}

    def halves(self, span: Span) -> Halves | None:
        """Return the statements of a sentence's cause and effect, if both state something."""
        joint = joined(self._findings.tokens, *span)
        if joint is None or is_reported(self._findings.quoted, joint.right[0]):
            return None
        subject = self._subject(joint)
        left = self.of(joint.left, lenient=True)
        right = self.of(joint.right, lenient=True, has_subject=subject is not None) if left else []
        if right and subject is not None:
            right[0] = self._renderer.with_subject(right[0], *subject)
        return Halves(left, right, joint) if right else None

    def _subject(self, joint: Joined) -> tuple[str, list[Mention]] | None:
        """Return the person of the "he" or "she" that begins the second part; None if unclear."""
        text = self._findings.text
        if THIRD_PERSON.match(text, *joint.right) is None:
            return None
        inside = self._findings.mentions_in(*joint.left)
        persons = [each for each in inside if each.type == "PERSON"]
        kin = [each for each in relatives_in(text, *joint.left) if each.is_own]
        if len(persons) + len(kin) != 1:
            return None
        start, end = (persons[0].start, persons[0].end) if persons else kin[0][:2]
        return (text[start:end], persons) if start == joint.left[0] else None

    def of(
        self, span: Span, *, lenient: bool = False, has_subject: bool = False
    ) -> list[Statement]:
        """Return the statements of a sentence.

        `lenient`: it is the cause or effect of another part; `has_subject`: the part before it
        names the antecedent of its first pronoun.
        """
        findings = self._findings
        start, end = span
        left, right = findings.token_range(start, end)
        if left == right or not findings.is_prose(start, end):
            return []
        if findings.text[end - 1] == ":":  # it only introduces a list
            return []
        if is_salutation(findings.tokens, start, end, left, right):
            return []
        found: list[Statement] = []
        for group, earlier in self._groups(span, lenient=lenient):
            statement = self._standing_alone(
                group, earlier, has_subject=has_subject, lenient=lenient
            )
            if statement is None or self._only_names_speaker(statement):
                continue
            while found and found[-1].start >= statement.start:
                del found[-1]  # the statement uses its words too
            found += self._by_claim(group, statement)
        return found

    def _only_names_speaker(self, statement: Statement) -> bool:
        """Whether a statement says nothing but the speaker's known name: "Hi, I'm Ada"."""
        speaker, text = self._findings.document.speaker, self._findings.text
        if speaker is None:
            return False
        begin = after_lead_in(text, statement.start, statement.end)
        return without_own_name(text[begin : statement.end], speaker) == ""

    def is_fragment(self, span: Span) -> bool:
        """Whether a sentence has no finite verb, such as "Two weeks at last"."""
        findings = self._findings
        reading = findings.document.reading
        tags = {each.tag for each in reading.words_in(*span)} if reading is not None else set()
        if tags <= {""}:  # the reader has no head for tags
            return not is_finite(findings.tokens, *span)
        return tags.isdisjoint(_FINITE)

    def completes(self, fragment: Statement, before: Statement) -> bool:
        """Whether a fragment continues the previous statement, on the same line."""
        if fragment.claim is not None or fragment.end - before.start > _LONGEST_COMPLETED:
            return False
        return "\n" not in self._findings.text[before.end : fragment.start]

    def stands_alone(self, fragment: Statement) -> bool:
        """Whether a fragment is self-contained: it has enough words, or contains a name.

        In scripts without spaces, it counts as having enough words.
        """
        if fragment.claim is not None or fragment.mentions or fragment.dates:
            return True
        if self._salience.is_certain(fragment.start, fragment.end):
            return True
        words = _WORD.findall(fragment.sentence)
        return len(words) >= _FEWEST_WORDS or not fragment.sentence.isascii()

    def completed(self, statement: Statement, fragment: Statement) -> Statement:
        """Return a statement with the fragment that continues it."""
        findings = self._findings
        own = assemble([], findings.document.speaker, question=False)
        added = without_marks(findings.with_days(fragment.start, fragment.end))
        return msgspec.structs.replace(
            statement,
            end=fragment.end,
            sentence=" ".join(findings.text[statement.start : fragment.end].split()),
            text=f"{with_stop(statement.text)} {added[:1].upper()}{added[1:]}",
            signature=f"{statement.signature} {fragment.signature.removeprefix(own)}",
            mentions=(*statement.mentions, *fragment.mentions),
            dates=(*statement.dates, *fragment.dates),
        )

    def _groups(self, span: Span, *, lenient: bool) -> list[tuple[list[Clause], list[Clause]]]:
        """Return the groups of clauses that make one statement each, with the clauses before them.

        A clause that fills a slot, or is about the person named before, begins a statement of its
        own. A group is left out if none of its clauses is salient.
        """
        groups: list[list[Clause]] = []
        for clause in clauses(self._findings.tokens, span):
            own = self._begins(clause)
            hangs = (
                clause.shifts or clause.purpose or is_reported(self._findings.quoted, clause.start)
            )
            if groups and (hangs or not own):
                groups[-1].append(clause)
            else:
                groups.append([clause])
        found: list[tuple[list[Clause], list[Clause]]] = []
        earlier: list[Clause] = []
        for group in groups:
            if lenient or any(map(self._is_kept, group)):
                found.append((group, list(earlier)))
            earlier += group
        return found

    def _begins(self, clause: Clause) -> bool:
        """Whether a clause begins a statement: it fills a slot, or opens with "he" or "she"."""
        text = self._findings.text
        if THIRD_PERSON.match(text, after_lead_in(text, clause.start, clause.end), clause.end):
            return True
        if self._claim(clause) is not None:
            return True
        document = self._findings.document
        if document.reading is None or document.speaker is None:
            return False
        span = clause.start, clause.end
        mentions = self._findings.mentions_in(*span)
        slot = stated_slot(document.text, span, document.speaker, mentions, document.reading)
        return slot is not None and not is_open(slot.attribute)

    def _is_kept(self, clause: Clause) -> bool:
        return self._salience.is_kept(clause.start, clause.end) or (
            self._findings.document.reading is None and self._claim(clause) is not None
        )

    def _standing_alone(
        self,
        group: list[Clause],
        earlier: Sequence[Clause],
        *,
        has_subject: bool = False,
        lenient: bool = False,
    ) -> Statement | None:
        """Return a self-contained statement of some clauses, or None.

        Pronouns are replaced by names. It is None if the subject remains unknown and the clauses
        are not very salient. `earlier`: the preceding clauses of the sentence, which may contain
        antecedents; `lenient`: they are a cause or an effect, which may not have an open subject.
        """
        said = statement = self._statement(group)
        if not has_subject:
            statement = self._renderer.with_antecedent(statement)
        findings = self._findings
        tokens, mentions = findings.tokens, statement.mentions
        left, right = findings.token_range(statement.start, statement.end)
        lead = after_lead_in(findings.text, statement.start, statement.end)
        lead = max(
            lead, statement.start + after_link(findings.text[statement.start : statement.end])
        )
        begin, _ = findings.token_range(lead, statement.end)
        has_subject = has_subject or statement is not said
        person = None if has_subject else person_open(tokens, left, right, mentions, begin)
        if person is not None:
            named = self._renderer.with_name(statement, person)
            has_subject = named is not statement
            statement = named
        after = begin if person is None or not has_subject else person + 1
        leaves_open = left_open(tokens, left, right, mentions, after, known=has_subject)
        if leaves_open == "nothing" and (person is None or has_subject):
            return statement
        if earlier:
            longer = [earlier[-1], *group]
            return self._standing_alone(longer, earlier[:-1], has_subject=has_subject)
        before = self._sentence_before(said)
        is_of_person = person is not None and not has_subject
        if before is not None and (
            not is_of_person or names_anybody(findings.text, before, findings.mentions)
        ):
            return self._renderer.after_sentence(said, before)
        if leaves_open in _MAY_LEAVE_OPEN and (person is None or has_subject):
            return statement
        if lenient:
            return None
        first, last = group[0].start, group[-1].end
        if statement.claim is not None or self._salience.is_certain(first, last):
            return statement
        least = self._salience.least + _OPEN_MARGIN
        return statement if self._salience.of(first, last) >= least else None

    def _sentence_before(self, statement: Statement) -> Span | None:
        """Return the sentence just before a statement's, if it states something itself."""
        text = self._findings.text
        place = bisect_right(self._told, statement.start, key=itemgetter(0)) - 1
        if place <= 0 or statement.start >= self._told[place][1]:
            return None
        start, end = self._told[place - 1]
        between = text[end : self._told[place][0]]
        near = not between.strip() and "\n\n" not in between
        if not near or len(_WORD.findall(text[start:end])) < _FEWEST_WORDS:
            return None
        return (start, end) if self._salience.is_kept(start, end) else None

    def _statement(self, group: list[Clause]) -> Statement:
        findings = self._findings
        start, end = group[0].start, group[-1].end
        left, right = findings.token_range(start, end)
        dates = findings.dates_in(start, end)
        said = findings.with_days(start, end)
        told_dates = findings.references_in(start, end)
        heading = self._heading(start)
        if heading is not None:
            said = f"{findings.with_days(*heading)} {said}"
            told_dates = [*findings.references_in(*heading), *told_dates]
        mentions = findings.mentions_in(start, end)
        claim = next((found for each in group if (found := self._claim(each))), None)
        words = tokens_for_signature(findings.tokens, left, right, dates)
        sentence = findings.text[start:end]
        return Statement(
            start=start,
            end=end,
            sentence=" ".join(sentence.split()),
            text=self._renderer.of_address(claim, said)
            or self._renderer.rendered(said, mentions, (start, end)),
            signature=assemble(words, findings.document.speaker, question=False),
            mentions=tuple(mentions),
            dates=tuple(told_dates),
            claim=claim,
            corrects=opens_correction(sentence),
        )

    def _heading(self, start: int) -> Span | None:
        """Return the line that introduces the list whose item begins here: "My debts:"."""
        text = self._findings.text
        begin = max(0, start - _LONGEST_LIST)
        listed = _LISTED.search(text, begin, start)
        if listed is None or listed.end("heading") - listed.start("heading") > _LONGEST_HEADING:
            return None
        return listed.span("heading")

    # Claims

    def _claim(self, clause: Clause) -> Claim | None:
        """Return the claim of a clause."""
        span = clause.start, clause.end
        if span not in self._claims:
            self._claims[span] = self._claim_in(span)
        return self._claims[span]

    def _claim_in(self, span: Span) -> Claim | None:
        findings, (start, end) = self._findings, span
        if is_reported(findings.quoted, start):
            return None
        left, right = findings.token_range(start, end)
        lowers = findings.tokens.lowers[left:right]
        contacts = findings.contacts_in(start, end)
        speaker, text = findings.document.speaker, findings.text[start:end]
        mentions = findings.mentions_in(start, end)
        claim = None
        if contacts or not TRIGGERS.isdisjoint(lowers):
            dates = findings.references_in(start, end)
            claim = find_claim(text, start, speaker, mentions, dates, contacts)
        claim = claim or self._without_reader(text, mentions)
        if claim is None and findings.document.reading is None and speaker is not None:
            related = named_relatives(findings.text, span, speaker, mentions)
            begin = after_lead_in(findings.text, start, end)
            claim = next((each.claim for each in related if each.span[0] == begin), None)
        if claim is not None:
            return claim
        if not FRAME_VERBS.isdisjoint(lowers):
            return find_frame(text, speaker)
        return None

    def _claim_of_part(
        self, opening: str, start: int, end: int, person: str | None
    ) -> Claim | None:
        """Return the claim of a part of a clause, completed with its opening."""
        findings = self._findings
        sentence, offset = opening + findings.text[start:end], start - len(opening)
        mentions = findings.mentions_in(start, end)
        if person is not None:
            mentions.insert(0, Mention(offset, offset + len(person), person, "PERSON"))
        dates = findings.references_in(start, end)
        claim = find_claim(sentence, offset, findings.document.speaker, mentions, dates, [])
        return claim or self._without_reader(sentence, mentions)

    def _without_reader(self, sentence: str, mentions: list[Mention]) -> Claim | None:
        """Return the attribute that a plain sentence gives, in a home without a reader."""
        document = self._findings.document
        if document.reading is not None:
            return None
        return find_attribute(sentence, document.speaker, mentions) or find_pet(
            sentence, document.speaker
        )

    def _by_claim(self, group: list[Clause], statement: Statement) -> list[Statement]:
        """Return the statement, or one for each claim of its first clause."""
        findings, whom = self._findings, statement.whom
        if findings.document.speaker is None:
            return [statement]
        start, end, *_ = group[0]
        mentions = findings.mentions_in(start, end)
        parts = claim_parts(findings.text, start, end, self._claim_of_part, mentions, whom)
        if not parts or (whom is None and len(parts) == 1):
            return [statement]
        first, *others = parts
        if len(group) > 1:
            others = []
        elif others:
            cut = self._standing_alone([group[0]._replace(end=first.end)], ())
            statement = cut or statement
        statement = msgspec.structs.replace(statement, claim=first.claim)
        subject = parts[-1].claim.subject if parts[-1].claim is not None else ""
        named = [each for each in statement.mentions if each.text == subject]
        return [statement, *(self._of_part(each, named, statement) for each in others)]

    def _of_part(self, part: ClaimPart, named: list[Mention], first: Statement) -> Statement:
        """Return the statement of a part of a clause.

        `named` are the mentions of its subject; `first` is the statement of the clause's main
        claim.
        """
        findings = self._findings
        start, end = part.start, part.end
        left, right = findings.token_range(start, end)
        dates = findings.dates_in(start, end)
        opening, whom = part.opening, first.whom
        if whom is not None and first.told_with:
            # The antecedent is in another message, so the words of this one are kept.
            opening = opening.replace(whom.called, findings.text[whom.start : whom.end], 1)
        before = tokenise(opening)
        words = tokens_for_signature(before, 0, len(before.words), ())
        words += tokens_for_signature(findings.tokens, left, right, dates)
        mentions = [*named, *findings.mentions_in(start, end)]
        said = part.opening + findings.with_days(start, end)
        return Statement(
            start=start,
            end=end,
            sentence=opening + " ".join(findings.text[start:end].split()),
            text=self._renderer.rendered(said[0].upper() + said[1:], mentions, (start, end)),
            signature=assemble(words, findings.document.speaker, question=False),
            mentions=tuple(dict.fromkeys(mentions)),
            dates=tuple(as_reference(findings.tokens, each) for each in dates),
            claim=part.claim,
            corrects=False,
            whom=whom,
            told_with=first.told_with,
        )


def containers(statements: Sequence[Statement]) -> list[int | None]:
    """Return for each statement the index of the longest other one that has all its words, or None.

    A statement that fills a slot of a listed attribute or a frame, or corrects something, counts as
    not contained.
    """
    if len(statements) < 2:
        return [None] * len(statements)
    words = [" ".join(("", *_WORD.findall(each.text.lower()), "")) for each in statements]
    found: list[int | None] = []
    for place, (each, own) in enumerate(zip(statements, words, strict=True)):
        others = [
            before
            for before, other in enumerate(words)
            if before != place and own in other and (own != other or before < place)
        ]
        fills = each.claim is not None and not is_open(each.claim.attribute)
        stays = fills or each.corrects
        found.append(None if stays else max(others, key=lambda one: len(words[one]), default=None))
    return found
