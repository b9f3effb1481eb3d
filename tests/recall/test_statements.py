"""The SQL statements of a query: few, and none that reads a whole table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import apsw
import pytest

from recollect.projections.identity import IdentityModel
from recollect.projections.identity.entities_for_recall import matching_names
from recollect.projections.memory import MemoryModel
from recollect.projections.memory.memory_queries import occasions
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import ask, say, talk, tell


@contextmanager
def statements_of(*connections: apsw.Connection) -> Iterator[list[tuple[str, Any]]]:
    """Collect the statements that connections execute, with their bindings."""
    executed: list[tuple[str, Any]] = []

    def note(_: object, statement: str, bindings: Any) -> bool:
        executed.append((statement, bindings))
        return True

    for connection in connections:
        connection.exec_trace = note
    try:
        yield executed
    finally:
        for connection in connections:
            connection.exec_trace = None


def reads_of(memory: Memory, text: str) -> dict[str, list[str]]:
    """Ask a question; return the SELECT statements that it executes, by file."""
    found: dict[str, list[str]] = {}
    models = memory.recaller()._files.all
    with ExitStack() as traced:
        executed = {
            model.name: traced.enter_context(statements_of(model.connection)) for model in models
        }
        ask(memory, text)
    for name, statements in executed.items():
        found[name] = [sql for sql, _ in statements if "SELECT" in sql]
    return found


def test_a_single_word_is_searched_for_among_persons() -> None:
    model = IdentityModel(None)
    with statements_of(model.connection) as executed:
        matching_names(model.connection, ["ada", "ada lund"])
    ((statement, bindings),) = executed
    plan = model.connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings).fetchall()
    by_name = [step for *_, step in plan if "normalized>? AND normalized<?" in str(step)]
    assert len(by_name) == 1
    assert not [step for *_, step in plan if "type=?" in str(step)]


def test_a_question_asked_again_reads_no_names_and_times(memory: Memory) -> None:
    tell(memory, talk(("Ada", "I moved to Leeds in May."), ("Bob", "My dog barked at Ada.")))
    question = "Why did Bob's dog bark at Ada in May?"
    ask(memory, question)
    found = reads_of(memory, question)
    assert not [sql for sql in found["identity"] if "FROM watermark" not in sql]
    assert not [sql for sql in found["events"] if "ORDER BY occurred_at DESC" in sql]
    assert len(found["identity"]) <= 2


@pytest.mark.parametrize("encoder", [True, False], ids=["encoder", "words"])
def test_the_slots_of_many_subjects_are_read_at_once(open_memory: Open, encoder: bool) -> None:
    memory = open_memory(encoder=encoder)
    people = {
        "author": "Rui Leal",
        "cousin": "Ana Prado",
        "editor": "Joe Hill",
        "owner": "Ida Berg",
    }
    tell(
        memory,
        [say(f"The {role} of Emma is {name}.", role) for role, name in people.items()],
    )
    found = reads_of(memory, "Where was the cousin of the author of Emma born?")
    # Those of Emma, and those of all people at her slots.
    assert sum("fact_claims AS claim" in sql for sql in found["memory"]) == 2


def test_a_statement_with_another_value_is_not_planned_again() -> None:
    connection = MemoryModel(None).connection
    planned = 0

    def note(*_: object) -> int:
        nonlocal planned
        planned += 1  # SQLite asks for authorization while it plans
        return apsw.SQLITE_OK

    connection.authorizer = note
    occasions(connection, "one")
    assert planned
    planned = 0
    for fact_id in ("two", "three"):
        occasions(connection, fact_id)
    assert not planned
