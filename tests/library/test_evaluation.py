"""A zone's recall is scored on questions whose sources are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import InvalidInput, JudgedQuestion, Recollect, Zone
from tests.library.kit import said

TOPICS = ("violins", "ferries", "beehives", "glaciers", "tractors", "orchids")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    """A zone with a message for each topic, and no encoder: words alone decide."""
    with Recollect(tmp_path, encoder="none") as r:
        zone = r.zone("a")
        zone.ingest(
            [
                said(f"m{minute}", f"We talked about {topic} for hours.", minute=minute)
                for minute, topic in enumerate(TOPICS)
            ]
        )
        yield zone


def judged(query: str, *sources: str) -> JudgedQuestion:
    """Return a question with its sources."""
    return JudgedQuestion(query, sources=sources)


def test_a_source_in_the_first_result_counts_at_every_cutoff(zone: Zone) -> None:
    report = zone.evaluate([judged("violins", "m0")], max_results=5)
    assert report.recall_at == {"1": 1.0, "3": 1.0, "5": 1.0}
    assert report.mean_reciprocal_rank == 1.0
    assert report.answers[0].ranks == {"m0": 1}
    assert report.answers[0].missed == []


def test_figures_are_means_over_the_questions(zone: Zone) -> None:
    questions = [judged("violins", "m0"), judged("ferries", "m1", "m5"), judged("violins", "m2")]
    report = zone.evaluate(questions, max_results=1)
    assert (report.questions, report.sources) == (3, 4)
    assert report.recall_at == {"1": 0.5}
    assert report.mean_reciprocal_rank == pytest.approx(2 / 3, abs=1e-4)
    assert report.arms["keyword"] == pytest.approx(2 / 4)


def test_a_missed_source_is_named_with_the_step_that_dropped_it(zone: Zone) -> None:
    answer = zone.evaluate([judged("violins", "m2")], max_results=1).answers[0]
    expected = zone.explain("violins", "m2", max_results=1)
    assert expected is not None
    (missed,) = answer.missed
    assert (missed.source, missed.dropped_by, missed.reason) == (
        *("m2", expected.dropped_by),
        expected.reason,
    )
    assert missed.reason


def test_unanswerable_questions_should_be_less_relevant(zone: Zone) -> None:
    report = zone.evaluate([judged("violins", "m0"), judged("Who repaired the oven?")])
    first, second = report.answers
    assert report.unanswerable == 1
    assert report.questions == 1
    assert report.relevance_auroc == (
        1.0 if first.relevant > second.relevant else 0.5 * (first.relevant == second.relevant)
    )


def test_a_source_that_is_not_there_is_named_and_not_counted(zone: Zone) -> None:
    report = zone.evaluate([judged("violins", "m0", "gone"), judged("ferries", "lost")])
    assert report.unknown_sources == ["gone", "lost"]
    assert (report.questions, report.sources, report.unanswerable) == (1, 1, 0)
    assert report.recall_at["1"] == 1.0


def test_an_evaluation_counts_no_access(zone: Zone) -> None:
    before = zone.head()
    zone.evaluate([judged("violins", "m0")])
    assert zone.head() == before


def test_fields_of_a_question_restrict_its_search(zone: Zone) -> None:
    mail = JudgedQuestion("violins", platform="mail", sources=("m0",))
    assert zone.evaluate([mail]).recall_at["1"] == 0.0


def test_an_evaluation_needs_questions(zone: Zone) -> None:
    with pytest.raises(InvalidInput, match="0 questions"):
        zone.evaluate([])
