"""Let the home's model read a zone's messages under another role, for a generation being built.

The role is an event that holds only in the generations built for it. So do the model's answers, and
the generation in use changes in nothing. Nothing is asked twice: every answer is recorded.
"""

from __future__ import annotations

from contextlib import closing

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.writing.model_backlog import ModelBacklog
from recollect.operations.writing.prompt_proposals import proposals
from recollect.operations.writing.writing import (
    LOCK_FILE,
    WriterRun,
    batches_of,
    check_prompt_text,
    open_client,
)
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.events import DecideWriterPrompt, SetWriterPrompt
from recollect.schemas.wire import WriteReport
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.records.chain_readers import events_of_kinds
from recollect.streams.system.locks import exclusive
from recollect.streams.writing.writer_prompt import ROLE, writer_prompt_of

#: The kinds of events that may set the role of a zone.
_ROLE_KINDS = frozenset({"writer_text", "decide_writer_text"})


def estimate_reading(zone: OpenZone, role: str) -> WriteReport:
    """Estimate the cost of reading all messages of a zone under another role.

    Raises:
        InvalidInput: the role is too long, the home's writer is `rules`, or no model account is
            configured.
    """
    home = zone.open_home.home
    home.must_have_model()
    check_prompt_text(role)
    with zone.files() as files:
        texts = memory.writer_prompts(files.memory.connection)
    prompt = writer_prompt_of(texts | {ROLE: (zone.node.ledger.head(zone.name).number + 1, role)})
    with closing(open_client(home.configuration, home.directory)) as client:
        backlog = ModelBacklog(zone.node.ledger, zone.name)
        run = WriterRun(zone, client, backlog, again=True, skipped={}, prompt=prompt)
        return run.estimate(run.take(None))


def set_role_beside(zone: OpenZone, role: str) -> int:
    """Set a role for a generation being built; return the number of its event.

    If this role is already the last one set for the zone, return the number of that event.

    Raises:
        InvalidInput: the role is too long, or the home's writer is `rules`.
    """
    zone.open_home.home.must_have_model()
    check_prompt_text(role)
    names = {proposal.id: proposal.name for proposal in proposals(zone)}
    number = 0
    for event in events_of_kinds(zone.node.ledger, zone.name, _ROLE_KINDS):
        payload = event.payload
        if isinstance(payload, SetWriterPrompt) and payload.beside:
            number = event.number if payload.text == role.strip() else number
        elif (isinstance(payload, SetWriterPrompt) and payload.name == ROLE) or (
            isinstance(payload, DecideWriterPrompt)
            and payload.approve
            # A forgotten proposal may have been one of the role.
            and names.get(payload.proposal_id, ROLE) == ROLE
        ):
            # It may hold in generations that were built for an earlier role too.
            number = 0
    if number:
        return number
    source_id = random_id("writer_text")
    payload = SetWriterPrompt(source_id=source_id, name=ROLE, text=role.strip(), beside=True)
    draft = command(payload, unix_ms())
    # The zone decides it with the events that follow, even if its home has other agents by now.
    (receipt,) = publish_commands(zone.node.ledger, zone.name, [draft])
    return receipt.number


def read_all(zone: OpenZone, progress: OnProgress | None) -> tuple[WriteReport, str | None]:
    """Let the model read the messages of a generation being built that it has not read for it.

    `zone`: the zone as it is in that generation. Return the report, and why messages are left that
    may be read later, or None if the rest were all rejected by the service.
    """
    home = zone.open_home.home
    with (
        closing(open_client(home.configuration, home.directory)) as client,
        exclusive(home.directory / LOCK_FILE),
    ):
        rejections: dict[int, bool] = {}
        backlog = ModelBacklog(zone.node.ledger, zone.name)
        run = WriterRun(zone, client, backlog, again=False, skipped=rejections)
        tasks = run.take(None)
        # Each call may raise, to cancel; messages are not counted as records of the rebuild.
        report = run.write(
            batches_of(tasks), len(tasks), progress and (lambda _: progress(0)), lambda: True
        )
    left = report.pending - report.processed - sum(rejections.values())
    return report, report.stopped if left else None
