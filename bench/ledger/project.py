"""The speed of projecting every file from the topics, in comparison with plain inserts.

python -m bench.ledger.project [--events N] [--small N]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.kit.homes import Homes, project
from bench.kit.report import Report, Target, count, markdown, stopwatch
from recollect.projections.content import content_tables
from recollect.projections.files import ZoneFiles
from recollect.projections.readmodel import ReadModel

MIN_SHARE = 0.5
MAX_SECONDS = 12.0
SMALL = 100_000
ROUNDS = 2
# Rows per transaction of the lower bound: so many that the cost of commits is negligible.
_BATCH_SIZE = 200_000


class Plain(msgspec.Struct, frozen=True):
    """The rows of a table, with the statement that writes one."""

    statement: str
    rows: list[tuple[object, ...]]


def run(homes: Homes, *, events: int = 20_000, small: int = SMALL) -> Report:
    """Measure `events` without and with (random) vectors, and `small` events of a few words."""
    rows, targets = [], []
    for vectors in (False, True):
        what = "with vectors" if vectors else "without vectors"
        number = events // 4 if vectors else events
        seconds, floor_s = _against_floor(homes, number, vectors)
        share = floor_s / seconds
        rows.append(
            [f"re-project, {what}", count(number), *_cells(number, seconds), f"{share:.2f}"]
        )
        rows.append([f"floor, {what}", count(number), *_cells(number, floor_s), "1"])
        targets.append(
            Target(
                f"re-projecting {what} reaches {MIN_SHARE} of plain inserts",
                f"{share:.2f}",
                share >= MIN_SHARE,
            )
        )
    seconds = min(_seconds_to_project(homes, small, small=True) for _ in range(ROUNDS))
    rows.append([f"re-project, {count(small)} small", count(small), *_cells(small, seconds), ""])
    most = MAX_SECONDS * small / SMALL
    targets.append(
        Target(
            f"{count(small)} small events without vectors in less than {most:.0f} s",
            f"{seconds:.1f} s",
            seconds < most,
        )
    )
    return Report(
        "Re-project",
        "All files of a zone are rebuilt from the topics `events` and `changes`: records are read, "
        "checked against their chain, decrypted and applied. The lower bound (`floor`) writes the "
        "rows of the finished files with `executemany` into the same schema, with its indexes, "
        "triggers and full-text tables; it reads and decrypts nothing.",
        ["what", "events", "s", "events/s", "of the floor"],
        rows,
        targets,
    )


def _against_floor(homes: Homes, events: int, vectors: bool) -> tuple[float, float]:
    filled = homes.filled(events, vectors=vectors)
    ours, floors = [], []
    for _ in range(ROUNDS):
        files, seconds = project(filled, homes.fresh())
        with files:
            ours.append(seconds)
            plain = plain_rows(files)
            model, dimension = files.embeddings.model, files.embeddings.dimension
        floors.append(write_plainly(homes.fresh(), plain, model, dimension))
    return min(ours), min(floors)


def _seconds_to_project(homes: Homes, events: int, *, small: bool) -> float:
    files, seconds = project(homes.filled(events, small=small), homes.fresh())
    files.close()
    return seconds


def plain_rows(files: ZoneFiles) -> list[list[Plain]]:
    """Return the rows of every file, table by table."""
    return [_rows_of(model) for model in files.all]


def _rows_of(model: ReadModel) -> list[Plain]:
    """Return the rows of a file, table by table, in the order in which they were written."""
    tables = []
    for table in content_tables(model):
        columns = _columns(model, table.name)
        marks = ", ".join("?" * len(columns))
        names = ", ".join(columns)
        by_rowid = "rowid" if _has_rowid(model, table.name) else ", ".join(table.key)
        rows = model.connection.execute(
            f"SELECT {names} FROM {table.name} ORDER BY {by_rowid}"
        ).fetchall()
        # A new file already contains a few rows, which are kept.
        statement = f"INSERT OR IGNORE INTO {table.name} ({names}) VALUES ({marks})"
        tables.append(Plain(statement, rows))
    return tables


def _columns(model: ReadModel, table: str) -> list[str]:
    return [
        str(row[0])
        for row in model.connection.execute(
            "SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,)
        )
    ]


def _has_rowid(model: ReadModel, table: str) -> bool:
    rows = model.connection.execute(
        "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,)
    ).fetchall()
    return not rows[0][0]


def write_plainly(
    directory: Path, plain: Sequence[Sequence[Plain]], model: str | None, dimension: int
) -> float:
    """Write the rows into new files, and return the seconds."""
    with stopwatch() as watch, ZoneFiles(directory, model, dimension) as files:
        for file, tables in zip(files.all, plain, strict=True):
            for table in tables:
                for first in range(0, len(table.rows), _BATCH_SIZE):
                    file.connection.execute("BEGIN IMMEDIATE")
                    file.connection.executemany(
                        table.statement,
                        table.rows[first : first + _BATCH_SIZE],
                    )
                    file.connection.execute("COMMIT")
    return watch.seconds


def _cells(events: int, seconds: float) -> list[str]:
    return [f"{seconds:.2f}", count(events / seconds)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.project", description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--small", type=int, default=SMALL, help="events of a few words")
    chosen = parser.parse_args(arguments)
    with Homes() as homes:
        print(markdown(run(homes, events=chosen.events, small=chosen.small)))


if __name__ == "__main__":
    main()
