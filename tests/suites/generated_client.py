"""What a generated client does with a service; run in the environment that it was generated in.

python generated_client.py CLIENT_FOLDER URL TOKEN
"""

from __future__ import annotations

import sys

sys.path.insert(0, sys.argv[1])

from recollect_client import AuthenticatedClient  # type: ignore[import-not-found]
from recollect_client.api.events import ingest  # type: ignore[import-not-found]
from recollect_client.api.memories import (  # type: ignore[import-not-found]
    get_memory,
    recall,
)
from recollect_client.models import (  # type: ignore[import-not-found]
    EventBatch,
    InboundEvent,
    IngestReport,
    Problem,
    RecallAnswer,
    RecallBody,
)


def main(url: str, token: str) -> None:
    """Ingest an event, recall it, and read a problem."""
    client = AuthenticatedClient(base_url=url, token=token)
    event = InboundEvent(
        platform="chat",
        sender_id="u1",
        sender_name="Ada",
        occurred_at="2026-05-08T13:56:00Z",
        content="I live in Turin.",
        id="m1",
    )
    report = ingest.sync("a", client=client, body=EventBatch(events=[event]), wait=True)
    assert isinstance(report, IngestReport), report
    assert report.new == 1, report
    answer = recall.sync("a", client=client, body=RecallBody(query="Where does Ada live?"))
    assert isinstance(answer, RecallAnswer), answer
    assert answer.results[0].source_event_ids == ["m1"], answer
    problem = get_memory.sync("a", "nobody", client=client)
    assert isinstance(problem, Problem), problem
    assert (problem.status, problem.type_) == (404, "urn:recollect:problem:not-found"), problem


main(*sys.argv[2:])
