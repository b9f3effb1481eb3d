"""Access control of readers: a zone's files without the private memories of others.

Temporary views cover the tables, so that every query sees only rows that the reader may read. They
leave out the rows of hidden memories, of facts that only hidden memories state, and the
trajectories and playbooks that others keep to themselves. All other rows are free of private text:
agents derive them without private memories (`memory_versions.is_private`), and a playbook only from
trajectories that all its readers may read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import apsw

from recollect.projections.files import ZoneFiles
from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.memory_terms import learning_reader


class Reader(NamedTuple):
    """The user and the agent on whose behalf memories are read."""

    user_id: str | None
    agent_id: str | None


#: Whether a row of `memories` or of `trajectories`, named {0}, may be read by the user {1} and the
#: agent {2}.
READABLE = (
    "({0}.reader_user IS NULL OR {0}.reader_user IS {1}) "
    "AND ({0}.reader_agent IS NULL OR {0}.reader_agent IS {2} "
    "OR ({2} IS NULL AND {0}.reader_user IS NOT NULL))"
)
_HIDDEN_EVENT = (
    "EXISTS (SELECT 1 FROM {db}.memories AS hidden CROSS JOIN temp.reader AS who "
    "WHERE hidden.id = {event} AND NOT ("
    + READABLE.format("hidden", "who.user_id", "who.agent_id")
    + "))"
)
_HIDDEN_TRAJECTORY = (
    "EXISTS (SELECT 1 FROM main.trajectories AS hidden CROSS JOIN temp.reader AS who "
    "WHERE hidden.id = {id} AND NOT ("
    + READABLE.format("hidden", "who.user_id", "who.agent_id")
    + "))"
)
#: The columns of `playbooks` that decide who may read one.
_OF_PLAYBOOKS = "scope, visibility, user_id, agent_id"
_INDEXED = re.compile(r"\b(?:NOT INDEXED|INDEXED BY \w+)\b")

#: Tables of memory.db by the columns that name the event a row is from.
_OF_EVENTS = {
    "facts": ("source_event_id",),
    "fact_occasions": ("event_id",),
    "fact_repeats": ("event_id",),
    "retractions": ("event_id", "retracted_by"),
    "message_dates": ("event_id",),
    "stated_endings": ("event_id",),
    "directives": ("event_id",),
    "dependencies": ("event_id",),
    "turns": ("event_id",),
    "memory_processing_log": ("event_id",),
    "memories": ("id",),
    "memory_versions": ("id",),
    "memory_references": ("memory_id",),
    "memory_accesses": ("memory_id",),
    "memory_archivals": ("memory_id",),
    "archive_states": ("id",),
    "memory_consolidations": ("id",),
    "memory_parents": ("child_id", "parent_id"),
    "memory_statements": ("memory_id",),
}
#: Tables of memory.db, each with its columns that hold ids of facts, or of facts or events.
_OF_FACTS = {
    "fact_entities": ("fact_id",),
    "fact_claims": ("fact_id",),
    "fact_days": ("fact_id",),
    "fact_sentences": ("fact_id",),
    "fact_accesses": ("fact_id",),
    "claim_signatures": ("fact_id",),
    "causal_links": ("from_fact_id", "to_fact_id"),
    "fact_relations": ("fact_id", "target_fact_id"),
    "relationship_evidence": ("fact_id",),
    "fact_supersessions": ("fact_id", "superseded_by"),
    "withdrawn_supersessions": ("fact_id", "superseded_by"),
    "merged_supersessions": ("fact_id", "superseded_by"),
    "fact_merges": ("fact_id", "keeper_id"),
    "dream_facts": ("fact_id",),
    "retracted_facts": ("fact_id", "retracted_by"),
}
#: Tables of memory.db, each with its column that holds ids of trajectories.
_OF_TRAJECTORIES = {
    "trajectories": "id",
    "trajectory_steps": "trajectory_id",
    "trajectory_completions": "trajectory_id",
    "trajectory_feedback": "trajectory_id",
    "reflections": "trajectory_id",
    "strategy_evidence": "trajectory_id",
}
#: The table of the earliest ends of facts, which is kept equal to the view `first_ends`. It is
#: copied: as a view it would be nested too deeply in the views that read it several times.
_STATED_ENDS = """
CREATE TEMP TABLE stated_ends (
    fact_id TEXT PRIMARY KEY, superseded_by TEXT, invalid_at INTEGER
) WITHOUT ROWID;
INSERT INTO temp.stated_ends SELECT fact_id, superseded_by, invalid_at FROM temp.first_ends;
CREATE INDEX temp.idx_stated_ends ON stated_ends(superseded_by);
"""


class _ReaderConnection:
    """A connection with views instead of tables, for which no index can be prescribed."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, bindings: Any = None, **options: Any) -> apsw.Cursor:
        """Execute a statement."""
        return self._connection.execute(_INDEXED.sub("", sql), bindings, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def hides_anything(files: ZoneFiles, reader: Reader) -> bool:
    """Return whether a zone has anything that a reader may not read."""
    hidden_row = any(
        scalar(
            files.memory.connection,
            f"SELECT EXISTS (SELECT 1 FROM {table} "
            "WHERE (reader_user IS NOT NULL OR reader_agent IS NOT NULL) "
            f"AND NOT ({READABLE.format(table, '?1', '?2')}))",
            reader,
        )
        for table in ("memories", "trajectories")
    )
    playbooks = rows(files.memory.connection, f"SELECT DISTINCT {_OF_PLAYBOOKS} FROM playbooks")
    hidden_playbook = not all(_reads_playbook(reader, *each) for each in playbooks)
    # Undecided memories have no row yet with their access rights.
    undecided = scalar(
        files.events.connection,
        "SELECT EXISTS (SELECT 1 FROM events WHERE number > ? AND kind = 'remember')",
        (files.memory.watermark().number,),
    )
    return bool(hidden_row or hidden_playbook or undecided)


def _reads_playbook(reader: Reader, *owner: Any) -> bool:
    """Whether a reader may read a playbook; `owner`: its `_OF_PLAYBOOKS`."""
    return learning_reader(*owner).includes(*reader)


def restrict(files: ZoneFiles, reader: Reader) -> ZoneFiles:
    """Replace the tables of read-only files by views; return the files."""
    _restrict_events(files, reader)
    _restrict_memory(files, reader)
    _restrict_identity(files, reader)
    for model in (files.events, files.memory, files.identity):
        model.connection = cast(apsw.Connection, _ReaderConnection(model.connection))
    return files


def _begin(connection: apsw.Connection, reader: Reader) -> None:
    connection.execute("CREATE TEMP TABLE reader (user_id TEXT, agent_id TEXT)")
    connection.execute("INSERT INTO temp.reader VALUES (?, ?)", reader)


def _attach(connection: apsw.Connection, files: ZoneFiles) -> None:
    connection.execute("ATTACH ? AS held", (str(files.memory.path),))


def _hidden(event: str, db: str = "main") -> str:
    return _HIDDEN_EVENT.format(db=db, event=event)


def _hidden_fact(fact: str) -> str:
    """Return the condition that a fact, or the event that takes its place, is hidden."""
    hidden = _hidden("stated.source_event_id")
    return f"EXISTS (SELECT 1 FROM main.facts AS stated WHERE stated.id = {fact} AND {hidden})"


def _cover(connection: apsw.Connection, table: str, where: str) -> None:
    """Cover a table by a view of its rows that meet a condition; `this` is the row."""
    columns = [
        f"this.{name}"
        for (name,) in rows(connection, "SELECT name FROM pragma_table_info(?)", (table,))
    ]
    ((without_rowid,),) = rows(
        connection, "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'", (table,)
    )
    if not without_rowid:
        columns.append("this.rowid AS rowid")
    connection.execute(
        f"CREATE TEMP VIEW {table} AS SELECT {', '.join(columns)} FROM main.{table} AS this "
        f"WHERE {where}"
    )


def _cover_views(connection: apsw.Connection) -> None:
    """Recreate the views of a file, so that they read the views in place of its tables."""
    views = rows(connection, "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'")
    for _, sql in views:
        connection.execute(str(sql).replace("CREATE VIEW", "CREATE TEMP VIEW", 1))


def _restrict_events(files: ZoneFiles, reader: Reader) -> None:
    connection = files.events.connection
    _begin(connection, reader)
    _attach(connection, files)
    # Undecided memories have no row yet with their access rights.
    decided = "this.number <= (SELECT number FROM held.watermark)"
    _cover(connection, "events", f"NOT {_hidden('this.id', 'held')} AND {decided}")
    _cover_views(connection)


def _restrict_memory(files: ZoneFiles, reader: Reader) -> None:
    connection = files.memory.connection
    _begin(connection, reader)
    conditions: tuple[tuple[Mapping[str, tuple[str, ...]], list[Callable[[str], str]]], ...] = (
        (_OF_EVENTS, [_hidden]),
        (_OF_FACTS, [_hidden_fact, _hidden]),
    )
    for tables, hidden in conditions:
        for table, columns in tables.items():
            where = " AND ".join(
                f"NOT {condition(f'this.{column}')}" for column in columns for condition in hidden
            )
            _cover(connection, table, where)
    dependency = "(SELECT event_id FROM main.dependencies WHERE id = this.dependency_id)"
    _cover(connection, "dependency_terms", f"NOT {_hidden(dependency)}")
    playbooks = rows(connection, f"SELECT id, {_OF_PLAYBOOKS} FROM main.playbooks")
    readable = [id_ for id_, *owner in playbooks if _reads_playbook(reader, *owner)]
    connection.execute("CREATE TEMP TABLE readable_playbooks (id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.execute(
        "INSERT INTO temp.readable_playbooks SELECT value FROM json_each(?)",
        (json_array(readable),),
    )
    _cover(connection, "playbooks", "this.id IN (SELECT id FROM temp.readable_playbooks)")
    for table, column in _OF_TRAJECTORIES.items():
        _cover(connection, table, f"NOT {_HIDDEN_TRAJECTORY.format(id=f'this.{column}')}")
    reflected_on = "(SELECT trajectory_id FROM main.reflections WHERE id = this.reflection_id)"
    _cover(connection, "reflection_items", f"NOT {_HIDDEN_TRAJECTORY.format(id=reflected_on)}")
    # The table `fact_ends` is kept equal to the view `effective_ends`.
    connection.execute("CREATE TEMP VIEW fact_ends AS SELECT * FROM effective_ends")
    _cover_views(connection)
    connection.execute(_STATED_ENDS)


def _restrict_identity(files: ZoneFiles, reader: Reader) -> None:
    connection = files.identity.connection
    _begin(connection, reader)
    _attach(connection, files)
    hidden = _hidden("named.event_id", "held")
    of_entity = "FROM main.mentions AS named WHERE named.entity_id = {0} AND named.entity_id <> ''"
    seen = (
        f"(NOT EXISTS (SELECT 1 {of_entity} AND {hidden}) "
        f"OR EXISTS (SELECT 1 {of_entity} AND NOT {hidden}))"
    )
    _cover(connection, "mentions", f"NOT {_hidden('this.event_id', 'held')}")
    _cover(connection, "entities", seen.format("this.id"))
    _cover(connection, "handles", seen.format("this.entity_id"))
    _cover(connection, "name_keys", seen.format("this.entity_id"))
    both = [seen.format(f"this.entity_{side}_id") for side in "ab"]
    _cover(connection, "merge_candidates", " AND ".join(both))
    _cover_views(connection)
