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
        first, last: the days of a DATE or TIME (ISO dates), where they are resolved.
        time: its clock time ("14:30"), where it has one.
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
    """A value of somebody or something, such as ("Ada", "home", "Berlin").

    `attribute` is one of `recollect.schemas.attributes`, or a frame (see `frames`), of which the
    subject has one value at a time. `also` are other names under which earlier claims may have the
    subject.
    """

    subject: str
    attribute: str
    value: str
    also: tuple[str, ...] = ()


class EndedValue(Struct, frozen=True):
    """A value of somebody that no longer holds or is denied, whatever its attribute."""

    subject: str
    value: str


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
    """Whom the pronoun from `start` to `end` means: a name, and how the statement calls them."""

    name: str
    called: str
    start: int
    end: int


class Statement(Struct, frozen=True):
    """One sentence worth keeping; `whom` is who "he" or "she" in it is, where that has a name.

    `ended` are values that it says no longer hold: an earlier claim of the subject ends if its
    value has a content word in common with one. `told_with` are the numbers of the events before it
    whose words are in `text`.
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
    ended: tuple[EndedValue, ...] = ()

    def told_with_words_of(self, *numbers: int) -> Statement:
        """Return the statement, as having words of the events with these numbers too."""
        return replace(self, told_with=tuple(dict.fromkeys((*self.told_with, *numbers))))


class Caused(Struct, frozen=True):
    """The message says that one of its statements led to another, by their places.

    `concludes`: it draws the effect as a conclusion ("therefore"), and does not explain it
    ("because").
    """

    cause: int
    effect: int
    strength: float
    concludes: bool = False


class Outside(Struct, frozen=True):
    """The message says that a statement has its cause, or its effect, in what was said before.

    `words` are those by which that is named, without any it is what was said last; `is_cause`
    says that the statement itself is the cause.
    """

    statement: int
    words: frozenset[str]
    is_cause: bool
    strength: float


class Added(Struct, frozen=True):
    """The message says that one of its statements adds to another, by their places."""

    statement: int
    to: int
    confidence: float


class AddedOutside(Struct, frozen=True):
    """The message says that a statement adds to something that was said before it.

    Both are said of `subject` (see `relations.subjects`). `words` are those that tell what the
    statement is about, `names` those by which it names what it adds to; `answers` says that this
    may as well be what another person said: "I love it too".
    """

    statement: int
    subject: tuple[str, ...]
    words: frozenset[str]
    names: frozenset[str]
    answers: bool


class Analysis(Struct, frozen=True):
    """Everything found in one message, each part in the order of the text.

    What is said on the way ("my sister Ana", of whom something else is told) is stated last.

    `days_meant` are those days that bare weekdays mean since the conversation named them before
    (ordinals). `dates` are all dates of the text, of statements or not.
    """

    statements: tuple[Statement, ...]
    contacts: tuple[Contact, ...]
    introductions: tuple[Introduction, ...]
    causes: tuple[Caused, ...] = ()
    outside: tuple[Outside, ...] = ()
    added: tuple[Added, ...] = ()
    added_outside: tuple[AddedOutside, ...] = ()
    days_meant: frozenset[int] = frozenset()
    dates: tuple[DateReference, ...] = ()
