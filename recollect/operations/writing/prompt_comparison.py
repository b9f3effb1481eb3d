"""Compare what a proposed writer prompt would write with what the present one wrote (A22)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing

from recollect.home.open_zone import OpenZone
from recollect.operations.writing.prompt_proposals import find_proposal
from recollect.operations.writing.writing import ZoneMemory, open_client, recorder_of
from recollect.projections.events import event_queries as events
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.events import message_of
from recollect.schemas.wire import WriterComparison, WriterPromptComparison
from recollect.streams.agents.writer.model.proposals import Proposed, is_of_model
from recollect.streams.agents.writer.model.restatements import compare_texts
from recollect.streams.deciding.decider import LedgerConversation
from recollect.streams.models.budget_tracker import SpendingLimitExceeded
from recollect.streams.models.model_client import ModelClient, ModelUnavailable
from recollect.streams.writing.model_loop import WriteTask, write_event, write_task_for
from recollect.streams.writing.recorder import ErasedDuringCall
from recollect.streams.writing.writer_prompt import writer_prompt_of

#: Larger than every event number.
_AFTER_ALL = 2**62


def compare_proposal(
    zone: OpenZone, id_: str, *, limit: int = 10, client: ModelClient | None = None
) -> WriterPromptComparison:
    """Have the model read the last messages that it has read again, under a proposed prompt.

    `limit`: the maximum number of messages. Nothing becomes memory. The answers are recorded, so
    that a later `write` under this prompt does not pay for them again.

    Raises:
        UnknownId: there is no proposal with this id.
        InvalidInput: the home's writer is `rules`, or no model account is configured.
    """
    home = zone.open_home.home
    home.must_have_model()
    proposal = find_proposal(zone, id_)
    with ExitStack() as stack:
        if client is None:
            client = stack.enter_context(closing(open_client(home.configuration, home.directory)))
        with zone.files() as files:
            texts = memory.writer_prompts(files.memory.connection)
        prompt = writer_prompt_of(texts | {proposal.name: (proposal.number, proposal.text)})
        recorder = recorder_of(zone, client)
        compared: list[WriterComparison] = []
        stopped = None
        for task in _tasks(zone, limit, client.settings.context):
            try:
                result = write_event(
                    task, prompt, recorder, ZoneMemory(zone), client.settings.rounds
                )
            except ErasedDuringCall:
                continue
            except (ModelUnavailable, SpendingLimitExceeded) as error:
                stopped = str(error)
                break
            compared.append(_compared(zone, task, result.proposed))
        spent = client.budget.run
        return WriterPromptComparison(
            id=id_,
            messages=compared,
            calls=spent.calls,
            tokens=spent.tokens,
            cost=spent.cost,
            stopped=stopped,
        )


def _tasks(zone: OpenZone, limit: int, context: int) -> list[WriteTask]:
    """Return the last messages that the model has read, the newest first."""
    tasks: list[WriteTask] = []
    with zone.files() as files:
        conversation = LedgerConversation(files.events.connection)
        for number in sorted(memory.events_with_model_answers(files.memory.connection))[::-1]:
            event = events.event_by_number(files.events.connection, number)
            task = event and write_task_for(event, conversation, _AFTER_ALL, context)
            if task:
                tasks.append(task)
            if len(tasks) == limit:
                break
    return tasks


def _compared(zone: OpenZone, task: WriteTask, proposed: Proposed) -> WriterComparison:
    """Return which facts a prompt would keep, add and no longer write for a message."""
    event, content = task.event, message_of(task.event)
    speaker = content.sender_name or content.sender_id
    with zone.files() as files:
        connection = files.memory.connection
        present = [
            (text, is_of_model(id_, event.id, text))
            for id_, text in memory.facts_from(connection, event.id)
            if memory.is_current_fact(connection, id_)
        ]
    sentences = [fact.text for fact in proposed.facts.values()]

    def restated(text: str, among: Sequence[str]) -> bool:
        return any(compare_texts(text, one, speaker, task.said_at) != "new" for one in among)

    texts = [text for text, _ in present]
    return WriterComparison(
        event_id=content.source_id,
        content=content.content,
        same=[text for text in texts if restated(text, sentences)],
        added=[text for text in sentences if not restated(text, texts)],
        dropped=[text for text, by_model in present if by_model and not restated(text, sentences)],
        rejected=proposed.refused,
    )
