"""Facts become observations: a tick asks, and a command for each cluster writes."""

from __future__ import annotations

import random
import re

from recollect.schemas.changes import AnalysisRun, EpisodeEvent
from recollect.schemas.events import Consolidate, Deletion, Draft, Retract, StatedAt, Tick
from recollect.streams.agents import BY_NAME
from recollect.streams.agents.consolidation.consolidator import Consolidator
from tests.agents.kit import DAY, START, Outcome, Zone, command, says

AGENTS = tuple(agent for name, agent in BY_NAME.items() if name != "modelwriter")
WEEK = 7 * DAY
POTTERY = (
    "I signed up for a pottery class in Oslo.",
    "I made two bowls in the pottery class.",
    "I showed my pottery at the winter market.",
)
FARM = (
    "I have two horses on the farm, one named Daisy and one named Buttercup.",
    "I sold my horse Buttercup to a neighbour.",
    "I have one horse now.",
    "I have five horses now.",
    "I have a new horse called Midnight.",
    "I bought a horse called Shadow.",
    "My horses Shadow and Twister won a race.",
    "I bathe the horses on Sundays.",
)


def tick(at: int) -> Draft:
    return command(Tick(source_id=f"tick:{at}", name="consolidate"), at=at)


def consolidate(zone: Zone, at: int = START + 99 * WEEK) -> list[Outcome]:
    """Read a tick and the commands that it asks for; return what they decide."""
    return [zone.read(draft) for draft in zone.read(tick(at)).outbox]


def told(*words: str, every: int = DAY) -> Zone:
    zone = Zone(*AGENTS)
    for n, text in enumerate(words):
        zone.read(says("Ada", text, id=f"m{n}", at=START + n * every))
    return zone


def current(zone: Zone) -> dict[tuple[str, str], str]:
    """Return (kind, label) -> text of the standing observations."""
    sql = """
        SELECT kind, label, output_text FROM observation_versions AS version
          JOIN analysis_runs AS run ON run.id = version.analysis_run_id
         WHERE output_text IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM observation_versions AS newer
                    WHERE newer.cluster_id = version.cluster_id AND newer.number > version.number)
    """
    return {(kind, label): text for kind, label, text in zone.ask("memory", sql)}


def test_a_topic_of_three_messages_on_two_days_becomes_an_observation() -> None:
    zone = told(*POTTERY)
    consolidate(zone)
    assert current(zone)["cluster", "pottery"] == (
        "Ada – pottery: signed up for a pottery class in Oslo (said 5 Jan 2026); made two bowls in "
        "the pottery class (said 6 Jan 2026); showed their pottery at the winter market "
        "(said 7 Jan 2026)."
    )


def test_two_messages_or_one_day_are_not_enough() -> None:
    for zone in (told(*POTTERY[:2]), told(*POTTERY, every=60_000)):
        consolidate(zone)
        assert current(zone) == {}


def test_only_a_tick_of_consolidation_asks_for_it() -> None:
    zone = told(*POTTERY)
    other = command(Tick(source_id="t", name="close_turns"), at=START + WEEK)
    assert zone.read(other).outbox == []


def test_ticks_ask_for_the_same_command_until_the_cluster_changes() -> None:
    zone = told(*POTTERY)
    (first,) = zone.read(tick(START + WEEK)).outbox
    assert isinstance(first.payload, Consolidate)
    assert zone.read(tick(START + 2 * WEEK)).outbox == []
    again = told(*POTTERY)
    (same,) = again.read(tick(START + 3 * WEEK)).outbox
    assert (same.payload, same.occurred_at) == (first.payload, first.occurred_at)
    zone.read(says("Ada", "I sold my pottery to a gallery.", at=START + 4 * WEEK))
    (other,) = zone.read(tick(START + 5 * WEEK)).outbox
    assert other.payload.source_id != first.payload.source_id


def test_a_command_read_twice_writes_one_version() -> None:
    zone = told(*POTTERY)
    (draft,) = zone.read(tick(START + WEEK)).outbox
    assert zone.read(draft).rows(AnalysisRun) != []
    assert zone.read(draft).rows(AnalysisRun) == []


def test_a_new_fact_makes_the_observation_stale_and_then_a_new_version() -> None:
    zone = told(*POTTERY)
    consolidate(zone, START + WEEK)
    flags = "SELECT is_stale FROM analysis_runs ORDER BY created_at, id"
    assert zone.ask("memory", flags) == [(0,)]
    zone.read(says("Ada", "I quit the pottery class.", at=START + 2 * WEEK))
    assert zone.ask("memory", flags) == [(1,)]
    consolidate(zone, START + 3 * WEEK)
    assert zone.ask("memory", flags) == [(1,), (0,)]
    text = current(zone)["cluster", "pottery"]
    assert text.endswith("“I quit the pottery class” (said 19 Jan 2026).")
    ((parents, versions),) = zone.ask(
        "memory", "SELECT count(parent_id), count(*) FROM analysis_runs"
    )
    assert (parents, versions) == (1, 2)


def test_a_fact_that_changes_no_text_makes_no_version() -> None:
    zone = told(*POTTERY)
    consolidate(zone, START + WEEK)
    zone.read(says("Ada", POTTERY[1], id="again", at=START + 2 * WEEK))
    assert [outcome.rows(AnalysisRun) for outcome in consolidate(zone)] == [[]]


def test_facts_are_consolidated_at_once_if_isolated_else_by_the_tick() -> None:
    zone = told("The boat is green.", *POTTERY[:2])
    flags = "SELECT is_consolidated, count(*) FROM facts GROUP BY 1"
    assert zone.ask("memory", flags) == [(1, 3)]
    zone.read(says("Ada", POTTERY[2], at=START + 3 * DAY))
    assert zone.ask("memory", flags) == [(0, 3), (1, 1)]
    consolidate(zone)
    assert zone.ask("memory", flags) == [(1, 4)]


def test_the_same_observations_from_every_order_of_arrival() -> None:
    drafts = [says("Ada", text, at=START + n * WEEK) for n, text in enumerate(FARM)]
    expected = None
    draw = random.Random(3)
    orders = [drafts, drafts[::-1], *(draw.sample(drafts, len(drafts)) for _ in range(8))]
    for order in orders:
        zone = Zone(*AGENTS)
        for n, draft in enumerate(order):
            zone.read(draft)
            if n % 3 == 2:
                consolidate(zone, START + 99 * WEEK + n)
        consolidate(zone, START + 200 * WEEK)
        found = current(zone)
        expected = expected or found
        assert found == expected
    assert expected
    horses = expected["cluster", "horse"]
    for said in (
        "one named Daisy and one named Buttercup (said 5 Jan 2026)",
        "sold",
        "Buttercup to a neighbour (said 12 Jan 2026)",
        "has five horses now (said 26 Jan 2026)",
        "has a new horse called Midnight (said 2 Feb 2026)",
        "Shadow and Twister won a race (said 16 Feb 2026)",
    ):
        assert said in horses
    assert "four" not in horses


def test_an_event_told_twenty_times_is_one_observation_with_twenty_proofs() -> None:
    zone = told(*["I won the chess tournament in Turin."] * 20, every=WEEK)
    consolidate(zone)
    texts = [text for text in current(zone).values() if "chess" in text]
    assert texts == ["Ada – chess: won the chess tournament in Turin (said 5 Jan 2026)."]
    ((proofs,),) = zone.ask(
        "memory",
        "SELECT count(DISTINCT event_id) FROM statements WHERE fact_id IN ("
        "SELECT fact_id FROM cluster_facts AS fact JOIN observation_versions AS version "
        "ON version.cluster_id = fact.cluster_id WHERE label = 'chess')",
    )
    assert proofs == 20


WORDS = re.compile(r"[\w']+")


def test_every_part_cites_a_fact_that_says_its_words() -> None:
    zone = told(*FARM, *POTTERY, "I moved to Oslo.", "I moved to Lima in May 2025.", every=WEEK)
    consolidate(zone)
    found = zone.ask(
        "memory",
        "SELECT substr(output_text, char_start + 1, char_end - char_start), facts.text, as_of "
        "FROM observation_items AS item JOIN facts ON facts.id = item.fact_id "
        "JOIN analysis_runs AS run ON run.id = item.analysis_run_id",
    )
    assert len(found) > 10
    for part, fact, as_of in found:
        said = time_words(as_of)
        part = part.removeprefix("then ").replace(", ended since)", ")")
        part = part.replace("their ", "Ada's ")
        words = set(WORDS.findall(part)) - said
        assert words <= {*WORDS.findall(fact)}, (part, fact)


def time_words(as_of: int) -> set[str]:
    """Return the words of `said 5 Jan 2026`."""
    from datetime import UTC, datetime

    day = datetime.fromtimestamp(as_of / 1_000, UTC)
    return {"said", str(day.day), f"{day:%b}", str(day.year), "no", "longer", "so"}


def test_values_that_replaced_each_other_are_a_history() -> None:
    zone = told("I live in Oslo.", "I live in Lima now.", every=WEEK)
    consolidate(zone)
    assert current(zone)["history", "home"] == (
        "Ada – home: Oslo (said 5 Jan 2026); then Lima (said 12 Jan 2026)."
    )


def test_an_event_stays_true_when_the_value_that_it_gave_ends() -> None:
    zone = told("I moved to Oslo.", "I sold the boat.", "I moved to Lima.", every=WEEK)
    consolidate(zone)
    assert current(zone)["changes", "changes"] == (
        "Ada – changes: moved to Oslo (said 5 Jan 2026, ended since); sold the boat "
        "(said 12 Jan 2026); moved to Lima (said 19 Jan 2026)."
    )


def test_a_late_older_value_does_not_overrule_a_newer_one() -> None:
    zone = Zone(*AGENTS)
    zone.read(says("Ada", "I live in Lima now.", at=START + WEEK))
    zone.read(says("Ada", "I live in Oslo.", at=START))
    consolidate(zone)
    assert current(zone)["history", "home"] == (
        "Ada – home: Oslo (said 5 Jan 2026); then Lima (said 12 Jan 2026)."
    )


def test_a_deleted_message_leaves_the_observation() -> None:
    words = (*POTTERY, "I fired my pottery in a kiln.")
    zone = Zone(*AGENTS)
    for n, text in enumerate(words):
        zone.read(says("Ada", text, id=f"m{n}", at=START + n * DAY))
    consolidate(zone, START + WEEK)
    assert "kiln" in current(zone)["cluster", "pottery"]
    zone.read(says("Ada", "", kind=Deletion, target="m3", at=START + 2 * WEEK))
    consolidate(zone)
    assert "kiln" not in current(zone)["cluster", "pottery"]


def test_an_observation_without_enough_facts_ends() -> None:
    zone = Zone(*AGENTS)
    for n, text in enumerate(POTTERY):
        zone.read(says("Ada", text, id=f"m{n}", at=START + n * DAY))
    consolidate(zone, START + WEEK)
    zone.read(says("Ada", "", kind=Deletion, target="m1", at=START + 2 * WEEK))
    consolidate(zone)
    assert current(zone) == {}
    texts = zone.ask("memory", "SELECT output_text, blocked_reason FROM analysis_runs ORDER BY id")
    assert texts[-1] == (None, "few facts")


def test_a_retracted_fact_is_no_longer_so_or_was_never_so() -> None:
    for restore in (False, True):
        zone = told(*POTTERY, "I fired my pottery in a kiln.")
        consolidate(zone, START + WEEK)
        said = zone.events[3]
        at = (StatedAt(said.number, 0, 99),)
        zone.read(
            command(Retract(source_id="r", target=said.id, stated_at=at), at=START + 2 * WEEK)
        )
        if restore:
            zone.read(
                command(Retract(source_id="b", target=said.id, restore=True), at=START + 3 * WEEK)
            )
        consolidate(zone)
        assert ("kiln" in current(zone)["cluster", "pottery"]) == restore


def test_contradictions_stand_side_by_side_with_their_days() -> None:
    zone = told("I love jazz.", "I play jazz every week with Bob.", "I hate jazz.", every=WEEK)
    consolidate(zone)
    text = current(zone)["cluster", "jazz"]
    assert "loves jazz" in text
    assert "hates jazz" in text
    assert "19 Jan 2026" in text


def test_each_version_adds_its_events_to_the_episode() -> None:
    zone = told(*POTTERY)
    (first,) = consolidate(zone, START + WEEK)
    zone.read(says("Ada", "I quit the pottery class.", at=START + 2 * WEEK))
    (second,) = consolidate(zone, START + 3 * WEEK)
    assert [len(each.rows(EpisodeEvent)) for each in (first, second)] == [3, 1]
    counts = zone.ask("memory", "SELECT event_count FROM episodes WHERE definition_id = "
                      "'consolidation' ORDER BY event_count")  # fmt: skip
    assert counts == [(3,), (4,)]


def test_a_smaller_topic_is_absorbed_by_a_larger_one() -> None:
    zone = told(*POTTERY, "I keep my pottery in a shed.", "My pottery broke.")
    consolidate(zone)
    topics = {label for kind, label in current(zone) if kind == "cluster"}
    assert len(topics) == 1
    assert "pottery" in next(iter(topics))


def test_facts_alone_decide_not_the_agents_that_found_them() -> None:
    one, other = told(*POTTERY, *FARM), told(*POTTERY, *FARM)
    for zone in (one, other):
        consolidate(zone)
    assert current(one) == current(other)


def test_without_the_agent_nothing_is_consolidated() -> None:
    agents = [agent for agent in AGENTS if not isinstance(agent, Consolidator)]
    zone = Zone(*agents)
    for n, text in enumerate(POTTERY):
        zone.read(says("Ada", text, at=START + n * DAY))
    assert zone.read(tick(START + WEEK)).outbox == []
    assert zone.ask("memory", "SELECT DISTINCT is_consolidated FROM facts") == [(0,)]
