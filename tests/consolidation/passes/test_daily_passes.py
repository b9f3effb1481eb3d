"""Daily passes: ticks that ask for steps, in order, each with an id of its own."""

from __future__ import annotations

from msgspec.structs import replace

from recollect.schemas.changes import (
    AnalysisRun,
    Episode,
    ObservationFact,
    ObservationMerge,
    ObservationVersion,
)
from recollect.schemas.events import Draft, RunPass, Tick
from recollect.schemas.ids import row_id
from recollect.streams.agents import BY_NAME
from recollect.streams.agents.consolidation.daily_passes import PASSES
from tests.agents.kit import DAY, START, Outcome, Zone, command, says
from tests.consolidation.test_consolidator import POTTERY, consolidate, current

AGENTS = tuple(agent for name, agent in BY_NAME.items() if name != "modelwriter")
ROUTINES = ("I run every morning.", "I swim on Tuesdays.", "I play chess every night.")


def told(*words: str) -> Zone:
    zone = Zone(*AGENTS)
    for n, text in enumerate(words):
        zone.read(says("Ada", text, id=f"m{n}", at=START + n * DAY))
    return zone


def tick(at: int, name: str = "temporal") -> Draft:
    return command(Tick(source_id=f"tick:{name}:{at}", name=name), at=at)


def run_passes(zone: Zone, at: int = START + 9 * DAY) -> list[Outcome]:
    """Read the first pass's tick and all that follows from it; return what each decides."""
    pending = [tick(at)]
    outcomes = []
    while pending:
        outcomes.append(zone.read(pending.pop(0)))
        pending += outcomes[-1].outbox
    return outcomes


def test_B8_stated_routines_of_an_entity_become_an_observation() -> None:
    zone = told(*ROUTINES)
    run_passes(zone)
    assert current(zone)["regular", "regular"] == (
        "Ada – regular: runs every morning (said 5 Jan 2026); swims on Tuesdays (said 6 Jan 2026); "
        "plays chess every night (said 7 Jan 2026)."
    )


def test_B8_an_entity_needs_three_recent_facts() -> None:
    for zone, at in ((told(*ROUTINES[:2]), START + 9 * DAY), (told(*ROUTINES), START + 400 * DAY)):
        run_passes(zone, at)
        assert current(zone) == {}


def test_B8_a_weight_that_falls_becomes_an_observation() -> None:
    zone = told("My weight is 84 kg now.", "My weight is 82 kg now.", "My weight is 81.5 kg now.")
    run_passes(zone)
    assert current(zone)["series", "weight, falling"] == (
        "Ada – weight, falling: 84 kg (5 Jan 2026); 82 kg (6 Jan 2026); 81.5 kg (7 Jan 2026)."
    )


def test_the_passes_follow_each_other_in_order() -> None:
    names = [
        outcome.event.payload.name
        for outcome in run_passes(told(*ROUTINES))
        if isinstance(outcome.event.payload, Tick)
    ]
    assert names == list(PASSES)


def test_a_second_pass_without_news_writes_nothing() -> None:
    zone = told(*ROUTINES)
    run_passes(zone)
    again = run_passes(zone, START + 10 * DAY)
    assert not [each for outcome in again for each in outcome.rows(AnalysisRun)]
    assert not [each for each in again if isinstance(each.event.payload, RunPass)]


def test_a_pattern_ends_when_its_facts_are_no_more() -> None:
    zone = told(*ROUTINES[:2], "I like tea.")
    run_passes(zone)
    zone.read(says("Ada", "Correction: I run every evening.", at=START + 10 * DAY))
    zone.read(says("Ada", "I do not swim on Tuesdays anymore.", at=START + 11 * DAY))
    before = current(zone)["regular", "regular"]
    run_passes(zone, START + 12 * DAY)
    assert current(zone).get(("regular", "regular")) != before


def test_what_is_ahead_ends_with_its_day() -> None:
    zone = told(
        "I fly to Lima on 20 January 2026.", "I see the dentist on 22 January 2026.", "I like tea."
    )
    run_passes(zone)
    assert ("ahead", "ahead") in current(zone)
    run_passes(zone, START + 40 * DAY)
    assert ("ahead", "ahead") not in current(zone)


def test_a_correlation_cites_the_messages_of_both_sides() -> None:
    drank = [f"I drank wine on {day} January 2026." for day in range(1, 28, 5)]
    ached = [f"I had a headache on {day} January 2026." for day in range(1, 28, 5)]
    rode = [f"I rode my horse on {day} January 2026." for day in range(2, 28) if day % 5 != 1]
    zone = told(*drank, *ached, *rode)
    outcomes = run_passes(zone, START + 40 * DAY)
    (label,) = [label for kind, label in current(zone) if kind == "correlation"]
    assert label == "headache and wine on the same day (6 days)"
    (run,) = zone.ask(
        "memory", "SELECT analysis_run_id FROM observation_versions WHERE kind = 'correlation'"
    )
    cited = {
        row.fact_id
        for each in outcomes
        for row in each.rows(ObservationFact)
        if row.analysis_run_id == run[0]
    }
    sources = zone.ask("memory", "SELECT id, source_event_id FROM facts")
    assert len({event for fact, event in sources if fact in cited}) == 8


def with_twin() -> tuple[Zone, str, str]:
    """Return a zone with two observations of one text, and their clusters; the first has more."""
    zone = told(*POTTERY)
    written = [each for outcome in consolidate(zone) for each in outcome.puts]
    (version,) = [each for each in written if isinstance(each, ObservationVersion)]
    (run,) = [each for each in written if isinstance(each, AnalysisRun)]
    (episode,) = [each for each in written if isinstance(each, Episode)]
    (fact, *_) = [each for each in written if isinstance(each, ObservationFact)]
    twin = row_id(0, "twin", version.cluster_id)
    zone.given(
        replace(episode, id=twin),
        replace(run, id=twin, episode_id=twin),
        replace(version, analysis_run_id=twin, cluster_id=twin),
        replace(fact, analysis_run_id=twin),
    )
    return zone, version.cluster_id, twin


def test_B9_of_two_that_say_the_same_the_one_with_more_evidence_is_kept() -> None:
    zone, kept, _ = with_twin()
    assert len(zone.ask("memory", "SELECT * FROM standing_observations")) == 2
    merges = [each for outcome in run_passes(zone) for each in outcome.rows(ObservationMerge)]
    assert [each.keeper_cluster_id for each in merges] == [kept]
    standing = zone.ask("memory", "SELECT cluster_id FROM standing_observations")
    assert standing == [(kept,)]
    ended = "SELECT output_text, blocked_reason FROM analysis_runs WHERE id = ?"
    assert zone.ask("memory", ended, merges[0].analysis_run_id) == [(None, "merged")]


def test_B9_a_merge_that_no_longer_holds_changes_nothing() -> None:
    zone, _, twin = with_twin()
    asked = zone.read(tick(START + 9 * DAY, "observation_merge")).outbox
    run = zone.state().analysis_run(twin)
    assert run is not None
    zone.given(replace(run, output_text="Ada – tea: likes tea."))
    assert [each for draft in asked for each in zone.read(draft).rows(AnalysisRun)] == []


def test_B9_other_observations_of_an_entity_are_left_alone() -> None:
    zone = told(*POTTERY, *(f"My horse won prize number {n} in Oslo." for n in range(3)))
    consolidate(zone)
    before = current(zone)
    assert len(before) == 2
    run_passes(zone)
    assert current(zone) == before


def test_every_pattern_names_the_facts_that_support_it() -> None:
    outcomes = run_passes(told(*ROUTINES))
    facts = [each for outcome in outcomes for each in outcome.rows(ObservationFact)]
    assert len({each.fact_id for each in facts}) == len(ROUTINES)
