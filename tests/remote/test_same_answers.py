"""A service in the place of a home: each method does and answers the same."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect import (
    AsyncRecollect,
    JudgedQuestion,
    PlaybookStrategy,
    Query,
    Recollect,
    TrajectoryStatus,
    Zone,
)
from recollect.operations.table.zone_operations import all_operations
from recollect.schemas.errors import InvalidInput, RecollectError, RequiresLocalHome, UnknownId
from recollect.schemas.events import RecallCount
from recollect.schemas.wire import ForgetTargets, MemoryInput, Rejection, StoredMemoryPage
from tests.library.kit import said
from tests.remote.kit import client
from tests.service.kit import Served, served

TALK = (
    said("m1", "I live in Turin with a puppy."),
    said("m2", "I bought a boat from Ann Lee.", by="Bob", minute=1),
    said("m3", "I moved to Oslo because of the sea.", minute=2),
    said("m4", "Ann Lee and Annie Lee sold two boats.", by="Bob", minute=3),
    said("m5", "The puppy is called Rex.", minute=4, platform="mail"),
)
NO_EVENTS: tuple[Any, ...] = ({"platform": "chat"}, 7, object(), {"content": {1, 2}})
# What an answer says of time, and of its own zone.
_OF_THE_MOMENT = {
    "ms",
    "seconds",
    "lag_seconds",
    "seconds_since_progress",
    "as_of",
    "at",
    "last_refreshed",
    "said_at",
    "updated_at",
}
_OF_THE_ZONE = {
    *("id", "a_id", "b_id", "event_id", "merge_id", "entity_ids", "previous", "previous_id"),
    *("zone", "token", "head", "generation", "number", "retained_chains", "chains", "forgotten"),
    *("hash", "replayed", "source_event_ids", "saved_as", "stale_ids", "tags"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service without ticks: it appends them by the clock, and a home with every import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_TICKS", "off")
        with served(tmp_path_factory.mktemp("remote") / "home") as found:
            yield found


@pytest.fixture(scope="module")
def home(service: Served) -> Recollect:
    """The library over the home that is served."""
    return service.app.service.recollect


@pytest.fixture(scope="module")
def remote(service: Served) -> Iterator[Recollect]:
    with client(service) as found:
        yield found


@pytest.fixture(scope="module")
def told(home: Recollect) -> Zone:
    """A zone that many only ask."""
    zone = home.zone("told")
    zone.ingest(TALK)
    model = zone.create_mental_model("Homes", "Ada lived in Turin.", tags=("home",))
    zone.update_mental_model(model.id, "Ada lives in Oslo.")
    ann, annie = (zone.get_entity(name).id for name in ("Ann Lee", "Annie Lee"))
    zone.propose_merge(ann, annie, 0.6, "the names are alike")
    zone.analyse()
    zone.consolidate()
    return zone


def plain(value: object, without: set[str]) -> object:
    """Return what a value says, without some fields."""
    if isinstance(value, msgspec.Struct):
        value = {"": type(value).__name__, **msgspec.structs.asdict(value)}
    if isinstance(value, dict):
        return {key: plain(item, without) for key, item in value.items() if key not in without}
    if isinstance(value, list | tuple):
        # Refusals are told as they are met, and some are met before the others.
        told = sorted(value, key=lambda item: item.line) if _refusals(value) else value
        return [plain(item, without) for item in told]
    return value


def _refusals(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Rejection)


def best(zone: Zone) -> str:
    return zone.recall("Where does Ada live?").results[0].id


def refused(ask: Callable[[], object]) -> str:
    with pytest.raises(UnknownId) as caught:
        ask()
    return str(caught.value)


#: What only asks: of one zone, the same answer is wanted, to the last id.
ASKING: dict[str, tuple[Callable[[Zone], object], ...]] = {
    "name": (lambda zone: zone.name,),
    "export_lines": (lambda zone: list(map(bytes.decode, zone.export_lines())),),
    "recall": (
        lambda zone: zone.recall("Where does Ada live?"),
        lambda zone: zone.recall(Query("boat", max_results=1, scope=("facts",))),
        lambda zone: zone.recall({"query": "boat", "entity": "Bob", "explain": True}),
        lambda zone: zone.recall("live", source_event_ids=["m1"]),
        lambda zone: zone.recall("puppy", platform="mail", time_after="2026-05-08T00:00:00Z"),
        lambda zone: zone.recall("Where does Ada live?", known_at="2020-01-01T00:00:00Z"),
    ),
    "context": (
        lambda zone: zone.context("Where does Ada live now?"),
        lambda zone: zone.context("What is the capital of France?", max_tokens=50),
    ),
    "explain": (
        lambda zone: zone.explain("Where does Ada live?", best(zone)),
        lambda zone: zone.explain("Where does Ada live?", "nobody"),
    ),
    "why": (lambda zone: zone.why("m3"), lambda zone: zone.why(best(zone))),
    "reflect": (lambda zone: zone.reflect("Where does Ada live?", max_results=3),),
    "mental_models": (
        lambda zone: zone.mental_models(),
        lambda zone: zone.mental_models(superseded=True),
    ),
    "mental_model_history": (lambda zone: zone.mental_model_history(zone.mental_models()[0].id),),
    "directives": (lambda zone: zone.directives(superseded=True),),
    "mental_model": (lambda zone: zone.mental_model(zone.mental_models()[0].id),),
    "consolidate": (lambda zone: zone.consolidate(),),
    "dreams": (lambda zone: zone.dreams(),),
    "dream": (lambda zone: zone.dream().reason,),
    "observations": (
        lambda zone: zone.observations(),
        lambda zone: zone.observations(entity="Ada", superseded=True, limit=1),
    ),
    "trajectories": (
        lambda zone: zone.trajectories(),
        lambda zone: zone.trajectories(agent_id="a", task_type="release", status="success"),
    ),
    "trajectory": (lambda zone: refused(lambda: zone.trajectory("nobody")),),
    "reflection": (lambda zone: refused(lambda: zone.reflection("nobody")),),
    "playbooks": (
        lambda zone: zone.playbooks(),
        lambda zone: zone.playbooks(agent_id="a", scope="agent", pattern="rel", limit=1),
    ),
    "playbook": (lambda zone: refused(lambda: zone.playbook("nobody")),),
    "playbook_history": (lambda zone: refused(lambda: zone.playbook_history("nobody")),),
    "relevant_strategies": (
        lambda zone: zone.relevant_strategies("Release", agent_id="a", max_tokens=90),
    ),
    "observation": (lambda zone: refused(lambda: zone.observation("nobody")),),
    "observation_history": (lambda zone: refused(lambda: zone.observation_history("nobody")),),
    "get_memory": (lambda zone: zone.get_memory("m1"), lambda zone: zone.get_memory(best(zone))),
    "list_memories": (
        lambda zone: zone.list_memories(),
        lambda zone: zone.list_memories("events", platform="mail"),
        lambda zone: zone.list_memories("events", source_event_ids=["m1", "m2"]),
        lambda zone: zone.list_memories("events", metadata={"a": "b"}),
        lambda zone: zone.list_memories("facts", source_event_ids=[]),
        lambda zone: _all_pages(zone),
    ),
    "history": (lambda zone: zone.history(zone.mental_models()[0].id),),
    "get_entity": (lambda zone: zone.get_entity("Ann Lee"),),
    "facts": (
        lambda zone: zone.facts(),
        lambda zone: zone.facts(entity="Ada", superseded=True),
        lambda zone: zone.facts(limit=2, cursor=zone.facts(limit=1).cursor),
    ),
    "fact_count": (lambda zone: zone.fact_count(), lambda zone: zone.fact_count(entity="Bob")),
    "entities": (
        lambda zone: zone.entities(),
        lambda zone: zone.entities(cursor=zone.entities(limit=1).cursor, limit=2).entities,
        lambda zone: zone.entities(query="o"),
    ),
    "records": (
        lambda zone: zone.records(),
        lambda zone: zone.records(kinds=["message", "remember"], limit=2, newest_first=True),
        lambda zone: zone.records(first=2, limit=1, cursor=zone.records(limit=1).cursor),
        lambda zone: zone.records(at="2026-05-08T10:01:30Z"),
    ),
    "record": (lambda zone: zone.record(1), lambda zone: zone.record(3)),
    "related": (lambda zone: zone.related("Bob"), lambda zone: zone.related("Bob", max_results=1)),
    "evaluate": (
        lambda zone: zone.evaluate([JudgedQuestion("boat", sources=("m1", "gone"))]),
        lambda zone: zone.evaluate([JudgedQuestion("boat", sources=())], max_results=3),
    ),
    "relationships": (
        lambda zone: zone.relationships("Ada"),
        lambda zone: zone.relationships("Ada", superseded=True, direction="out", limit=1),
        lambda zone: zone.relationships(
            "Ada", types=["LOCATED_IN"], known_at=zone.consistency_token()
        ),
    ),
    "neighbors": (
        lambda zone: zone.neighbors("Ada"),
        lambda zone: zone.neighbors("Oslo", hops=1, direction="in", max_entities=1),
    ),
    "subgraph": (lambda zone: zone.subgraph(["Ada", "Oslo"], hops=1),),
    "find_path": (
        lambda zone: zone.find_path("Ada", "Oslo"),
        lambda zone: zone.find_path("Ada", "Bob", max_hops=1),
    ),
    "timeline": (
        lambda zone: zone.timeline(),
        lambda zone: zone.timeline(entity="Bob", first="2026-05-08", last="2026-05-09"),
        lambda zone: zone.timeline(limit=2, cursor=zone.timeline(limit=1).cursor),
        lambda zone: zone.timeline(
            known_at=zone.consistency_token(), valid_at="2026-05-08T10:01:30Z"
        ),
    ),
    "timeline_counts": (
        lambda zone: zone.timeline_counts(),
        lambda zone: zone.timeline_counts(by="day", entity="Bob", first="2026-05-08"),
    ),
    "episodes": (
        lambda zone: zone.episodes(),
        lambda zone: zone.episodes(strategy="day", entity="Ada", first="2026-05-08"),
        lambda zone: zone.episodes(query="boat"),
    ),
    "episode": (lambda zone: zone.episode(zone.episodes()[0].id, limit=1),),
    "episode_history": (lambda zone: zone.episode_history(zone.episodes()[0].id),),
    "compare": (lambda zone: zone.compare("Ann Lee", "Annie Lee"),),
    "hints": (
        lambda zone: zone.hints(),
        lambda zone: zone.hints(Query("boat", entity="Adda", platform="mial")),
    ),
    "merges": (lambda zone: zone.merges(),),
    "get_merge": (lambda zone: zone.get_merge(zone.merges()[0].id),),
    "analysis_types": (lambda zone: zone.analysis_types(),),
    "analyses": (
        lambda zone: zone.analyses(),
        lambda zone: zone.analyses(type="summary_v1", status="completed", limit=1),
        lambda zone: zone.analyses(limit=2, cursor=zone.analyses(limit=1).cursor),
    ),
    "facets": (
        lambda zone: zone.facets(),
        lambda zone: zone.facets(type="top*", limit=2, cursor=zone.facets(limit=1).cursor),
        lambda zone: zone.facets(type="participant", value="ada"),
    ),
    "exists": (lambda zone: zone.exists(),),
    "head": (lambda zone: zone.head(),),
    "status": (lambda zone: zone.status(),),
    "verify": (
        lambda zone: zone.verify(),
        lambda zone: zone.verify(expect="1:" + "0" * 32),
    ),
    "consistency_token": (lambda zone: zone.consistency_token(),),
    "wait_for": (lambda zone: zone.wait_for(zone.consistency_token()),),
    "decide": (lambda zone: zone.decide(),),
    "dead_letters": (lambda zone: zone.dead_letters(),),
    "writer_texts": (lambda zone: zone.writer_texts(),),
    "backfill_status": (lambda zone: zone.backfill_status(),),
    "writer_proposals": (
        lambda zone: zone.writer_proposals(),
        lambda zone: zone.writer_proposals(status="pending"),
    ),
}


def _all_pages(zone: Zone) -> list[str]:
    texts, cursor = [], None
    while True:
        page = zone.list_memories("events", cursor=cursor, limit=2)
        texts += [memory.text for memory in page.memories]
        cursor = page.cursor
        if cursor is None:
            return texts


def _remembered(zone: Zone) -> object:
    made = zone.remember("The key is in the blue safe.", at="2026-05-09T10:00:00Z")
    updated = zone.update_memory(made.event_id, "The key is in the red safe.")
    return [made, updated, zone.get_memory(updated.id), zone.status().events]


def _forgotten(zone: Zone) -> object:
    return [
        zone.forget("m1", dry_run=True),
        zone.forget("m1"),
        zone.forget("m1"),
        zone.forget(sender_id="u-Bob", platform="chat", time_after="2026-05-08T10:02:00Z"),
        zone.recall("Turin").results,
        zone.status().events,
    ]


def _certified(zone: Zone) -> object:
    issued = zone.forget("m1", certificate=True).certificate
    assert issued is not None
    checked = zone.verify(certificate=issued).certificate
    return [
        *(issued.statement.request.selectors, len(issued.statement.erased)),
        [item.sha256 for item in zone.certificates()] == [issued.sha256],
        zone.certificate(issued.statement.erasure) == issued,
        checked,
    ]


def _merged(zone: Zone) -> object:
    ann, annie = (zone.get_entity(name).id for name in ("Ann Lee", "Annie Lee"))
    said = [zone.propose_merge(ann, annie, 0.6, "the names are alike")]
    waits = next(merge for merge in zone.merges() if merge.reasons == ["the names are alike"])
    done = zone.decide_merge(waits.id, "merged")
    return [said, done, zone.decide_merge(waits.id, "undone"), zone.merges()]


def _branched(zone: Zone) -> object:
    made = zone.create_branch("trial")
    found = [zone.branch_diff("trial"), zone.promote_branch("trial")]
    assert [each.name for each in zone.branches()] == ["trial"]
    assert zone.drop_branch("trial").forked_at == made.forked_at
    return [made.forked_at.partition(":")[0], *found, zone.branches()]


def _refreshed(zone: Zone) -> object:
    entity = next(each for each in zone.entities() if each.name == "Ada")
    made = zone.create_mental_model("Ada", "", entity_id=entity.id, refresh="by_hand")
    tried = zone.refresh_mental_model(made.id, dry_run=True)
    return [made, tried, zone.refresh_mental_model(made.id)]


def _modelled(zone: Zone) -> object:
    made = zone.create_mental_model("Homes", "Ada lives in Turin.", subtype="place", tags=("a",))
    later = zone.update_mental_model(made.id, "Ada lives in Oslo.")
    made_of = zone.create_mental_model("Boats", "Bob has a boat.", sources=["m2"])
    zone.update_mental_model(made_of.id, "Bob has two boats.", sources=["m2", "m4"], tags=["b"])
    assert zone.forget("m4").events > 1, "the report is erased with what it was made of"
    kept = zone.reflect("Where does Ada live?", save_as="Answers")
    gone = zone.delete_mental_model(made.id, dry_run=True), zone.delete_mental_model(later.id)
    return [made, later, kept, gone, zone.mental_models(superseded=True)]


def _learned(zone: Zone) -> object:
    found: list[object] = []
    for number in range(4):
        run = zone.start_trajectory("Release", task_type="release", metadata={"n": number})
        if number % 2:
            step = zone.log_step(run.id, "tool_call", "Run tests.", tool="pytest")
            found += [run.metadata, (step.kind, step.content, step.tool)]
        status: TrajectoryStatus = "success" if number % 2 else "failure"
        done = zone.complete_trajectory(run.id, status, metrics={"n": number}, learn=number > 2)
        found.append((done.status, done.success_score, done.metrics, len(done.reflections)))
    found.append(zone.execute_with_learning(lambda: 7, "Release", task_type="release"))
    (book,) = zone.playbooks()
    learned = zone.learn_from(run.id, playbook_id=book.id)
    assert learned.reflection.id is not None
    assert zone.reflect_on(run.id).successes == zone.reflection(learned.reflection.id).successes
    added = zone.update_playbook(book.id, add=[PlaybookStrategy("Read the log.", "harmful", 0.5)])
    used = zone.record_usage(book.id, True)
    feedback = zone.give_feedback(run.id, 0.1, source="ab_test", comment="slow")
    found += sorted(each.text for each in added.strategies)
    found += [zone.curate_playbook(book.id, run.id).version, used.usage_count, feedback.relearning]
    found += sorted(each.text for each in zone.relevant_strategies("Release it").strategies)
    found += [len(zone.playbook_history(book.id).versions), len(zone.trajectories())]
    other = zone.create_playbook("other", scope="agent", agent_id="a", visibility="private")
    gone = zone.delete_playbook(other.id, dry_run=True), zone.delete_playbook(other.id)
    return [
        *found,
        (other.name, other.scope),
        [each.events for each in gone],
        len(zone.playbooks()),
    ]


def _kept_in_order(zone: Zone) -> object:
    seen: list[int] = []
    before = zone.status().generation
    reports = [
        zone.rebuild("index"),
        zone.rebuild("derive", dry_run=True),
        zone.rebuild("derive", progress=seen.append),
        zone.reclaim(dry_run=True),
        zone.rollback(),
    ]
    assert zone.status().generation == before
    return [*reports, zone.verify()]


def _ingested(zone: Zone) -> object:
    once = {**said("", "Ok."), "id": None}
    reports = [
        zone.ingest(said("n1", "One.", minute=7)),
        zone.ingest(said(f"n{number}", "More.", minute=8) for number in range(3)),
        zone.ingest([once, once, once]),
        zone.ingest([once, once]),
        zone.ingest([said("n1", "Another."), said("n9", "Nine."), *NO_EVENTS]),
        zone.ingest([]),
        zone.ingest(said("n10", "Ten."), wait=False),
    ]
    zone.wait_for(reports[-1].token)
    return [*reports, zone.status().events, zone.status().lag]


def _all_states(zone: Zone, cursor: str | None) -> StoredMemoryPage:
    return zone.query_memories(state="any", superseded=True, limit=2, cursor=cursor)


def _consolidated(zone: Zone) -> list[object]:
    texts = ("The kiln is cold.", "The kiln is hot.")
    zone.store_memories([MemoryInput(content=text, namespace="/kiln") for text in texts])
    (level,) = zone.consolidate_memories(method="criteria", namespace="/kiln")
    (made,) = level.memory_ids
    children = zone.memory_children(made).memories
    hits = zone.search_memories("Is the kiln hot?").hits
    return [
        *(level.archived, [each.content for each in children]),
        [each.memory_id == made for each in zone.memory_ancestors(children[0].memory_id)],
        [(each.memory.memory_id == made, len(each.matches)) for each in hits],
    ]


def _stored(zone: Zone) -> list[object]:
    first, second = (
        zone.store_memories([MemoryInput(content=text, namespace="/n", path_key="k")])
        .receipts[0]
        .event_id
        for text in ("Ada prefers tea.", "Ada prefers coffee.")
    )
    back = zone.roll_back_memory(second, 1).event_id
    lines = zone.diff_memories(first, second).diff.splitlines()[2:]
    state = zone.set_memory_state([back], "inactive")
    found = _all_states(zone, None)
    return [
        *(zone.stored_memory(first, current=True).version, lines),
        *(len(state.changed), [each.content for each in found]),
        [each.content for each in _all_states(zone, found.cursor)],
        [(each.version, each.state) for each in zone.memory_versions(first)],
        *([each.path for each in zone.list_paths("/workspace")], len(zone.glob_paths("/**/k"))),
        zone.read_path(f"/objs/memory/{first}").content,
    ]


def _in_tiers(zone: Zone) -> list[object]:
    texts = ("Ada prefers tea.", "The oak fell.")
    made = zone.store_memories([MemoryInput(content=text) for text in texts])
    tea, oak = (each.event_id for each in made)
    reports = [
        zone.archive_memories([tea, "unknown"]),
        zone.archive_memories([tea, oak]),
        zone.archive_memories([tea], restore=True),
    ]
    found = zone.search_tiers("What does Ada prefer?", max_results=1)
    return [
        *[(len(each.changed), len(each.unchanged), each.unknown) for each in reports],
        [(each.tier, each.memories, each.utilization) for each in zone.memory_tiers().tiers],
        [each.content for each in zone.recent_memories(max_results=5)],
        [[hit.memory.content for hit in hits] for hits in (found.main, found.archival)],
        [each.content for each in zone.query_memories(tier="archival")],
    ]


#: What changes something: each in a zone of its own, in which the same was told.
CHANGING: dict[str, Callable[[Zone], object]] = {
    "ingest": _ingested,
    "remember update_memory": _remembered,
    "retract": lambda zone: [
        *(zone.retract("m1").status, sorted(fact.text for fact in zone.facts())),
        *(zone.retract("m1", restore=True).status, sorted(fact.text for fact in zone.facts())),
    ],
    "store_memories query_memories stored_memory memory_versions roll_back_memory "
    "set_memory_state diff_memories list_paths glob_paths read_path": _stored,
    "archive_memories memory_tiers recent_memories search_tiers": _in_tiers,
    "consolidate_memories memory_children memory_ancestors search_memories": _consolidated,
    "forget": _forgotten,
    "certificates certificate": _certified,
    "propose_merge decide_merge": _merged,
    "branches create_branch branch_diff promote_branch drop_branch": _branched,
    "analyse": lambda zone: [
        zone.analyse(types=["topics_v1"]),
        zone.analyse(types=["topics_v1"]),
        sorted(facet.value for facet in zone.facets()),
    ],
    "create_mental_model update_mental_model delete_mental_model": _modelled,
    "refresh_mental_model": _refreshed,
    "start_trajectory log_step complete_trajectory execute_with_learning learn_from reflect_on "
    "give_feedback create_playbook update_playbook curate_playbook record_usage "
    "delete_playbook": _learned,
    "add_directive remove_directive": lambda zone: [
        added := zone.add_directive("Never use emojis."),
        zone.remove_directive(added.id),
    ],
    "rebuild rollback reclaim": _kept_in_order,
    "forget_memory": lambda zone: [zone.forget_memory("m2"), zone.status().events],
    "backfill pause_backfill": lambda zone: [
        zone.backfill(dry_run=True),
        zone.backfill(platform="mail", first="2026-05-08", last="2026-05-08"),
        zone.pause_backfill(),
        zone.backfill(resume=True),
    ],
    "set_writer_text": lambda zone: [zone.set_writer_text("names", "Mel."), zone.writer_texts()],
}

#: What cannot be done over a network.
AT_HOME: dict[str, Callable[[Zone], object]] = {
    "acting_as": lambda zone: zone.acting_as(user="ada"),
    "event_import": lambda zone: zone.event_import(),
    "record_accesses": lambda zone: zone.record_accesses([RecallCount("fact", "f", 1)]),
    "follow_file": lambda zone: zone.follow_file("chats.jsonl", each=lambda report: True),
    "export": lambda zone: zone.export("there.jsonl"),
    "write": lambda zone: zone.write(),
    "compare_writer_proposal": lambda zone: zone.compare_writer_proposal("nobody"),
    "plan_erasure": lambda zone: zone.plan_erasure(ForgetTargets(ids=("m1",))),
    "erase": lambda zone: zone.erase(None),  # type: ignore[arg-type]
}

#: What a user may get wrong: the same class of error, with the same words.
WRONG: tuple[Callable[[Zone], object], ...] = (
    lambda zone: zone.recall("x", max_results=0),
    lambda zone: zone.recall("x", nonsense=1),
    lambda zone: zone.recall(7),  # type: ignore[arg-type]
    lambda zone: zone.recall("x", time_after="soon"),
    lambda zone: zone.why("nobody"),
    lambda zone: zone.start_trajectory(""),
    lambda zone: zone.start_trajectory("x", metadata={"x": "y" * 30_000}),
    lambda zone: zone.log_step("nobody", "action", "x"),
    lambda zone: zone.complete_trajectory("nobody", "success"),
    lambda zone: zone.give_feedback("nobody", 2.0),
    lambda zone: zone.reflect_on("nobody"),
    lambda zone: zone.infer("Where does Ada live?"),
    lambda zone: zone.write_observations(),
    lambda zone: zone.record_usage("nobody", True),
    lambda zone: zone.update_playbook("nobody"),
    lambda zone: zone.create_playbook("x", strategies=[PlaybookStrategy("x", confidence=2.0)]),
    lambda zone: zone.relevant_strategies("x", max_tokens=0),
    lambda zone: zone.get_memory("nobody"),
    lambda zone: zone.get_entity("Nobody At All"),
    lambda zone: zone.facts(entity="Nobody At All"),
    lambda zone: zone.mental_model("nobody"),
    lambda zone: zone.forget(),
    lambda zone: zone.forget("nobody"),
    lambda zone: zone.forget("m1", dry_run=True, certificate=True),
    lambda zone: zone.certificate(17),
    lambda zone: zone.update_memory("m1", "other"),
    lambda zone: zone.retry(17),
    lambda zone: zone.drop(17),
    lambda zone: zone.decide_merge("nobody", "merged"),
    lambda zone: zone.decide_merge("nobody", "undone"),
    lambda zone: zone.decide_proposal("nobody", "accepted"),
    lambda zone: zone.list_memories(limit=0),
    lambda zone: zone.remember(""),
    lambda zone: zone.remember(b"bytes"),  # type: ignore[arg-type]
    lambda zone: zone.ingest("text"),  # type: ignore[arg-type]
    lambda zone: zone.ingest(7),  # type: ignore[arg-type]
    lambda zone: zone.ingest({"platform": "chat"}),
    lambda zone: zone.ingest(NO_EVENTS),
    lambda zone: zone.ingest_files("not-there.jsonl"),
    lambda zone: zone.wait_for("no token"),
    lambda zone: zone.reflect("x", max_results=0),
    lambda zone: zone.context("x", max_tokens=0),
)


def test_every_method_of_a_zone_is_tried() -> None:
    besides = "infer write_observations retry drop decide_proposal ingest_files preview_files"
    tried = " ".join((*ASKING, *CHANGING, *AT_HOME, besides)).split()
    own = {name for name in vars(Zone) if not name.startswith("_")} - {"call"}
    assert set(tried) == own | {operation.name for operation in all_operations()}


@pytest.mark.parametrize("method", ASKING)
def test_a_question_has_the_same_answer(method: str, told: Zone, remote: Recollect) -> None:
    for ask in ASKING[method]:
        mine, theirs = ask(told), ask(remote.zone("told"))
        assert plain(theirs, {"ms", "lag_seconds", "seconds_since_progress"}) == plain(
            mine, {"ms", "lag_seconds", "seconds_since_progress"}
        )


@pytest.mark.parametrize("methods", CHANGING)
def test_a_change_does_the_same(methods: str, home: Recollect, remote: Recollect) -> None:
    found = []
    for r, name in ((home, "here"), (remote, "there")):
        zone = r.zone(f"{name}-{methods.split()[0].replace('_', '-')}")
        zone.ingest(TALK)
        found.append(plain(CHANGING[methods](zone), _OF_THE_MOMENT | _OF_THE_ZONE))
    assert found[1] == found[0]


#: Arguments that type checkers would refuse.
WRONG_TYPES: tuple[Callable[[Any], object], ...] = (
    lambda zone: zone.facts(entity=5),
    lambda zone: zone.facts(superseded=None),
    lambda zone: zone.timeline(first=1.5),
    lambda zone: zone.recall("boat", min_score=math.nan),
    lambda zone: zone.recall("boat", max_results="5"),
    lambda zone: zone.search_tiers("boat", min_score=math.nan),
    lambda zone: zone.hints("boat"),
    lambda zone: zone.remember(b"bytes"),
    lambda zone: zone.store_memories([{"content": 7}]),
)


@pytest.mark.parametrize(
    "wrong",
    [*WRONG, *WRONG_TYPES],
    ids=lambda wrong: inspect.getsource(wrong).strip()[:60],
)
def test_what_is_wrong_is_said_alike(
    wrong: Callable[[Zone], object], told: Zone, remote: Recollect
) -> None:
    raised = []
    for zone in (told, remote.zone("told")):
        with pytest.raises(RecollectError) as error:
            wrong(zone)
        raised.append(error.value)
    mine, theirs = raised
    assert isinstance(theirs, InvalidInput)
    assert isinstance(mine, InvalidInput)
    assert isinstance(theirs, UnknownId) == isinstance(mine, UnknownId)
    assert str(theirs) == str(mine)


@pytest.mark.parametrize("method", AT_HOME)
def test_what_only_a_home_can_do_says_so(method: str, remote: Recollect) -> None:
    with pytest.raises(RequiresLocalHome, match=f"{method} requires a local home"):
        AT_HOME[method](remote.zone("told"))


def test_files_of_other_programs(tmp_path: Path, home: Recollect, remote: Recollect) -> None:
    first, second = tmp_path / "one.jsonl", tmp_path / "two.jsonl.gz"
    once = {**said("", "Ok."), "id": None}
    lines = [said("a1", "I own a boat."), once, {"platform": "chat"}, once]
    first.write_text("\n".join(map(json.dumps, lines)) + "\nno JSON\n\n")
    second.write_bytes(gzip.compress(json.dumps(said("a2", "It is blue.", minute=3)).encode()))
    broken = tmp_path / "three.jsonl"
    broken.write_text("{}\n")
    found = []
    for r, name in ((home, "files-here"), (remote, "files-there")):
        zone = r.zone(name)
        reports = [
            zone.preview_files([first, second]),
            zone.ingest_files([first, second]),
            zone.ingest_files(str(first)),
            zone.ingest_files(broken),
        ]
        found.append(
            plain([*reports, zone.facts(), zone.status().events], _OF_THE_MOMENT | _OF_THE_ZONE)
        )
    assert found[1] == found[0]


def test_texts_that_change_in_their_source(
    tmp_path: Path, home: Recollect, remote: Recollect
) -> None:
    """A note changed and changed back, one that is damaged, an answer that grew, one event."""
    folder = tmp_path / "notes"
    folder.mkdir()

    def note(name: str, text: bytes, at: int) -> None:
        file = folder / f"{name}.markdown"
        file.write_bytes(text)
        os.utime(file, (1714550400 + at, 1714550400 + at))

    found = []
    for r, name in ((home, "revised-here"), (remote, "revised-there")):
        zone, reports = r.zone(name), []
        for at, note_text in enumerate((b"I own a boat.", b"I own a car.", b"I own a boat.")):
            note("job", note_text, at)
            note("bad", b"\0", at)
            note("worse", b"\0", at)
            reports += [zone.ingest_files(folder), zone.ingest_files(folder)]
        event = said("v1", "I live in Graz.")
        for text in ("I live in Graz.", "I live in Oslo.", "I live in Graz."):
            event = {**event, "content": text, "revisable": "changing"}
            reports.append(zone.ingest([event, {**event, "id": "v2", "revisable": "growing"}]))
        reports.append(zone.ingest([{**event, "revised_at": 1_990_000_000_000}]))
        facts = sorted(fact.text for fact in zone.facts() if fact.current)
        counts = [(one.new, one.duplicate, one.rejected) for one in reports]
        assert counts[:6] == [(1, 0, 2), (0, 1, 2)] * 3
        assert counts[6:] == [(2, 0, 0), (1, 0, 1), (0, 2, 0), (1, 0, 0)]
        assert [Path(one.path).stem for one in reports[0].rejections] == ["bad", "worse"]
        assert "user: I own a boat." in facts
        found.append((plain(reports, _OF_THE_MOMENT | _OF_THE_ZONE), facts))
    assert found[1] == found[0]


def test_what_was_seen_by_a_service_is_awaited(remote: Recollect) -> None:
    """A hundred events, one call: they can be recalled at once."""
    zone = remote.zone("awaited")
    zone.ingest(said(f"w{number}", f"I keep qx{number}zy.", minute=number) for number in range(100))
    assert zone.recall("qx99zy").results[0].source_event_ids == ["w99"]


def test_ids_of_any_form(remote: Recollect) -> None:
    ids = [
        "a b?c#d%",
        "ü/日本",
        "%2F",
        "<1@mail.example>",
        "why",
        "x" * 300,
        "a/b",
        "//",
        ".",
        "..",
    ]
    zone = remote.zone("ids")
    zone.ingest(said(id_, f"I keep box {number}.") for number, id_ in enumerate(ids))
    texts = [f"I keep box {number}." for number in range(len(ids))]
    assert [zone.why(id_).text for id_ in ids] == texts
    assert [zone.get_memory(id_).text for id_ in ids] == texts
    assert [zone.history(id_)[0].text for id_ in ids] == texts
    assert zone.forget("a/b").events == 1
    with pytest.raises(UnknownId, match="a/b"):
        zone.why("a/b")


def test_zones_that_a_token_may_read(service: Served, told: Zone, remote: Recollect) -> None:
    assert "told" in remote.zones()
    with client(service, "told") as one:
        assert one.zones() == ["told"]
        assert one.holds("told")
        assert not one.holds("here-forget")
        (summary,) = one.zone_summaries()
        assert summary.events == told.status().models[0].watermark
        assert repr(one) == f"Recollect({service.url!r})"
        with pytest.raises(RequiresLocalHome, match="the home is on the machine of the service"):
            _ = one.home


ON_NOTHING: dict[str, Callable[[Zone], Any]] = {
    "recall": lambda zone: zone.recall("anything").results,
    "context": lambda zone: zone.context("anything").block,
    "reflect": lambda zone: zone.reflect("anything").text,
    "explain": lambda zone: zone.explain("anything", "m1"),
    "list": lambda zone: zone.list_memories(),
    "facts": lambda zone: zone.facts(),
    "entities": lambda zone: zone.entities(),
    "merges": lambda zone: zone.merges(),
    "types": lambda zone: zone.analysis_types(),
    "analyses": lambda zone: zone.analyses(),
    "facets": lambda zone: zone.facets(),
    "analyse": lambda zone: zone.analyse(),
    "models": lambda zone: zone.mental_models(),
    "letters": lambda zone: zone.dead_letters(),
    "status": lambda zone: zone.status(),
    "consistency_token": lambda zone: zone.consistency_token(),
    "head": lambda zone: zone.head(),
    "exists": lambda zone: zone.exists(),
    "decide": lambda zone: zone.decide(),
    "memory": lambda zone: zone.get_memory("m1"),
    "why": lambda zone: zone.why("m1"),
    "history": lambda zone: zone.history("m1"),
    "entity": lambda zone: zone.get_entity("Ada"),
    "compare": lambda zone: zone.compare("Ada", "Bob"),
    "forget": lambda zone: zone.forget("m1"),
    "update": lambda zone: zone.update_memory("m1", "x"),
    "verify": lambda zone: zone.verify(),
    "rebuild": lambda zone: zone.rebuild(),
}


@pytest.mark.parametrize("call", ON_NOTHING)
def test_a_zone_that_holds_nothing_answers_as_at_home(
    home: Recollect, remote: Recollect, call: str
) -> None:
    def outcome(recollect: Recollect) -> Any:
        try:
            return ON_NOTHING[call](recollect.zone("nothing"))
        except RecollectError as error:
            return type(error)

    assert outcome(remote) == outcome(home)
    assert "nothing" not in remote.zones()


def test_a_name_that_is_none_is_refused(remote: Recollect) -> None:
    with pytest.raises(InvalidInput):
        remote.zone("no zone/../at all")


def test_awaited(service: Served, told: Zone) -> None:
    async def ask() -> tuple[Any, ...]:
        async with AsyncRecollect(service.url, token=_token(service)) as r:
            zone = r.zone("told")
            report = await zone.ingest(said("async", "I sing in a choir.", minute=30))
            answers = await asyncio.gather(*(zone.recall("choir") for _ in range(20)))
            return (
                report.new,
                {answer.results[0].source_event_ids[0] for answer in answers},
                await r.zones(),
            )

    new, cited, zones = asyncio.run(ask())
    assert (new, cited) == (1, {"async"})
    assert "told" in zones


def _token(service: Served) -> str:
    from recollect.home.access_tokens import AccessTokens

    return AccessTokens(service.home).create(("*",), ("read", "write")).token
