"""The agent that analyses episodes: runs, their status, and facets with their sources."""

from __future__ import annotations

import json

from recollect.schemas.changes import AnalysisRun, AnalysisType, Facet
from recollect.schemas.events import Analyse, Draft, Edit, OwnAnalysis
from recollect.streams.agents.episodes.episode_analyst import EpisodeAnalyst
from recollect.streams.agents.episodes.episode_grouper import EpisodeGrouper
from tests.agents.kit import MINUTE, START, Outcome, Zone, command, says

DEFINITION = "time_window"


def zone_of(*drafts: Draft) -> Zone:
    return Zone(EpisodeGrouper(), EpisodeAnalyst()).given(*drafts)


def episodes(zone: Zone) -> list[str]:
    """The ids of the conversation's episodes, in the order in which they began."""
    found = zone.ask(
        "memory", f"SELECT id FROM episodes WHERE definition_id = '{DEFINITION}' ORDER BY rowid"
    )
    return [str(id_) for (id_,) in found]


def analyse(
    zone: Zone,
    *types: str,
    events: tuple[int, ...] | None = None,
    own: tuple[OwnAnalysis, ...] = (),
) -> Outcome:
    """Analyse the last episode; `events`: all messages if None."""
    numbers = tuple(event.number for event in zone.events if event.kind != "analyse")
    return zone.read(
        command(
            Analyse(
                source_id=f"analyse:{len(zone.events)}",
                episode_id=episodes(zone)[-1],
                types=types,
                events=numbers if events is None else events,
                own=own,
            )
        )
    )


def test_a_run_is_completed_with_its_text() -> None:
    zone = zone_of(says("Ada", "I adopted a grey kitten from the shelter in Leeds."))
    (run,) = analyse(zone, "summary_v1").rows(AnalysisRun)
    assert (run.status, run.analysis_type_id, run.retry_count) == ("completed", "summary_v1", 0)
    assert run.output_text == (
        "2026-01-05\nAda: I adopted a grey kitten from the shelter in Leeds."
    )


def test_personal_data_is_a_facet_with_its_place() -> None:
    zone = zone_of(says("Ada", "Write to ada@example.org."))
    (facet,) = analyse(zone, "pii_v1").rows(Facet)
    assert (facet.facet_type, facet.value) == ("pii_email", "ada@example.org")
    assert json.loads(facet.metadata_json) == {
        "event_id": zone.events[0].id,
        "start": 9,
        "end": 24,
        "rule": "email",
    }


def test_a_facet_rests_on_its_message_alone() -> None:
    zone = zone_of(says("Ada", "Hello there."), says("Bob", "Write to bob@example.org."))
    outcome = analyse(zone, "pii_v1")
    assert outcome.sources_of(Facet) == [(2, 3)]
    assert outcome.sources_of(AnalysisRun) == [(3,)]


def test_a_text_rests_on_the_messages_that_it_quotes() -> None:
    zone = zone_of(
        says("Bob", "Wow, so cool!"),
        says("Ada", "I adopted a grey kitten from the shelter in Leeds."),
    )
    assert analyse(zone, "summary_v1").sources_of(AnalysisRun) == [(2, 3)]
    assert analyse(zone, "conversation_v1").sources_of(AnalysisRun) == [(1, 2, 4)]


def test_an_edited_message_counts_as_it_now_reads() -> None:
    zone = zone_of(
        says("Ada", "Write to ada@example.org.", id="m"),
        says("Ada", "Write to ada@example.com.", kind=Edit, target="m"),
    )
    facets = analyse(zone, "pii_v1").rows(Facet)
    assert [facet.value for facet in facets] == ["ada@example.com"]


def test_an_older_edit_that_comes_late_does_not_count() -> None:
    zone = zone_of(
        says("Ada", "Write to ada@example.org.", id="m"),
        says("Ada", "Write to ada@example.com.", kind=Edit, target="m", at=START + 2 * MINUTE),
        says("Ada", "Write to ada@example.net.", kind=Edit, target="m", at=START + MINUTE),
    )
    facets = analyse(zone, "pii_v1").rows(Facet)
    assert [facet.value for facet in facets] == ["ada@example.com"]


def test_nothing_is_written_if_the_episode_has_grown() -> None:
    zone = zone_of(says("Ada", "Hello there."), says("Ada", "Write to ada@example.org."))
    assert analyse(zone, "pii_v1", events=(1,)).parts == []
    assert analyse(zone, "pii_v1").rows(AnalysisRun)


def test_a_completed_run_is_not_made_again() -> None:
    zone = zone_of(says("Ada", "Write to ada@example.org."))
    assert analyse(zone, "pii_v1").rows(Facet)
    assert analyse(zone, "pii_v1").parts == []


def test_a_message_after_an_analysis_is_analysed_in_a_new_version() -> None:
    zone = zone_of(says("Ada", "I adopted a grey kitten from the shelter in Leeds."))
    (first,) = analyse(zone, "summary_v1").rows(AnalysisRun)
    zone.read(says("Ada", "My sister opens a bakery in Porto."))
    (second,) = analyse(zone, "summary_v1").rows(AnalysisRun)
    assert second.parent_id == first.id
    assert second.episode_id != first.episode_id
    assert "kitten" in str(second.output_text)
    assert "bakery" in str(second.output_text)


def test_a_prompt_is_blocked_and_says_why() -> None:
    zone = zone_of(says("Ada", "Hello there."))
    own = (OwnAnalysis(name="mood", prompt="How do they feel?"),)
    (run,) = analyse(zone, "mood_v1", own=own).rows(AnalysisRun)
    assert (run.status, run.output_text, run.completed_at) == ("blocked", None, None)
    assert "recollect init --writer model" in str(run.blocked_reason)


def test_a_bad_pattern_fails_and_the_others_go_on() -> None:
    zone = zone_of(says("Ada", "Write to ada@example.org."))
    own = (OwnAnalysis(name="codes", patterns={"code": "("}),)
    failed, done = analyse(zone, "codes_v1", "pii_v1", own=own).rows(AnalysisRun)
    assert (failed.status, done.status) == ("failed", "completed")
    assert "a pattern is no regular expression" in str(failed.error_message)


def test_a_retry_is_counted_and_may_complete() -> None:
    zone = zone_of(says("Ada", "The code is AB-12."))
    wrong = (OwnAnalysis(name="codes", patterns={"code": "("}),)
    right = (OwnAnalysis(name="codes", patterns={"code": r"([A-Z]+)-\d+"}),)
    (first,) = analyse(zone, "codes_v1", own=wrong).rows(AnalysisRun)
    outcome = analyse(zone, "codes_v1", own=right)
    (second,) = outcome.rows(AnalysisRun)
    assert (first.id, first.status, first.retry_count) == (second.id, "failed", 0)
    assert (second.status, second.retry_count) == ("completed", 1)
    assert [facet.value for facet in outcome.rows(Facet)] == ["AB"]


def test_a_type_of_ones_own_is_kept_as_data() -> None:
    zone = zone_of(says("Ada", "The code is AB-12."))
    own = (OwnAnalysis(name="codes", version="2", patterns={"code": "AB"}),)
    (kind,) = analyse(zone, "codes_v2", own=own).rows(AnalysisType)
    assert (kind.id, kind.name, kind.version, kind.patterns) == (
        "codes_v2",
        "codes",
        "2",
        '{"code":"AB"}',
    )


def test_an_unknown_type_is_blocked() -> None:
    zone = zone_of(says("Ada", "Hello there."))
    (run,) = analyse(zone, "weather_v1").rows(AnalysisRun)
    assert run.status == "blocked"
    assert "there is no analysis type weather_v1" in str(run.blocked_reason)


def test_an_unknown_episode_has_no_effect() -> None:
    zone = zone_of(says("Ada", "Hello there."))
    request = Analyse(source_id="a", episode_id="nothing", types=("pii_v1",), events=(1,))
    assert zone.read(command(request)).parts == []
