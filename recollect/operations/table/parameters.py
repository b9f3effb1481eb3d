"""Types of the parameters that several operations share, with their bounds and descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from recollect.home.token_counting import MAX_TOKENS
from recollect.operations.memories.derived import mental_models
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH
from recollect.schemas.inbound import MAX_CONTENT_BYTES
from recollect.schemas.wire import Time


def described(*, description: str, **bounds: Any) -> Meta:
    """Return a parameter's description and bounds for its schema, in terms of JSON Schema.

    The operation's function checks the bounds, so that the error is the same on every surface.
    """
    return Meta(description=description, extra_json_schema=bounds or None)


#: Maximum entries of a page.
MAX_PAGE_SIZE = 1_000
#: Default entries of a page.
PAGE = 50

_ID_LENGTH = 2_000
_IN_BYTES = f"At most {MAX_CONTENT_BYTES:,} bytes of UTF-8."

Id = Annotated[
    str,
    described(
        minLength=1,
        maxLength=_ID_LENGTH,
        description="Id of a memory, as returned by recall or a list; for a message, its source's "
        "id works too.",
    ),
]
ModelId = Annotated[
    str, described(minLength=1, maxLength=_ID_LENGTH, description="Id of a mental model.")
]
ObservationId = Annotated[
    str, described(minLength=1, maxLength=_ID_LENGTH, description="Id of an observation.")
]
EntityId = Annotated[
    str, described(minLength=1, maxLength=_ID_LENGTH, description="Id of an entity.")
]
NameOrId = Annotated[
    str,
    described(minLength=1, maxLength=_ID_LENGTH, description="Name of an entity, or its id."),
]
Entity = Annotated[
    str | None,
    described(
        description="Only memories about, or written by, this person or thing: a name or an id.",
    ),
]
Platform = Annotated[
    str | None, described(description="Only memories from this platform, such as slack or email.")
]
ThreadId = Annotated[str | None, described(description="Only messages of the thread with this id.")]
SourceEventIds = Annotated[
    Sequence[str] | None,
    described(description="Only memories from these events, by their sources' own ids."),
]
TimeAfter = Annotated[
    Time | None,
    described(
        description="Only after this time: ISO 8601 with a zone (2026-05-08T13:56:00Z), or unix "
        "milliseconds.",
    ),
]
TimeBefore = Annotated[
    Time | None, described(description="Only before this time, in the same form as time_after.")
]
Superseded = Annotated[
    bool, described(description="Include memories that a newer one has replaced.")
]
KnownAt = Annotated[
    Time | None,
    described(
        description="List what was known at this time, or at this consistency token. Anything "
        "forgotten since is left out."
    ),
]
Cursor = Annotated[
    str | None, described(description="Cursor of the previous page; omit it for the first page.")
]
Limit = Annotated[
    int,
    described(
        minimum=1, maximum=MAX_PAGE_SIZE, description="Maximum number of entries on the page."
    ),
]
Question = Annotated[
    str,
    described(maxLength=MAX_QUERY_LENGTH, description="A question in plain words, or keywords."),
]
MaxResults = Annotated[
    int, described(minimum=1, maximum=1_000, description="Maximum number of results.")
]
MaxTokens = Annotated[
    int,
    described(
        minimum=1,
        maximum=MAX_TOKENS,
        description="Maximum number of tokens of the whole block.",
    ),
]
Content = Annotated[
    str,
    described(
        minLength=1, maxLength=MAX_CONTENT_BYTES, description=f"The text to remember. {_IN_BYTES}"
    ),
]
NewText = Annotated[
    str,
    described(
        minLength=1,
        maxLength=MAX_CONTENT_BYTES,
        description=f"The new text of the memory. {_IN_BYTES}",
    ),
]
Report = Annotated[
    str,
    described(
        minLength=1,
        maxLength=mental_models.MAX_REPORT,
        description="The whole report, in plain text.",
    ),
]
ShortName = Annotated[
    str, described(minLength=1, maxLength=mental_models.MAX_NAME, description="A short name.")
]
DryRun = Annotated[bool, described(description="Report what would happen, and change nothing.")]
RecordNumber = Annotated[
    int,
    described(minimum=1, description="Number of the record, from the list of dead letters."),
]
