"""Numbers in the pages are those of the code: each row below is made from a constant.

Whoever changes a constant finds here which line of docs/reference/ to change with it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recollect.cli import app, output
from recollect.cli.app import cli
from recollect.cli.commands import browse_commands, recall_commands
from recollect.cli.commands.ingest_commands import _MAX_SHOWN
from recollect.cli.commands.recall_commands import JSON_RESULTS, TEXT_RESULTS
from recollect.home import token_counting
from recollect.operations.answers import context_injection, recall_counter
from recollect.operations.processes.embedded_worker import TICK_SECONDS
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
from recollect.projections.recall.arms import observations
from recollect.projections.recall.arms.entity_documents import _MAX_SOURCES
from recollect.projections.recall.arms.shared_entities import SEEDS
from recollect.projections.recall.arms.temporal import _AFTERMATH_MS, _AFTERMATH_SCORE
from recollect.projections.recall.index.zone_index import MIN_STORED_TURNS
from recollect.projections.recall.question import query_parser
from recollect.projections.recall.question.query import (
    MAX_NAME_LENGTH,
    MAX_QUERY_LENGTH,
    MAX_RESULTS,
)
from recollect.projections.recall.ranking import answer_type_match, list_diversity
from recollect.projections.recall.ranking.decay import DECAY, RECENCY_HOURS
from recollect.projections.recall.ranking.profiles import WEIGHTS
from recollect.schemas import inbound
from recollect.schemas.errors import InvalidInput
from recollect.schemas.ledger import records
from recollect.schemas.ledger.fragments import MAX_FRAGMENT_BYTES
from recollect.schemas.times import EARLIEST_MS, LATEST_MS, format_time
from recollect.schemas.wire import Result
from recollect.schemas.zones import check_zone
from recollect.streams.adapters import long_messages
from recollect.streams.adapters.importing import MAX_REJECTIONS
from recollect.streams.agents.identity.merge_clerk import AUTO_MERGE_CONFIDENCE
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

ROOT = Path(__file__).resolve().parent.parent
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
    "a message of an export, which is split into events": of_bytes(long_messages.MAX_MESSAGE_BYTES),
    "its `content`": of_bytes(inbound.MAX_CONTENT_BYTES),
    "an id or a name in it": of_bytes(inbound.MAX_NAME_BYTES),
    "objects and lists within each other": str(inbound.MAX_DEPTH),
    "an integer in it": f"{inbound.MIN_INTEGER} to {inbound.MAX_INTEGER}",
    "a time": f"{format_time(EARLIEST_MS)[:10]} to {format_time(LATEST_MS)[:10]}",
    "a zone's name": f"{longest_zone()} characters",
    "rejected records that `ingest` tells": f"{_MAX_SHOWN}, with `--json` {MAX_REJECTIONS:,}",
    "a question": f"{MAX_QUERY_LENGTH:,} characters",
    "an entity or a platform in a question": f"{MAX_NAME_LENGTH:,} characters",
    "results of a question": f"1 to {MAX_RESULTS:,}",
    "results where the question does not say (library)": str(RecallQuery(text="?").max_results),
    "results where `recall` is not told how many": str(TEXT_RESULTS),
    "results of `recall --json` and `--batch` that are not told": str(JSON_RESULTS),
    "tokens of a context block where nobody says how many": str(
        context_injection.DEFAULT_MAX_TOKENS
    ),
    "tokens of a context block": f"1 to {token_counting.MAX_TOKENS:,}",
    "a context block is given up after": f"{context_injection.TIMEOUT_SECONDS:.0f} s",
    "what was recalled is counted, and appended every": f"{recall_counter.PERIOD:.0f} s",
    "sources of an entity that are cited": str(_MAX_SOURCES),
    "waiting for a token (`recall --wait-for`)": f"{option('recall', 'timeout'):.0f} s",
    "moments of `--known-at` that a zone keeps": str(snapshots.MAX_SNAPSHOTS),
    "what all of them but the newest take": of_bytes(snapshots.MAX_SNAPSHOT_BYTES),
    "a change record, beyond which it is split": f"{MAX_FRAGMENT_BYTES:,} bytes",
    "a record of the ledger on Kafka": of_bytes(MAX_TOPIC_RECORD_BYTES),
    "partitions of a topic": str(PARTITIONS),
    "tries before a record is parked": str(MAX_ATTEMPTS),
    "deaths of the process before a record is parked": str(MAX_CRASHES),
    "silence after which an agent's turn is closed": f"{ABANDONED_AFTER_MS // 60_000} min",
    "a tick's period": f"{TICK_SECONDS} s",
    "a zone is called stalled (`status`) after": f"{zone_status.STALLED_SECONDS:.0f} s",
    "free space on the disk that `doctor` wants": of_bytes(_MIN_FREE_BYTES),
    "free space below which nothing is written": of_bytes(MIN_FREE_BYTES),
    "files that an idle zone keeps open": str(FILES_PER_ZONE),
    "idle zones that stay open; fewer where so many files may not be": str(MAX_IDLE_ZONES),
    "a merge is carried out by itself from a confidence of": str(AUTO_MERGE_CONFIDENCE),
    "the same fact said again is skipped within": f"{DUPLICATE_WINDOW_MS // 3_600_000} h",
    "turns from which on recall's index is kept in files": f"{MIN_STORED_TURNS:,}",
    "dimensions of a token's vector": str(TOKEN_DIMENSIONS),
    "digits of the hash in a head": str(_DIGITS),
    "the format of event records": str(records.EVENT_FORMAT),
    "the format of change records": str(records.CHANGE_FORMAT),
    "on Kafka: a command waits for the brokers": f"{clients.REQUEST_TIMEOUT_SECONDS:.0f} s",
    "on Kafka: what ends too early is asked again for": f"{retrying.REPEAT_SECONDS:.0f} s",
    "on Kafka: the last record that was read is compared every": (
        f"{local_copy.AUDIT_SECONDS:.0f} s"
    ),
    "on Kafka: events behind which two processes make files": f"{background.MIN_BACKLOG:,}",
    "on Kafka: priority of the process that decides (`nice`)": str(_NICENESS),
}
RANKING = {
    "candidates that an arm may bring": f"{DEFAULT_PROFILE.pool}, or 2 for each result asked for",
    "turns that late interaction reads": (
        f"{DEFAULT_PROFILE.late_interaction_limit}, or 2 for each result asked for"
    ),
    "candidates that a reranker judges": str(DEFAULT_PROFILE.rerank_limit),
    "questions of one text that are asked by themselves": ", ".join(
        f"{most} (`{budget}`)" for budget, most in MAX_SUB_QUESTIONS.items()
    ),
    "best turns from which a shared entity is followed": str(SEEDS),
    "what was told after the time that is asked for": (
        f"counts {_AFTERMATH_SCORE}, for {_AFTERMATH_MS // 86_400_000} days"
    ),
    "the event by which a time is told is found from a score of": str(
        query_parser._MIN_ANCHOR_SCORE
    ),
    "a turn with the kind of answer that is wanted": (
        f"scores {answer_type_match.BOOST:.2f} more, among the best {answer_type_match._TOP_N}"
    ),
    "what others say next to a better turn, where a list is asked for": (
        f"scores {list_diversity.PENALTY:.2f} less, "
        f"within {list_diversity.NEIGHBOUR_DISTANCE} turns, "
        f"beyond the first {list_diversity.PROTECTED_RESULTS}"
    ),
    "a turn scores less by its share of questions, times": str(DEFAULT_PROFILE.question_share),
    "observations that come first": str(assembly.MAX_LEADING_OBSERVATIONS),
    "what they score at least, as a share of the best result": str(assembly._MIN_SHARE),
    "facts that come with an observation": str(observations.MAX_FACTS),
    "`rrf`: k of Reciprocal Rank Fusion": str(RRF.rrf_k),
    "`rrf`: lambda of MMR": str(RRF.mmr_lambda),
    "`recent`: the shares that decay, and that go with recency": (
        f"{RECENT.decay}, {RECENT.recency}"
    ),
    "decay an hour, hours of recency": f"{DECAY}, {RECENCY_HOURS:.0f}",
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
    said = dict(
        re.findall(r"`(\w+)` (\d+\.\d+)", text.split("the arms weigh:")[1].split("\n\n")[0])
    )
    assert {arm: float(weight) for arm, weight in said.items()} == DEFAULT_PROFILE.weights


def test_every_arm_runs_in_some_budget() -> None:
    """Those of facts and of sentences come with those of turns."""
    run = frozenset[str]().union(*BUDGETS.values())
    assert run | {"statement", "sentence"} == WEIGHTS.keys()


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
        f"Exit status: {app.OK} success, {app.FAILED} a failed check, {app.USAGE_ERROR} wrong use, "
        f"{app.INTERRUPTED} interrupted"
    ) in reference
    assert f"gives {TEXT_RESULTS} results where programs get {JSON_RESULTS}" in reference
    assert f"a page of {browse_commands.PAGE} where" in reference
    assert f"at most {output.MAX_WIDTH} columns) and cut after three lines" in reference
    assert output._MAX_LINES == 3
    assert f"A score below {recall_commands._WEAK} is marked as weak" in reference
    assert f"`{DECAY}^(hours/strength)`" in reference
    assert f"`exp(-hours/{RECENCY_HOURS:.0f})`" in reference
    assert "Twelve partitions each" in reference
    assert PARTITIONS == 12
    assert f"over {MAX_FRAGMENT_BYTES:,} bytes it is several fragments" in reference
    assert f"of {MIN_STORED_TURNS:,} turns and more" in reference
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
    assert f"{float(times['100,000']):.0f} ms among 100,000 messages" in readme
    assert f"{float(times['1,000,000']):.0f} ms among a million" in readme
    assert f"whose files take {float(megabytes.replace(',', '')) / 1000:.0f} GB" in readme
