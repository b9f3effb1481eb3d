"""The order of turns and documents in one answer."""

from __future__ import annotations

from recollect.projections.recall.answer.assembly import assemble
from recollect.schemas.wire import Result


def result(id_: str, score: float, kind: str = "event") -> Result:
    return Result(
        id=id_,
        type=kind,
        text=id_,
        as_of="2026-01-05T10:00:00Z",
        score=score,
        is_stale=False,
        entity_ids=[],
        platform=None,
        sender_name=None,
        source_event_ids=[id_],
    )


TURNS = [result(f"t{place}", 0.9 - place / 100) for place in range(30)]


def test_documents_are_merged_in_by_score() -> None:
    page = result("page", 0.885, "mental_model")
    found = assemble(TURNS, [page], 5)
    assert [item.id for item in found] == ["t0", "t1", "page", "t2", "t3"]


def test_a_page_about_what_is_asked_for_as_a_whole_comes_first() -> None:
    page = result("page", 0.01, "mental_model")
    found = assemble(TURNS, [page], 3, whole={"page"}, min_score=0.5)
    assert [item.id for item in found] == ["page", "t0", "t1"]
    assert found[0].score == found[1].score
