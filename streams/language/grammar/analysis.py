"""The result of analysing one message; every offset counts characters of that message."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from recollect.text.dates.found_dates import DateReference

#: The thirteen types of mentions.
MentionType = Literal[
    "PERSON",
    "ORG",
    "LOCATION",
    "DATE",
    "TIME",
    "NUMBER",
    "CONCEPT",
    "EVENT",
    "PRODUCT",
    "TECHNOLOGY",
    "EMAIL",
    "URL",
    "OTHER",
]


class Mention(Struct, frozen=True):
    """A name, place, date, number ... in the text; `text` is `message[start:end]`.

    Attributes:
        confidence: probability, 0 to 1, that these characters are a mention of this type.
        first, last: the days of a DATE or TIME (ISO dates), if they are resolved.
        time: its clock time ("14:30"), if it has one.
    """

    start: int
    end: int
    text: str
    type: MentionType
    confidence: float = 1.0
    first: str | None = None
    last: str | None = None
    time: str | None = None


class Claim(Struct, frozen=True):
    """A subject, an attribute and a value, such as ("Ada", "home", "Berlin").

    `attribute` is one of `recollect.schemas.attributes`, or a frame (see `frames`), of which the
    subject has one value at a time. `also` are other names under which earlier claims may have the
    subject.
    """

    subject: str
    attribute: str
    value: str
    also: tuple[str, ...] = ()


class Ending(Struct, frozen=True):
    """Which earlier claims a statement may end.

    `attributes`: the listed ones that it may end, each with the probability in percent; `persons`
    and `things`: the subjects that it names; `phrases`: its noun phrases, by which open attributes
    are named; `percent`: the probability that it ends anything. `owner`: the sender, if it is about
    others only, who may be the sender's: "Bruno died". Empty otherwise. `left`: the homes, schools
    and employers that it says are left, each with the attributes that it can be a value of.
    """

    attributes: tuple[tuple[str, int], ...]
    persons: tuple[str, ...]
    things: tuple[str, ...]
    phrases: tuple[str, ...]
    percent: int
    owner: str = ""
    left: tuple[tuple[str, frozenset[str]], ...] = ()

    def joined(self, other: Ending) -> Ending:
        """Return what this and another ending may end."""
        percents = dict(self.attributes)
        for name, percent in other.attributes:
            percents[name] = max(percent, percents.get(name, 0))
        return Ending(
            tuple(percents.items()),
            tuple(dict.fromkeys(self.persons + other.persons)),
            tuple(dict.fromkeys(self.things + other.things)),
            tuple(dict.fromkeys(self.phrases + other.phrases)),
            max(self.percent, other.percent),
            self.owner or other.owner,
            tuple(dict.fromkeys(self.left + other.left)),
        )


class EndedOutside(Struct, frozen=True):
    """The earlier claims that a sentence without a statement may end."""

    sentence: str
    ending: Ending


class Contact(Struct, frozen=True):
    """An address whose owner the message names; `owner` None is the speaker.

    `kind` is `email`, `phone`, `url` or `<platform>_handle`. `value` is normalised: e-mail and
    handles in lower case, phones as digits with the `+` if one was written.
    """

    start: int
    end: int
    kind: str
    value: str
    owner: str | None


class Introduction(Struct, frozen=True):
    """A name somebody goes by; `of` None is the speaker."""

    start: int
    end: int
    name: str
    kind: Literal["name", "nickname"]
    of: str | None = None


class Whom(Struct, frozen=True):
    """The person whom the pronoun from `start` to `end` means.

    `name`: the person's name. `called`: the form used in the text.
    """

    name: str
    called: str
    start: int
    end: int


class Statement(Struct, frozen=True):
    """One sentence worth keeping; `whom` is the person that "he" or "she" in it means, if named.

    `happens`: the days (ISO dates, both included) on which it happens or holds, if they are not
    those of its dates. `begins`: the day (ISO date) from which it holds, if that is later.
    `ending`: the earlier claims that it may end. `told_with` are the numbers of earlier events from
    which `text` has words.
    """

    start: int
    end: int
    sentence: str
    text: str
    signature: str
    mentions: tuple[Mention, ...]
    dates: tuple[DateReference, ...]
    claim: Claim | None
    corrects: bool
    whom: Whom | None = None
    told_with: tuple[int, ...] = ()
    ending: Ending | None = None
    happens: tuple[str, str] | None = None
    begins: str | None = None

    def told_with_words_of(self, *numbers: int) -> Statement:
        """Return the statement with these events added to `told_with`."""
        return replace(self, told_with=tuple(dict.fromkeys((*self.told_with, *numbers))))


class Caused(Struct, frozen=True):
    """The message says that one of its statements led to another; both are given by index.

    `concludes`: it presents the effect as a conclusion ("therefore") rather than explaining it
    ("because").
    """

    cause: int
    effect: int
    strength: float
    concludes: bool = False


class Outside(Struct, frozen=True):
    """The message says that a statement has its cause, or its effect, in an earlier message.

    `words` are those that name the other side; if there are none, it is the previous statement.
    `is_cause`: the statement itself is the cause.
    """

    statement: int
    words: frozenset[str]
    is_cause: bool
    strength: float


class Added(Struct, frozen=True):
    """The message says that one of its statements adds to another; both are given by index."""

    statement: int
    to: int
    confidence: float


class AddedOutside(Struct, frozen=True):
    """The message says that a statement adds to something in an earlier message.

    Both are about `subject` (see `relations.subjects`). `words` are the content words of the
    statement, `names` those that name what it adds to. `answers`: it may also add to something that
    another person said: "I love it too".
    """

    statement: int
    subject: tuple[str, ...]
    words: frozenset[str]
    names: frozenset[str]
    answers: bool


class Analysis(Struct, frozen=True):
    """Everything found in one message, each part in the order of the text.

    Of the statements, those of who somebody's relatives are come last.
    `days_meant` are the days (ordinals) that bare weekdays mean because the conversation named them
    before. `dates` are all dates of the text, whether or not a statement has them.
    """

    statements: tuple[Statement, ...]
    contacts: tuple[Contact, ...]
    introductions: tuple[Introduction, ...]
    causes: tuple[Caused, ...] = ()
    outside: tuple[Outside, ...] = ()
    added: tuple[Added, ...] = ()
    added_outside: tuple[AddedOutside, ...] = ()
    ended_outside: tuple[EndedOutside, ...] = ()
    days_meant: frozenset[int] = frozenset()
    dates: tuple[DateReference, ...] = ()
