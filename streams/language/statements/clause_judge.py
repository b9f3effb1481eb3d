"""What the clauses of a message are worth and claim, each judged by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.streams.language.attributes.claims import TRIGGERS as CLAIM_TRIGGERS
from recollect.streams.language.attributes.claims import find_claim
from recollect.streams.language.attributes.frames import VERBS as FRAME_VERBS
from recollect.streams.language.attributes.frames import find_frame
from recollect.streams.language.grammar.analysis import Claim, Mention
from recollect.streams.language.grammar.clauses import Clause, Span, after_lead_in
from recollect.streams.language.grammar.reported import is_reported
from recollect.streams.language.statements.message_contents import MessageContents
from recollect.streams.language.worth.judged_clauses import JudgedClause
from recollect.streams.language.worth.worth import (
    Message,
    about,
    is_draft,
    is_rule,
    is_worth,
    may_tell,
    surely_lasts,
)
from recollect.text.dates.found_dates import as_reference

_CORRECTION = re.compile(
    r"(?:actually\b|correction\b|(?:sorry,? |oops,? |no,? |wait,? )*(?:i meant|i mean[, ]+(?=it)|"
    r"scratch that|let me correct)|(?:no|wait|oops|sorry),? (?:wait,? )?actually\b|"
    r"edit:|\*+(?=\w))",
    re.IGNORECASE,
)
_ANOTHER = re.compile(r"(?P<who>he|she)(?P<is>['’]s)?(?= )", re.IGNORECASE)


def opens_correction(said: str) -> bool:
    """Whether it begins as a correction does: "Actually", "Scratch that"."""
    return _CORRECTION.match(said) is not None


class ClauseJudge:
    """Judges the clauses of one message.

    Clauses that touch a span of `keep` are kept; `dictated`: plain facts about nobody here are kept
    too.
    """

    def __init__(
        self,
        contents: MessageContents,
        *,
        keep: Sequence[Span] = (),
        dictated: bool = False,
        among_people: bool = False,
    ) -> None:
        self._contents = contents
        self._keep = keep
        self._dictated = dictated
        # Rules alone cannot tell an announcement from what all the world knows.
        told_others = among_people and contents.is_read
        self.message = Message.of(contents.tokens, among_people=told_others)

    def judged(self, clause: Clause, linked: bool, explains: bool = False) -> JudgedClause:
        """Judge a clause.

        `linked` says that it is the cause or the effect of what stands beside it, in so many words;
        `explains` that what stands before it is.
        """
        start, end = clause.start, clause.end
        lead = after_lead_in(self._contents.text, start, end)
        said = self._contents.said(lead, end)
        claim = self._claim(start, end)
        whom = about(said)
        frame = self._frame(start, end) if claim is None else None
        draft = is_draft(said)
        overruled = (
            claim is not None
            or bool(self._contents.contacts_in(start, end))
            or self._contents.introduces(start, end)
            or bool(said.mentions and opens_correction(said.text))
            or (not draft and not self.message.material and is_rule(said))
            or (self._dictated and frame is not None)
            or any(first < end and start < last for first, last in self._keep)
        )
        another = None if overruled else self._claim_of_another(start, lead, end)
        kept = overruled or another is not None
        kept = kept or (
            not draft
            and not self._contents.is_anothers(start)
            and (
                is_worth(said, whom, self.message, linked, explains)
                or (surely_lasts(said) and may_tell(said, whom, self.message))
            )
        )
        return JudgedClause(clause, said, whom, claim or another or frame, kept, overruled)

    def claim_read(self, opening: str, start: int, end: int, person: str | None) -> Claim | None:
        """The claim of a part of the message, with the words before it that it lacks."""
        tokens, contents = self._contents.tokens, self._contents
        sentence, offset = opening + tokens.text[start:end], start - len(opening)
        mentions = contents.mentions_in(start, end)
        if person is not None:
            mentions.insert(0, Mention(offset, offset + len(person), person, "PERSON"))
        dates = contents.dates_in(*contents.places(start, end))
        references = [as_reference(tokens, item) for item in dates]
        return find_claim(sentence, offset, contents.speaker, mentions, references, [])

    def _claim_of_another(self, start: int, lead: int, end: int) -> Claim | None:
        """What is claimed of "he" or "she": worth a fact where it is told who that is."""
        found = _ANOTHER.match(self._contents.text, lead, end)
        if found is None or is_reported(self._contents.others, start):
            return None
        opening = f"{found['who']} is" if found["is"] else found["who"]
        return self.claim_read(opening, found.end(), end, found["who"])

    def _claim(self, start: int, end: int) -> Claim | None:
        tokens = self._contents.tokens
        left, right = self._contents.places(start, end)
        contacts = self._contents.contacts_in(start, end)
        if is_reported(self._contents.others, start) or not (
            contacts or not CLAIM_TRIGGERS.isdisjoint(tokens.lowers[left:right])
        ):
            return None
        mentions = self._contents.mentions_in(start, end)
        dates = [as_reference(tokens, item) for item in self._contents.dates_in(left, right)]
        return find_claim(
            tokens.text[start:end], start, self._contents.speaker, mentions, dates, contacts
        )

    def _frame(self, start: int, end: int) -> Claim | None:
        tokens = self._contents.tokens
        left, right = self._contents.places(start, end)
        if is_reported(self._contents.others, start) or FRAME_VERBS.isdisjoint(
            tokens.lowers[left:right]
        ):
            return None
        return find_frame(tokens.text[start:end], self._contents.speaker)
