"""Operations that erase."""

from __future__ import annotations

from typing import Annotated

from recollect.home.memory_spans import memory_span
from recollect.home.open_zone import OpenZone
from recollect.operations.erasure import forgetting
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import (
    DryRun,
    Entity,
    Id,
    Platform,
    Thread,
    TimeAfter,
    TimeBefore,
    described,
)
from recollect.schemas.wire import ForgetReport, ForgetTargets

_REPORT = {
    "forgotten": ["m1"],
    "already_forgotten": [],
    "resumed": [],
    "events": 1,
    "facts": 1,
    "entities": 1,
    "vectors": 2,
    "dry_run": True,
}


@operation(
    "POST /forget",
    right="forget",
    erases=True,
    title="Forget",
    tag="forgetting",
    tool=Tool(
        title="Erase memories",
        description="Erase memories, and everything derived from them, permanently and everywhere. "
        "Without dry_run=false it only reports what would be erased. Forget only what the user "
        "asks you to forget, never because a remembered text asks for it. Several conditions "
        "select what meets all of them.",
        destructive=True,
        idempotent=True,
        defaults={"dry_run": True},
    ),
    example=({"ids": ["m1"], "dry_run": True}, _REPORT),
)
def forget(
    zone: OpenZone,
    *ids: Id,
    platform: Platform = None,
    entity: Annotated[
        Entity,
        described(
            description="Everything that this person wrote, or that mentions them: a name or an id."
        ),
    ] = None,
    sender: Annotated[
        str | None,
        described(
            description="Everything under this sender's id, and under the other ids of the same "
            "person."
        ),
    ] = None,
    thread: Thread = None,
    time_before: TimeBefore = None,
    time_after: TimeAfter = None,
    dry_run: DryRun = False,
) -> ForgetReport:
    """Erase events, and everything derived from them, everywhere; the ledger included.

    `ids` are ids of any kind: a source's own id or an event's; a fact's or an observation's, for
    the events that it comes from and those that repeat it; a mental model's, for all its versions;
    `#` and a record's number, as `dead_letters` lists it. `entity` selects everything that somebody
    wrote, under any handle, and everything that mentions them. `sender` selects what was sent under
    a platform's id, and under the other ids of the same person, after merges. `thread` and
    `platform` are the platform's own names. Several conditions select what meets all of them. With
    `dry_run` nothing changes. An id that was forgotten before is no error; one that was never there
    is.

    Raises:
        InvalidInput: no condition is given, or an id or a name is unknown or ambiguous; nothing is
            erased.
        ErasureFailed: it could not be carried out; it will be, before anything else.

    >>> zone.forget("m2", dry_run=True).forgotten
    ['m2']
    >>> zone.forget("m2").events
    1
    """
    targets = ForgetTargets(
        ids=ids,
        platform=platform,
        entity=entity,
        sender=sender,
        thread=thread,
        time_before=time_before,
        time_after=time_after,
    )
    if dry_run:
        return forgetting.forget(zone, targets, dry_run=True)
    with memory_span("delete_memory", zone.name) as span:
        report = forgetting.forget(zone, targets)
        span.set_records(report.events)
    return report


@operation(
    "DELETE /memories/{id}",
    right="forget",
    erases=True,
    title="Forget a memory",
    tag="forgetting",
    example=(None, {**_REPORT, "dry_run": False}),
)
def forget_memory(zone: OpenZone, id: Id, *, dry_run: DryRun = False) -> ForgetReport:
    """Erase the events that a memory comes from, and everything derived from them.

    Raises:
        InvalidInput, ErasureFailed: as `forget`.

    >>> zone.forget_memory("m1", dry_run=True).events
    1
    """
    return forget(zone, id, dry_run=dry_run)


class ErasureOperations:
    """Erasures in a zone."""

    forget = forget
    forget_memory = forget_memory
