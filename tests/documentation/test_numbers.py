"""Numbers in the pages are those of the code: each row below is made from a constant.

Whoever changes a constant finds here which line of docs/reference/ to change with it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recollect.cli import app, output
from recollect.cli.app import cli
from recollect.cli.commands import recall_commands
from recollect.cli.commands.derived import browse_commands
from recollect.cli.commands.ingest_commands import _MAX_SHOWN
from recollect.cli.commands.recall_commands import JSON_RESULTS, TEXT_RESULTS
from recollect.home import token_counting
from recollect.operations.answers import context_injection, recall_counter
from recollect.operations.learning.playbook_listing import MAX_STRATEGIES, MAX_STRATEGY
from recollect.operations.learning.trajectories import MAX_TEXT
from recollect.operations.processes.embedded_worker import CONSOLIDATION_SECONDS, TICK_SECONDS
from recollect.operations.upkeep import zone_status
from recollect.operations.upkeep.doctor import _MIN_FREE_BYTES
from recollect.projections.disk_space import MIN_FREE_BYTES
from recollect.projections.embeddings.token_vectors import PROJECTED_DIMENSIONS as TOKEN_DIMENSIONS
from recollect.projections.recall import (
    BUDGETS,
    DEFAULT_PROFILE,
    MAX_SUB_QUESTIONS,
    PROFILES,
    RecallQuery,
)
from recollect.projections.recall.answer import assembly
from recollect.projections.recall.answer.explanation import STEPS
from recollect.projections.recall.arms import graph_arm
from recollect.projections.recall.arms.documents import scored_documents
from recollect.projections.recall.arms.documents.entity_documents import _MAX_SOURCES
from recollect.projections.recall.arms.shared_entities import SEEDS
from recollect.projections.recall.arms.temporal import _EVENT_SHARE
from recollect.projections.recall.context import observation_lines
from recollect.projections.recall.index.sessions import ITEM_GAP_MS
from recollect.projections.recall.index.zone_index import MIN_STORED_TURNS
from recollect.projections.recall.question import query_parser
from recollect.projections.recall.question.query import (
    MAX_NAME_LENGTH,
    MAX_QUERY_LENGTH,
    MAX_RESULTS,
)
from recollect.projections.recall.question.times.closeness import (
    _BESIDE_SCORE,
    _DECAY_MS,
    _REACH_MS,
)
from recollect.projections.recall.ranking import (
    answer_type_match,
    list_diversity,
    session_diversity,
    time_order,
)
from recollect.projections.recall.ranking.decay import DECAY, RECENCY_HOURS
from recollect.projections.recall.ranking.profiles import WEIGHTS, WIDE
from recollect.schemas import inbound
from recollect.schemas.errors import InvalidInput
from recollect.schemas.ledger import records
from recollect.schemas.ledger.fragments import MAX_FRAGMENT_BYTES
from recollect.schemas.times import EARLIEST_MS, LATEST_MS, format_time
from recollect.schemas.wire import Result
from recollect.schemas.zones import check_zone
from recollect.streams.adapters import long_messages
from recollect.streams.adapters.importing import MAX_REJECTIONS
from recollect.streams.agents.identity.merge_handler import AUTO_MERGE_CONFIDENCE
from recollect.streams.agents.learning.learning_handler import COMPARED_RUNS
from recollect.streams.agents.turn_closer import ABANDONED_AFTER_MS
from recollect.streams.agents.writer.pending_rows import DUPLICATE_WINDOW_MS
from recollect.streams.engine.zone_driver import MAX_ATTEMPTS, MAX_CRASHES
from recollect.streams.ledger import PARTITIONS
from recollect.streams.ledger.kafka import clients, local_copy, retrying
from recollect.streams.ledger.kafka.topics import MAX_TOPIC_RECORD_BYTES
from recollect.streams.projecting import background, snapshots
from recollect.streams.records.heads import _DIGITS
from recollect.streams.system.open_files import FILES_PER_ZONE, MAX_IDLE_ZONES
from recollect.streams.workers.deciding_process import _NICENESS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
RECALL = (REFERENCE / "recall.md").read_text("utf-8")
PAGES = {"Limits": (REFERENCE / "limits.md").read_text("utf-8"), "Ranking": RECALL}
KAFKA = (ROOT / "docs" / "kafka.md").read_text("utf-8")


def of_bytes(number: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number % size == 0:
            return f"{number // size} {unit}"
    return f"{number:,} bytes"


def option(command: str, name: str) -> object:
    """Return the default of a command's option."""
    (found,) = [item for item in cli.commands[command].params if item.name == name]
    return found.default


def longest_zone() -> int:
    """Return how long a zone's name may be, by trying."""
    for length in range(1, 1_000):
        try:
            check_zone("z" * (length + 1))
        except InvalidInput:
            return length
    raise AssertionError("a zone's name has no end")


RECENT = PROFILES["recent"]
RRF = PROFILES["rrf"]
LIMITS = {
    "an event as a line of JSON": of_bytes(inbound.MAX_RECORD_BYTES),
    "a message of an export, which is split into several events": of_bytes(
        long_messages.MAX_MESSAGE_BYTES
    ),
    "an event's `content`": of_bytes(inbound.MAX_CONTENT_BYTES),
    "an id or a name in an event": of_bytes(inbound.MAX_NAME_BYTES),
    "nesting of objects and lists in an event": str(inbound.MAX_DEPTH),
    "an integer in an event": f"{inbound.MIN_INTEGER} to {inbound.MAX_INTEGER}",
    "a time": f"{format_time(EARLIEST_MS)[:10]} to {format_time(LATEST_MS)[:10]}",
    "a zone's name": f"{longest_zone()} characters",
    "rejected records that `ingest` lists": f"{_MAX_SHOWN}, with `--json` {MAX_REJECTIONS:,}",
    "a question": f"{MAX_QUERY_LENGTH:,} characters",
    "an entity or a platform in a question": f"{MAX_NAME_LENGTH:,} characters",
    "results of a question": f"1 to {MAX_RESULTS:,}",
    "default number of results in the library": str(RecallQuery(text="?").max_results),
    "default number of results of `recall`": str(TEXT_RESULTS),
    "default number of results of `recall --json` and `recall --batch`": str(JSON_RESULTS),
    "default size of a context block, in tokens": str(context_injection.DEFAULT_MAX_TOKENS),
    "tokens of a context block": f"1 to {token_counting.MAX_TOKENS:,}",
    "a context block comes back empty after": f"{context_injection.TIMEOUT_SECONDS:.0f} s",
    "counts of recalled memories are appended every": f"{recall_counter.PERIOD:.0f} s",
    "sources cited for an entity": str(_MAX_SOURCES),
    "wait for a consistency token (`recall --wait-for`)": f"{option('recall', 'timeout'):.0f} s",
    "past moments that a zone keeps for `--known-at`": str(snapshots.MAX_SNAPSHOTS),
    "size of these moments together, without the newest": of_bytes(snapshots.MAX_SNAPSHOT_BYTES),
    "size beyond which a change record is split into fragments": f"{MAX_FRAGMENT_BYTES:,} bytes",
    "a record of the ledger on Kafka": of_bytes(MAX_TOPIC_RECORD_BYTES),
    "partitions of a topic": str(PARTITIONS),
    "attempts before a record is parked": str(MAX_ATTEMPTS),
    "crashes of the process before a record is parked": str(MAX_CRASHES),
    "silence after which an agent's turn is closed": f"{ABANDONED_AFTER_MS // 60_000} min",
    "interval between ticks": f"{TICK_SECONDS} s",
    "a task, a step of a trajectory, or a comment on one": f"{MAX_TEXT:,} characters",
    "runs of a task type that a reflection compares": f"{COMPARED_RUNS}",
    "strategies that one command adds to a playbook": f"{MAX_STRATEGIES}",
    "a strategy written by hand": f"{MAX_STRATEGY:,} characters",
    "facts are consolidated within": f"{CONSOLIDATION_SECONDS} s",
    "`status` reports a zone as stalled after": f"{zone_status.STALLED_SECONDS:.0f} s",
    "free disk space below which `doctor` warns": of_bytes(_MIN_FREE_BYTES),
    "free disk space below which nothing is written": of_bytes(MIN_FREE_BYTES),
    "files that an idle zone keeps open": str(FILES_PER_ZONE),
    "idle zones that stay open; fewer if the limit of open files is low": str(MAX_IDLE_ZONES),
    "minimum confidence for a merge without review": str(AUTO_MERGE_CONFIDENCE),
    "near-verbatim repetitions give no new fact within": f"{DUPLICATE_WINDOW_MS // 3_600_000} h",
    "minimum messages in a zone for recall's index to be kept in files": f"{MIN_STORED_TURNS:,}",
    "dimensions of a token's vector": str(TOKEN_DIMENSIONS),
    "digits of the hash in a head": str(_DIGITS),
    "the format of event records": str(records.EVENT_FORMAT),
    "the format of change records": str(records.CHANGE_FORMAT),
    "on Kafka: a command waits for the brokers": f"{clients.REQUEST_TIMEOUT_SECONDS:.0f} s",
    "on Kafka: a read that ends too early is retried for": f"{retrying.REPEAT_SECONDS:.0f} s",
    "on Kafka: a followed partition is compared with the broker every": (
        f"{local_copy.AUDIT_SECONDS:.0f} s"
    ),
    "on Kafka: minimum backlog of events for two processes to project": (
        f"{background.MIN_BACKLOG:,}"
    ),
    "on Kafka: priority of the process that decides (`nice`)": str(_NICENESS),
}
RANKING = {
    "maximum candidates of an arm": (
        f"{DEFAULT_PROFILE.pool}, or twice the number of results if that is more"
    ),
    "messages that late interaction reads": (
        f"{DEFAULT_PROFILE.late_interaction_limit}, or twice the number of results if that is more"
    ),
    "factor by which the budget `high` raises the number of candidates and of messages that late "
    "interaction reads; a question that counts or lists raises the number of candidates only": str(
        WIDE
    ),
    "candidates that a reranker judges": str(DEFAULT_PROFILE.rerank_limit),
    "questions in one text that are answered separately": ", ".join(
        f"{most} (`{budget}`)" for budget, most in MAX_SUB_QUESTIONS.items()
    ),
    "best messages from which a shared entity is followed": str(SEEDS),
    "`graph`: hops along relationships; maximum entities reached": (
        f"{graph_arm.NEIGHBOR_HOPS}, {graph_arm.MAX_ENTITIES}"
    ),
    "`graph`: minimum similarity of a fact whose entities are followed, relative to the most "
    "similar fact": str(graph_arm.ENTITY_SIMILARITY_THRESHOLD),
    "weight of messages around the time that a question names": (
        f"{_BESIDE_SCORE}, 1/e of that after {_DECAY_MS // 86_400_000} days, 0 after "
        f"{_REACH_MS // 86_400_000}"
    ),
    'weight of a time given by an event ("before the move")': str(_EVENT_SHARE),
    "minimum score at which that event counts as found": str(query_parser._MIN_ANCHOR_SCORE),
    "a message with the expected kind of answer": (
        f"scores {answer_type_match.BOOST:.2f} more, among the best {answer_type_match._TOP_N}"
    ),
    "the first or the last message, if the question asks for it": (
        f"scores {time_order.BOOST:.1f} more, among the best {time_order.TOP_N} with "
        f"{time_order.MIN_SHARE:.1f} of the best score"
    ),
    "a message of a chat with an assistant, for each better message of that chat": (
        f"scores {session_diversity.FACTOR:.1f} times as much"
    ),
    "two items of one sender that belong together": f"within {ITEM_GAP_MS // 60_000} minutes",
    "messages of others next to a better message, if the question asks for a list": (
        f"score {list_diversity.PENALTY:.2f} less, "
        f"within {list_diversity.NEIGHBOUR_DISTANCE} messages, "
        f"beyond the first {list_diversity.PROTECTED_RESULTS}"
    ),
    "penalty for a message, times the share of its sentences that are questions": str(
        DEFAULT_PROFILE.question_share
    ),
    "maximum number of observations in addition to messages and facts": (
        f"{assembly.MAX_OBSERVATIONS}, or {assembly.MAX_FOR_LIST} for a list"
    ),
    "rank of an observation among the results from its events": str(
        assembly.PLACE_AMONG_ITS_EVENTS
    ),
    "minimum similarity of one of its facts, as a share of that of the nearest fact": str(
        scored_documents.MIN_NEARNESS
    ),
    "maximum facts returned with an observation": str(assembly.MAX_FACTS),
    "maximum share of a context block for observations": str(observation_lines.OBSERVATION_SHARE),
    "`rrf`: k of Reciprocal Rank Fusion": str(RRF.rrf_k),
    "`rrf`: lambda of MMR": str(RRF.mmr_lambda),
    "`recent`: the shares of decay and of recency in the score": (
        f"{RECENT.decay}, {RECENT.recency}"
    ),
    "`recent`: decay per hour, time constant of recency in hours": f"{DECAY}, {RECENCY_HOURS:.0f}",
}


def table(section: str) -> dict[str, str]:
    """Return the first column of a section's table -> the second."""
    text = PAGES[section].split(f"# {section}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (.+?) \| (.*?) \|", text, re.MULTILINE)
    return {what: value for what, value in cells[1:] if not what.startswith("---")}


@pytest.mark.parametrize("what", LIMITS)
def test_a_limit_in_the_reference_is_the_codes(what: str) -> None:
    assert table("Limits")[what] == LIMITS[what]


@pytest.mark.parametrize("what", RANKING)
def test_a_number_of_ranking_in_the_reference_is_the_codes(what: str) -> None:
    assert table("Ranking")[what] == RANKING[what]


def test_no_number_stands_there_that_is_not_looked_up() -> None:
    assert table("Limits").keys() == LIMITS.keys()
    assert table("Ranking").keys() == RANKING.keys()


def test_the_weights_of_the_arms_are_the_codes() -> None:
    text = RECALL.split("## Ranking\n")[1].split("\n## ")[0]
    said = dict(re.findall(r"`(\w+)` (\d+\.\d+)", text.split("these weights:")[1].split("\n\n")[0]))
    assert {arm: float(weight) for arm, weight in said.items()} == DEFAULT_PROFILE.weights


def test_every_arm_runs_in_some_budget() -> None:
    """Those of facts and sentences come with those of messages, that of the graph if asked for."""
    run = frozenset[str]().union(*BUDGETS.values())
    assert run | {"statement", "sentence", "graph"} == WEIGHTS.keys()


def test_every_field_of_a_result_and_no_other_is_in_the_reference() -> None:
    section = RECALL.split("## A result\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.+?`) \|", section, re.MULTILINE)
    fields = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(fields) == sorted(Result.__struct_fields__)


def test_every_step_that_drops_a_memory_is_in_the_reference() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", RECALL.split("| `dropped_by` |")[1].split("\n\n")[0], re.M)
    assert sorted(rows) == sorted(STEPS)


def test_numbers_of_the_page_on_kafka_are_the_codes() -> None:
    assert f"(`nice` {_NICENESS})" in KAFKA
    assert f"When the backlog reaches {background.MIN_BACKLOG:,} events" in KAFKA
    assert f"fails after {clients.REQUEST_TIMEOUT_SECONDS:.0f} s" in KAFKA
    for seconds in (retrying.REPEAT_SECONDS, local_copy.AUDIT_SECONDS):
        assert seconds == 5, "docs/kafka.md says five seconds of both"


def test_numbers_in_sentences_are_the_codes() -> None:
    """Numbers written out as words stand next to the constant that they say."""
    reference = " ".join(
        " ".join(path.read_text("utf-8") for path in sorted(REFERENCE.glob("*.md"))).split()
    )
    commit = " ".join((ROOT / "docs" / "commit.md").read_text("utf-8").split())
    assert (
        f"Exit status: {app.OK} success, {app.FAILED} a failed check, "
        f"{app.USAGE_ERROR} a usage error, {app.INTERRUPTED} interrupted"
    ) in reference
    assert f"gives {TEXT_RESULTS} results where programs get {JSON_RESULTS}" in reference
    assert f"a page of {browse_commands.PAGE} where" in reference
    assert f"at most {output.MAX_WIDTH} columns) and cut after three lines" in reference
    assert output._MAX_LINES == 3
    assert f"A score below {recall_commands._WEAK_SCORE} is marked as weak" in reference
    assert f"`{DECAY}^(hours/strength)`" in reference
    assert f"`exp(-hours/{RECENCY_HOURS:.0f})`" in reference
    assert "Twelve partitions each" in reference
    assert PARTITIONS == 12
    assert f"over {MAX_FRAGMENT_BYTES:,} bytes it is several fragments" in reference
    assert f"for a zone of {MIN_STORED_TURNS:,} messages or more" in reference
    assert f"A record of more than {MAX_FRAGMENT_BYTES:,} bytes is split into fragments" in commit
    assert (
        f"its format: {records.EVENT_FORMAT} for events, {records.CHANGE_FORMAT} for changes"
        in commit
    )
    assert "it is tried three times in isolation" in commit
    assert "after ten the record is parked" in commit
    assert (MAX_ATTEMPTS, MAX_CRASHES) == (3, 10)


def test_the_figures_of_the_readme_are_those_of_the_report() -> None:
    report = (ROOT / "bench" / "report.md").read_text("utf-8")
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    times = dict(re.findall(r"^\| ([\d,]+) \| all arms .+?\| ([\d.]+) \|", report, re.MULTILINE))
    (megabytes,) = re.findall(
        r"^\| 1,000,000 \|(?: [\d,]+ \|){4} ([\d,]+) \|", report, re.MULTILINE
    )
    assert f"{float(times['100,000']):.0f} ms over 100,000 messages" in readme
    assert f"{float(times['1,000,000']):.0f} ms over a million" in readme
    gigabytes = float(megabytes.replace(",", "")) / 1000
    assert f"over a million ({gigabytes:.0f} GB on disk)" in readme
