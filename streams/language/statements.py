"""What one message says: its durable sentences as self-contained facts, with what they mention."""

from __future__ import annotations

import re
from bisect import bisect_left

from projections.text.addresses import addresses
from projections.text.dates import DateReference, Found, as_reference, find_dates, local_day
from projections.text.lexicon import CONTRACTIONS, FUNCTION_WORDS, HONORIFICS, PHATIC, word_set
from projections.text.resolved_dates import resolved as with_days
from projections.text.sentences import sentences
from projections.text.tokenizer import Tokens, bare, tokenise
from streams.language.analysis import (
    Analysis,
    Contact,
    Introduction,
    Mention,
    Statement,
)
from streams.language.claims import TRIGGERS as CLAIM_TRIGGERS
from streams.language.claims import find_claim
from streams.language.contacts import find_contacts
from streams.language.frames import VERBS as FRAME_VERBS
from streams.language.frames import find_frame
from streams.language.mentions import find_mentions
from streams.language.naming import find_introductions
from streams.language.reported import Span, is_reported, reported
from streams.language.signature import assemble, tokens_for_signature
from streams.language.text_reading import TextReading

_QUESTION_OPENING = re.compile(
    r"(?:(?:so|and|but|hey|hi|ok|okay|oh|well|btw|wow)[ ,]+)*"
    r"(?:(?:do|does|did|are|is|was|were|have|has|can|could|would|will|should|shall|don['’]t|"
    r"doesn['’]t|didn['’]t|aren['’]t|isn['’]t|haven['’]t|can['’]t|won['’]t|wouldn['’]t) "
    r"(?:you|u|i|we|they|he|she|it|there|anyone|anybody|someone|your|this|that|the|my)\b"
    r"|(?:what|where|when|why|how|who|which)(?: (?:do|does|did|are|is|was|were|have|has|can|could|"
    r"would|will|should)|['’]s|['’]re|['’]d) (?:you|u|your|yours|it|that|this|the|they|he|she|we|i|"
    r"there|up|going|new)\b"
    r"|(?:is|are|was|were|does|did|has|can|could|would|should) (?-i:[A-Z][a-z])\w* "
    r"|(?:what|how) about\b|how (?:much|many|long|far|old|often|come)\b|anyone\b)",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"(?:actually\b|correction\b|(?:sorry,? |oops,? |no,? |wait,? )*(?:i meant|i mean[, ]+(?=it)|"
    r"scratch that|let me correct)|(?:no|wait|oops|sorry),? (?:wait,? )?actually\b|"
    r"edit:|\*+(?=\w))",
    re.IGNORECASE,
)
# Only what says that the sentence before is the cause. "So" and "then" are left out: they often
# only go on with a story.
_CAUSE = re.compile(
    r"(?:(?:and|but|so),? )?(?:because of (?:that|this|it)\b|"
    r"as a (?:result|consequence)\b(?! of\b)|"
    r"consequently\b|therefore\b|thus,|hence,|that(?:['’]s| is| was) why\b|this is why\b|"
    r"which is why\b|for (?:that|this) reason\b|due to (?:that|this)\b|thanks to that\b|"
    r"(?:that|this) (?:led to|resulted in|caused|made me|meant that)\b)",
    re.IGNORECASE,
)
_CONTRACTED = ("'s", "'m", "'re", "'ve", "'ll", "'d", "n't")
_FIRST_PERSON = frozenset({"i", "i'm", "i've", "my", "we", "we're", "we've", "our", "i'd", "i'll",
                           "im", "ive", "mine", "we'll"})  # fmt: skip
_STATE = frozenset({"i'm", "im", "we're"})
_BE = frozenset({"am", "are", "was", "were"})
#: Moods and places of the moment: "I'm tired" is over before it is remembered.
_PASSING = word_set(
    """okay starving hungry thirsty sleepy exhausted bored confused curious impressed stuffed
    speechless jealous interested surprised shocked stuck lost alone awake asleep stoked
    pumped thrilled grateful kidding joking serious afraid worried nervous listening
    following trying driving eating leaving sitting standing coming waiting outside inside
    online offline wrong free in out afk"""
)
#: "Good morning my treasures", "Dear parents of 3B,": a salutation and nothing else.
_SALUTATION = re.compile(
    r"(?:good (?:morning|afternoon|evening|night|day)|dear|hi|hello|hey|greetings|bonjour|hallo)\b"
    r"(?: [\w.'’\-]+,?){0,5}[\s,:!.…]*",
    re.IGNORECASE,
)
_ADDRESSING = word_set("hey hi hello thanks thank dear wow congrats bye yeah yes yo oh hiya")
_VERBS = word_set(
    "am is are was were be been i i'm i've we we're you it it's have has had will would can could "
    "do does did come came go went see call called bring take need want from at in on"
)
_CODE_MARKS = ("();", "==", "=>", "</", "::", "&&")
_CONTENT_ENOUGH = 3
_ORDINAL_END = re.compile(r"\d(?:st|nd|rd|th)\Z", re.IGNORECASE)
_PLACED = re.compile(r"\b(?:in|from|to|near|at|around|for|the)\s\Z", re.IGNORECASE)
_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Mme|Mlle|Prof|M|Miss|Madame|Herr|Frau)\.?\Z")


def is_question(sentence: str) -> bool:
    """Whether the sentence asks: by its question mark, or by its opening words without one."""
    end = len(sentence)
    while end and not (
        sentence[end - 1].isalnum() or sentence[end - 1] in ".!?…。\uff01\uff1f\uff61:,"
    ):
        end -= 1
    last = end
    while last and sentence[last - 1] in ".!?…。\uff01\uff1f\uff61":
        last -= 1
    mark = sentence[last:end]
    if "?" in mark or "\uff1f" in mark:
        return True
    return not mark and _QUESTION_OPENING.match(sentence) is not None


def analyse(
    text: str,
    *,
    speaker: str | None,
    at_ms: int,
    utc_offset_minutes: int = 0,
    limit: int = 256,
    reading: TextReading | None = None,
) -> Analysis:
    """Return what `speaker` says in `text`, written at `at_ms` (unix milliseconds).

    At most `limit` statements are returned, the first ones of the message. `reading`: what a reader
    read in the text; None: the rules alone do.
    """
    spans = sentences(text)
    if not spans:
        return Analysis((), (), ())
    speaker = " ".join(speaker.split()) if speaker else None
    tokens = tokenise(text)
    places = addresses(text)
    dates = find_dates(tokens, local_day(at_ms, utc_offset_minutes), places)
    asserted = [span for span in spans if not is_question(text[span[0] : span[1]])]
    others = reported(text)
    contacts = find_contacts(tokens, asserted)
    if contacts and others:
        contacts = [item for item in contacts if not _is_others(item, others)]
    introductions = find_introductions(tokens, asserted, others)
    found = find_mentions(tokens, dates, places, asserted, reading)
    if contacts:
        found = _outside(found, contacts)
    message = _Message(tokens, dates, found, contacts, introductions, others, speaker)
    questions = set(spans).difference(asserted)
    statements: list[Statement] = []
    follows = False
    for span in spans:
        if len(statements) == limit:
            break
        statement = None if span in questions else message.statement(*span, follows)
        if statement is not None:
            statements.append(statement)
        follows = statement is not None
    return Analysis(tuple(statements), tuple(contacts), tuple(introductions))


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


class _Message:
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
        self._others = others
        self._speaker = speaker

    def statement(self, start: int, end: int, follows: bool) -> Statement | None:
        """The sentence from `start` to `end`, if it is worth keeping.

        `follows` says whether the sentence right before it is a statement.
        """
        tokens, speaker = self._tokens, self._speaker
        left, right = bisect_left(tokens.starts, start), bisect_left(tokens.starts, end)
        if left == right or not _is_prose(tokens.text, start, end, tokens, left, right):
            return None
        if _is_salutation(tokens, start, end, left, right):
            return None
        first = bisect_left(self._mention_starts, start)
        last = bisect_left(self._mention_starts, end)
        mentions = [_by_speaker(item, speaker, tokens.text) for item in self._mentions[first:last]]
        while mentions and mentions[-1].end > end:
            mentions.pop()
        dates = self._dates[
            bisect_left(self._date_lefts, left) : bisect_left(self._date_lefts, right)
        ]
        while dates and dates[-1].right > right:
            dates.pop()
        contacts = self._contacts[
            bisect_left(self._contact_starts, start) : bisect_left(self._contact_starts, end)
        ]
        sentence = tokens.text[start:end]
        references = [as_reference(tokens, item) for item in dates]
        corrects = _CORRECTION.match(sentence) is not None
        claim = None
        if not is_reported(self._others, start):
            words = tokens.lowers[left:right]
            if contacts or not CLAIM_TRIGGERS.isdisjoint(words):
                claim = find_claim(sentence, start, speaker, mentions, references, contacts)
            if claim is None and not FRAME_VERBS.isdisjoint(words):
                claim = find_frame(sentence, speaker)
        if (
            claim is None
            and not contacts
            and bisect_left(self._introduced, start) == bisect_left(self._introduced, end)
            and not _is_informative(tokens, left, right, mentions, end)
            and not (mentions and corrects)
        ):
            return None
        plain = " ".join(sentence.split())
        resolved = _resolved(tokens.text, start, end, dates, references) if dates else plain
        words = tokens_for_signature(tokens, left, right, dates)
        return Statement(
            start=start,
            end=end,
            sentence=plain,
            text=f"{speaker}: {resolved}" if speaker else resolved,
            signature=assemble(words, speaker, question=False),
            mentions=tuple(mentions),
            dates=tuple(references),
            follows_from_previous=follows and _CAUSE.match(plain) is not None,
            claim=claim,
            corrects=corrects,
        )


def _is_salutation(tokens: Tokens, start: int, end: int, left: int, right: int) -> bool:
    if right - left > 7 or _SALUTATION.fullmatch(tokens.text, start, end) is None:
        return False
    # "Dear Anna, come soon" asks for something.
    inner = tokens.text[start:end].rstrip(" ,:!.…")
    return "," not in inner and not _VERBS.intersection(tokens.lowers[left:right])


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


def _is_informative(
    tokens: Tokens, left: int, right: int, mentions: list[Mention], end: int
) -> bool:
    """Whether the sentence says something that lasts.

    It does with three words of content; with a name, number or date and a word of content about
    it, or said in the first person; or in the first person with a verb and a word of content ("I
    love tea", "I'm vegan").
    """
    text = tokens.text
    named = [item for item in mentions if not _is_vocative(text, item, end)]
    content = 0  # words that are no mere grammar
    informative = 0  # of these, the ones that are more than greeting, praise and mood
    first_person = state = having = passing = False
    titles = 0  # "Dr. Ilse Brandt" is a name only, "it is Dr. Brandt's turn" says something
    inside = 0  # index of the first mention that is not over yet
    for index in range(left, right):
        lower = tokens.lowers[index]
        place = tokens.starts[index]
        while inside < len(mentions) and mentions[inside].end <= place:
            inside += 1
        if inside < len(mentions) and mentions[inside].start <= place:
            continue
        if lower in _FIRST_PERSON:
            first_person = True
            state = (
                state
                or lower in _STATE
                or (lower in ("i", "we") and index + 1 < right and tokens.lowers[index + 1] in _BE)
            )
        elif lower in ("have", "had", "got", "has"):
            having = True
        elif lower in FUNCTION_WORDS or lower in CONTRACTIONS or lower.endswith(_CONTRACTED):
            if lower.endswith("'s") and bare(lower) not in FUNCTION_WORDS | PHATIC:
                informative += 1
        else:
            content += 1
            if lower in _PASSING:
                passing = True
            if lower in HONORIFICS:
                content -= 1
                titles += 1
            elif lower not in PHATIC:
                # Scripts without spaces write many words in one.
                informative += len(lower) // 2 if lower[0] >= "\u3040" else 1
    if content:
        content += titles
        informative += titles
    if any(item.type == "DATE" and _ORDINAL_END.search(item.text) for item in named):
        informative += 1  # a day named by its number, as in "Saturday the 14th, got it"
    if informative + len(named) >= _CONTENT_ENOUGH or (named and (informative or first_person)):
        return True
    if not first_person or not informative:
        return False
    return content >= 2 or having or (state and not passing)


def _is_vocative(text: str, mention: Mention, end: int) -> bool:
    """Whether the name only addresses somebody: "Thanks, Tom!", "Tom, look"."""
    if mention.type not in ("PERSON", "OTHER"):
        return False
    before = _TITLE.sub("", text[max(0, mention.start - 20) : mention.start].rstrip()).rstrip()
    after = text[mention.end : mention.end + 1]
    if before.endswith(","):
        return mention.end >= end or after in ",.!?;"
    words = before.lower().split()
    if words and words[-1] in _ADDRESSING:
        return True
    opens = not before or before[-1] in ".!?\n…"
    return opens and after in ("", ",", "!", ":")


def _resolved(
    text: str, start: int, end: int, dates: list[Found], references: list[DateReference]
) -> str:
    """The sentence with the days behind each date reference that does not name them itself."""
    return with_days(text, start, end, dates, references, _iso)


def _iso(reference: DateReference) -> str:
    if reference.last == reference.first:
        return reference.first
    return f"{reference.first} to {reference.last}"
