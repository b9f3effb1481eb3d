"""Whether a sentence says something that is still worth knowing when the conversation is over.

What somebody says of themselves, their people and their affairs lasts; courtesy, requests, drafts,
common knowledge, praise and the moods of an hour do not.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Literal, NamedTuple

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.clauses import is_finite
from recollect.streams.language.grammar.text_reading import ReadSentence
from recollect.streams.language.grammar.verbs import BASES, is_past
from recollect.streams.language.worth.worth_words import (
    ADVERBS,
    AFFAIRS,
    ASKS_FOR,
    ASKS_LITTLE,
    BRUSQUE,
    CHANGED,
    CHOICE,
    COMMAND,
    COMMENT,
    CONTRAST,
    DRAFT_MARKS,
    DRAFT_OPENS,
    DRAFT_WORDS,
    ELIDED,
    ELIDED_AFTER,
    ELIDED_ING,
    ENDS,
    EVERYBODY,
    FOR_GOOD,
    FOR_ME,
    FOREIGN,
    KIN,
    KIND_WORDS,
    LASTING_CUE,
    LETS,
    LISTENER,
    MAKES,
    NEVER,
    NO_ELISION,
    NO_SUBJECT,
    NOTHING_BUT,
    OFFERS,
    ONE_OF_MINE,
    ORDERING,
    OUTCOME,
    PASSING_CUE,
    PERIODS,
    PERSON,
    PERSONAL,
    PROGRESSIVE,
    REFUSED,
    REQUEST,
    RULE_OPENING,
    SPEAKER,
    STANDING,
    STATE,
    STATE_VERBS,
    THANKED,
    THANKS,
    THING,
    VAGUE,
    YES_OR_NO,
    YET,
)
from recollect.text.dates.found_dates import Found
from recollect.text.lexicon import (
    CONTRACTIONS,
    FUNCTION_WORDS,
    HONORIFICS,
    PHATIC,
    RELATIONS,
)
from recollect.text.prompts import first_person
from recollect.text.tokenizer import Tokens, bare

#: Whom a sentence is about: who says it, somebody else, who is spoken to, a thing, or nobody.
About = Literal["speaker", "person", "listener", "thing", "nobody"]


class Count(NamedTuple):
    """How many words say something, and how many of these tell it apart from what all say."""

    said: int
    telling: int


class Said(NamedTuple):
    """A clause of a message: its tokens from `left` to `right`, and what it mentions.

    `lower` is its text in lower case, `own` are the words of the speaker's name likewise.
    """

    tokens: Tokens
    left: int
    right: int
    text: str
    lower: str
    mentions: Sequence[Mention]
    dates: Sequence[Found]
    own: Set[str]
    read: ReadSentence | None
    words: Count


_SELF = SPEAKER - FOREIGN
#: Percent from which the head thinks that a sentence lasts.
_LIKELY = 50
#: Percent from which it is sure.
_SURE = 75
#: Percent from which what somebody wishes for is more than a request.
_ASKED = 85
#: Of formatting, before what is said: "**Send it.**"
_MARKS = "*_~#> "
_OWNED = frozenset({"my", "our"})
_NO_NAME = FUNCTION_WORDS | EVERYBODY
_CONTENTLESS = FUNCTION_WORDS | CONTRACTIONS.keys() | HONORIFICS
_CONTRACTED_WORDS = FUNCTION_WORDS | PHATIC
_CONTRACTED = ("'s", "'m", "'re", "'ve", "'ll", "'d", "n't")
#: So many words that tell make a thing worth knowing.
_TELLING = 2
#: Of more words few without a verb answer anything; nor do more with one.
_SHORT, _SHORT_ANSWER = 12, 26
#: A message of more words in which nobody says "I" is no talk.
_LONG = 30
#: A day or a few; a year or an age is no appointment.
_APPOINTED_DAYS = 40


class Message(NamedTuple):
    """What the gate knows of the message around a sentence.

    `requests`: it asks to have something written, listed or explained, so what it says of others is
    material. `material`: it is long and nobody speaks in it of themselves. `of_self`: its writer
    does.
    """

    requests: bool
    material: bool
    of_self: bool

    @classmethod
    def of(cls, tokens: Tokens, *, among_people: bool) -> Message:
        """Judge the words of a message; `among_people`: it is to others, who are told what it says
        and are not given material.
        """
        lowers = tokens.lowers
        return cls(
            requests=not among_people
            and not MAKES.isdisjoint(lowers)
            and any(
                lower in MAKES and (index == 0 or _ordered(tokens, index))
                for index, lower in enumerate(lowers)
            ),
            material=not among_people and len(lowers) > _LONG and SPEAKER.isdisjoint(lowers),
            of_self=not _SELF.isdisjoint(lowers),
        )


def _ordered(tokens: Tokens, index: int) -> bool:
    before = tokens.lowers[max(0, index - 3) : index]
    if before[1:] == ["need", "to"] and before[0] in ("we", "you"):
        return False  # "What do we need to outline?"
    return before[-1] in ORDERING or not ENDS.isdisjoint(tokens.gap(index - 1))


def about(said: Said) -> About:
    """Return whom the sentence is about, by the first word that stands for anybody."""
    tokens, lowers = said.tokens, said.tokens.lowers
    persons = {mention.start for mention in said.mentions if mention.type == "PERSON"}
    for index in range(said.left, said.right):
        lower = lowers[index]
        if lower in SPEAKER or lower in said.own:
            return "speaker"
        if lower in LISTENER:
            if lowers[index + 1 : index + 2] == ["know"]:
                continue  # "you know" is no more than a pause
            return "listener"
        if lower in PERSON or tokens.starts[index] in persons:
            return "person"
        if index == said.left and _is_called(said):
            return "person"
        following = lowers[index + 1] if index + 1 < said.right else ""
        if lower == "this" and following in PERIODS:
            continue  # "This week I am in Bergen"
        if lower == "nothing" and following in NOTHING_BUT:
            continue  # "Nothing much, but my colleague invited me"
        if lower in THING and (index == said.left or lower not in NO_SUBJECT):
            return "thing"
        if lower in KIN and (index == said.left or lowers[index - 1] in ("the", "and", "poor")):
            return "person"
        if index == said.left and elides(said):
            return "speaker"
    return "speaker" if _is_unspaced(said) else "nobody"


def _is_called(said: Said) -> bool:
    """Whether it begins with a name of one word and what only people do: "Cleo likes tea"."""
    left = said.left
    lower = said.tokens.lowers[left]
    return (
        said.tokens.words[left][0].isupper()
        and lower not in _NO_NAME
        and not PERSONAL.isdisjoint(said.tokens.lowers[left + 1 : left + 2])
    )


def elides(said: Said) -> bool:
    """Whether an "I" is left out: "Sold the house in Leeds", "Still working on it"."""
    lowers = said.tokens.lowers
    left = said.left
    while left < said.right - 1 and lowers[left] in ADVERBS:
        left += 1
    first = lowers[left]
    following = lowers[left + 1] if left + 1 < said.right else ""
    if following in NO_ELISION or said.right - left < 3:
        return False
    return first in ELIDED or first in ELIDED_ING or (left > said.left and first in ELIDED_AFTER)


def points_back(said: Said) -> bool:
    """Whether it begins with a word that stands for what was named before it."""
    return said.tokens.lowers[said.left] in PERSON or COMMENT.match(said.lower) is not None


def is_comment(said: Said) -> bool:
    """Whether it only says how something was, or what one thinks of it."""
    if COMMENT.match(said.lower) is None:
        return KIND_WORDS.search(said.lower) is not None and not said.dates
    return not said.dates and not said.mentions


def is_draft(said: Said) -> bool:
    """Whether it bears the marks of a letter, a form, a story or a program."""
    text = said.lower
    return bool(DRAFT_OPENS.match(text) or DRAFT_MARKS.search(text) or DRAFT_WORDS.search(text))


def is_worth(
    said: Said, subject: About, message: Message, linked: bool, explains: bool = False
) -> bool:
    """Return whether what is no draft and no rule says something that lasts about somebody or
    their affairs.

    `linked` says that it is the stated cause or effect of the sentence beside it, `explains` that
    this one was kept and the head is not asked.
    """
    count = said.words
    if not count.said and not said.mentions:
        return False
    if CHOICE.search(said.lower):
        return count.telling + len(said.mentions) >= 2 and _kept_by_head(said, 5)
    if is_command(said):
        return False
    if subject == "speaker":
        kept = _of_the_speaker(said)
    elif message.material:
        kept = False
    elif subject == "person":
        kept = _of_a_person(said, message)
    else:
        told = linked and count.telling + len(said.mentions) >= _TELLING and says(said)
        kept = not message.requests and (told or _of_affairs(said, subject))
    return kept and (explains or _kept_by_head(said, 12))


def may_tell(said: Said, subject: About, message: Message) -> bool:
    """Whether a clause that is not worth keeping may tell something of whoever says it: where the
    head thinks so, or is sure.
    """
    if said.read is None or said.read.durable < _LIKELY:
        return False
    if message.requests or message.material or _asks_only(said) or is_draft(said):
        return False
    if surely_lasts(said):
        return True
    if subject == "listener" or not message.of_self or KIND_WORDS.search(said.lower):
        return False
    if PASSING_CUE.search(said.lower):
        return False
    lowers = said.tokens.lowers[said.left : said.right]
    return bool(said.mentions or said.dates) or not _SELF.isdisjoint(lowers)


def _asks_only(said: Said) -> bool:
    """Whether it asks for something: not for what is the speaker's own, "for my trip", nor for what
    is to be done together, "Let's begin with the budget", nor for what the head says lasts, "I need
    a more stable income".
    """
    lowers = said.tokens.lowers[said.left : said.right]
    if lowers[0] in LETS or not is_order(said):
        return False
    if is_command(said):
        return True
    lasts = said.read is not None and said.read.durable >= _ASKED
    return _OWNED.isdisjoint(lowers) and not lasts


def surely_lasts(said: Said) -> bool:
    """Whether the head is sure that a sentence of the speaker's tells something that lasts."""
    return said.read is not None and said.read.durable >= _SURE


def is_order(said: Said) -> bool:
    """Whether it asks somebody to do something."""
    return is_command(said) or REQUEST.search(said.lower) is not None


def is_command(said: Said) -> bool:
    """Whether it begins as a command does; "Design review tomorrow at two", which the head reads as
    a statement and which names a day, is none.
    """
    if COMMAND.match(said.lower.lstrip(_MARKS)) is None:
        return False
    read = said.read
    if read is None or read.kind != "statement" or not said.dates:
        return True
    return said.tokens.starts[said.left] != read.start


def is_rule(said: Said) -> bool:
    """Whether it tells how things are to be done from now on, or sets something right: "Room 102,
    not Room 101".
    """
    contrasts = len(said.mentions) + said.words.telling >= 2 and CONTRAST.search(said.text)
    return bool(contrasts or _is_standing(said)) and _kept_by_head(said, 5)


def is_answer(said: Said, asked: str) -> bool:
    """Whether a few words answer a question: "In Berlin", "Tuesday, actually"; or, where it asks
    for a thing, "We made pizza".
    """
    if said.right - said.left > _SHORT_ANSWER or COMMAND.match(said.lower) or is_draft(said):
        return False
    if THANKS.match(said.lower):
        return False
    if THANKED.search(said.lower):
        return False
    if not said.mentions and not said.words.telling:
        return False
    if YES_OR_NO.fullmatch(said.lower) and OFFERS.search(asked):
        return False
    if said.right - said.left == 1 and is_past(said.tokens.lowers[said.left]):
        return False  # "Booked!" says something else
    if is_finite(said.tokens, said.tokens.starts[said.left], said.tokens.ends[said.right - 1]):
        lowers = said.tokens.lowers[said.left : said.right]
        said_kindly = KIND_WORDS.search(said.lower) or PASSING_CUE.search(said.lower)
        kind = said_kindly is not None and RELATIONS.isdisjoint(lowers)
        asks = ASKS_FOR.search(asked) is not None and not asks_little(asked)
        least = _TELLING if points_back(said) else 1
        tells = bool(said.mentions or said.dates) or said.words.telling >= least
        return asks and tells and not kind and LISTENER.isdisjoint(lowers)
    return said.right - said.left <= _SHORT


def asks_little(asked: str) -> bool:
    """Whether a question only keeps a talk going: "What's up?", "What do you think?"."""
    return ASKS_LITTLE.search(asked) is not None


def _is_standing(said: Said) -> bool:
    """Whether it tells how things are to be done from now on."""
    text = said.lower
    if FOR_ME.search(text) and said.words.telling >= _TELLING:
        return True
    never = NEVER.match(text)
    if never is not None and not is_past(never[1]) and said.words.telling >= _TELLING:
        return True
    ordered = COMMAND.match(text) or REFUSED.match(text) or RULE_OPENING.match(text)
    if not ordered or not (said.words.said or said.mentions) or BRUSQUE.match(text):
        return False
    if YET.search(text):
        return False  # "Don't tell Dan yet"
    if STANDING.search(text):
        return True
    return (
        FOR_GOOD.match(text) is not None
        and ONE_OF_MINE.search(text) is not None
        and KIND_WORDS.search(text) is None
        and REQUEST.search(text) is None
    )


def _kept_by_head(said: Said, least: int) -> bool:
    """The head demotes: what it is sure of being nothing, rules do not keep."""
    return said.read is None or said.read.durable >= least


def _of_the_speaker(said: Said) -> bool:
    text = said.lower
    lowers = said.tokens.lowers[said.left : said.right]
    if not (says(said) or elides(said) or _is_unspaced(said) or not FOREIGN.isdisjoint(lowers)):
        return False
    named = [item for item in said.mentions if item.type != "NUMBER" or len(item.text) > 1]
    weight = said.words.telling + len(named) + len(said.dates)
    to_listener = not LISTENER.isdisjoint(lowers)
    # "I'm vegan", "I have two dogs", "I lost my job": one word tells enough of a state.
    if weight < (2 if to_listener else 1):
        return False
    if REQUEST.search(text) and not (weight >= 2 and (said.dates or _lasts(text))):
        return False
    if weight < 4 and not said.dates and PASSING_CUE.search(text) and not _lasts(text):
        return False
    if not named and PROGRESSIVE.search(text) and not _lasts(text):
        return False
    if KIND_WORDS.search(text):
        return weight >= (6 if to_listener else 5)
    if weight >= (4 if to_listener else 2) or _lasts(text):
        return True
    return not to_listener and not (STATE_VERBS.isdisjoint(lowers) and STATE.isdisjoint(lowers))


def _lasts(text: str) -> bool:
    return LASTING_CUE.search(text) is not None


def _of_a_person(said: Said, message: Message) -> bool:
    lowers = said.tokens.lowers[said.left : said.right]
    weight = said.words.telling + len(said.mentions)
    if (message.requests and SPEAKER.isdisjoint(lowers)) or not says(said):
        return False
    if PASSING_CUE.search(said.lower) or not LISTENER.isdisjoint(lowers):
        return weight >= 5
    return weight >= 2


def _of_affairs(said: Said, subject: About) -> bool:
    """What is about no person: an appointment, a room, a bill; not what all the world knows."""
    lowers = said.tokens.lowers[said.left : said.right]
    if not says(said):
        return subject == "nobody" and bool(said.dates) and len(said.mentions) >= 3
    dated = any(item.last - item.first < _APPOINTED_DAYS for item in said.dates)
    timed = any(item.type == "TIME" for item in said.mentions)
    affair = not AFFAIRS.isdisjoint(map(bare, lowers))
    mine = not SPEAKER.isdisjoint(lowers)
    weight = said.words.telling + len(said.mentions)
    if subject == "nobody" and OUTCOME.fullmatch(said.lower):
        return True
    if subject == "nobody" and _is_somebodys(said):
        return weight >= _TELLING
    if subject == "listener":
        return dated and timed and weight >= 3
    if subject == "thing":
        return weight >= 3 and (dated or timed or (affair and mine))
    if dated and (said.words.said or timed):
        return True
    if mine:
        return weight >= 2 and not REQUEST.search(said.lower)
    return weight >= 2 and (
        affair or timed or (not CHANGED.isdisjoint(lowers) and bool(said.mentions))
    )


def _is_somebodys(said: Said) -> bool:
    """Whether it is about what belongs to a name that is no place's: "Kelp's clinic is ..."."""
    word = said.tokens.words[said.left]
    places = {item.start for item in said.mentions if item.type == "LOCATION"}
    start = said.tokens.starts[said.left]
    return word[0].isupper() and word.endswith(("'s", "’s")) and start not in places


def _is_unspaced(said: Said) -> bool:
    """Whether it is said in the first person in a script without spaces."""
    return not said.lower.isascii() and first_person(said.lower)


def says(said: Said) -> bool:
    """Whether it has a verb; after "my parents" a word that could be a noun too is one."""
    tokens = said.tokens
    return is_finite(tokens, tokens.starts[said.left], tokens.ends[said.right - 1]) or (
        tokens.lowers[said.left] in ("my", "our")
        and not BASES.isdisjoint(tokens.lowers[said.left + 2 : said.right])
    )


def count_words(tokens: Tokens, left: int, right: int, mentions: Sequence[Mention]) -> Count:
    """Return how many words of a clause say something, and how many tell it apart."""
    content = telling = 0
    inside = 0  # index of the first mention that is not over yet
    for index in range(left, right):
        lower = tokens.lowers[index]
        place = tokens.starts[index]
        while inside < len(mentions) and mentions[inside].end <= place:
            inside += 1
        if inside < len(mentions) and mentions[inside].start <= place:
            continue
        if lower in _CONTENTLESS:
            continue
        if "'" in lower and lower.endswith(_CONTRACTED) and bare(lower) in _CONTRACTED_WORDS:
            continue
        content += 1
        if lower not in PHATIC and lower not in VAGUE:
            # Scripts without spaces write many words in one.
            telling += len(lower) // 2 if lower[0] >= "\u3040" else 1
    return Count(content, telling)
