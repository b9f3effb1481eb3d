"""Asking: `recall` with every option, its batches, `why`, `forget` and the rest of the commands."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from recollect import Query
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import DEFAULT_SCOPE
from tests.fuzz.target import Check, Target, command
from tests.fuzz.values import (
    argument,
    damaged,
    json_bytes,
    odd_integer,
    odd_json,
    odd_number,
    odd_text,
    sound_text,
)
from tests.memory import Memory
from tests.recall.kit import HOUR, START, EncodedHome, say, talk, tell

_SCOPES = st.sampled_from(["events", "facts", "observations", "mental_models", "entities"])


def _held(directory: Path, *, encoder: bool) -> Home:
    """Return a home that holds something of most kinds; made once in its directory."""
    made = directory.exists()
    Home.create_or_open(directory, without_encoder=True)
    home = (EncodedHome if encoder else Home)(directory)
    if made:
        return home
    with Memory(home) as memory:
        tell(
            memory,
            [
                *talk(
                    ("Ada", "I live in Rome and I own a dog."),
                    ("Bob", "Where did you live before the move?"),
                    ("Ada", "In Oslo, because of my job. I moved in May 2024."),
                ),
                say("I own a dog.", "again", at=START + HOUR),
                say("I live in Bergen.", "later", at=START + 30 * HOUR),
                say("That is why I sold the boat.", "mail", by="Cy", platform="mail"),
            ],
        )
        memory.create_mental_model("Homes", "Ada moves a lot")
    return home


_odd = odd_text | odd_json
_integers = st.none() | st.integers(0, 2 * START) | odd_integer
# As the library takes them: of the types that are asked for.
_queries = st.fixed_dictionaries(
    {"query": odd_text | st.just("Where does Ada live, and what does she own?")},
    optional={
        "scope": st.just(DEFAULT_SCOPE) | st.lists(_SCOPES | odd_text, max_size=3).map(tuple),
        "entity": st.none() | st.just("Ada") | odd_text,
        "time_after": _integers,
        "time_before": _integers,
        "valid_at": _integers,
        "platform": st.none() | st.just("chat") | odd_text,
        "max_results": st.integers(1, 60) | odd_integer,
        "budget": st.sampled_from(["low", "mid", "high"]) | odd_text,
        "asked_at": _integers,
        "min_score": st.floats(0, 1) | odd_number,
        "explain": st.booleans(),
    },
)


@contextmanager
def _library(room: Path) -> Iterator[Check]:
    with (
        Memory(_held(room / "encoded", encoder=True)) as encoded,
        Memory(_held(room / "plain", encoder=False)) as plain,
    ):

        def check(case: tuple[dict[str, Any], int | None, str, bool]) -> None:
            """A question is answered within its bounds, or refused."""
            fields, known_at, id_, with_encoder = case
            memory = encoded if with_encoder else plain
            query = Query(**fields)
            try:
                answer = memory.recall(query, known_at=known_at)
                memory.explain(query, id_, known_at=known_at)
            except InvalidInput:
                return
            results = answer.results
            assert len(results) <= query.max_results
            assert len({result.id for result in results}) == len(results)
            assert all(0 <= result.score <= 1 for result in results)
            assert all(result.score >= query.min_score for result in results)
            msgspec.json.encode(answer)

        yield check


_options = st.one_of(
    st.tuples(
        st.sampled_from(
            [
                *("-k", "--budget", "--profile", "--scope", "--entity", "--after", "--before"),
                *("--platform", "--known-at", "--min-score", "--valid-at", "--query", "--zone"),
                *("--wait-for", "--timeout", "--sender", "--level", "--batch", "--format"),
            ]
        ),
        argument,
    ).map(list),
    st.tuples(st.sampled_from(["-k"]), st.integers(-1, 1_001).map(str)).map(list),
    st.sampled_from(
        [
            *(["--explain"], ["--after", "2026-01-01T00:00:00Z"], ["--before", "1767607200001"]),
            *(["--valid-at", "2026-01-06T00:00:00Z"], ["--known-at", "2026-11-22T00:00:00Z"]),
            *(["--entity", "Ada"], ["--scope", "facts,events"], ["--budget", "high"]),
            *(["--profile", "recent"], ["--min-score", "0.3"], ["--query", "dog"], ["--json"]),
        ]
    ),
)
_subjects = argument | st.sampled_from(["Where does Ada live?", "m1", "again", "dog", "Ada"])
_commands = st.one_of(
    st.tuples(
        st.sampled_from(["recall", "why", "forget"]),
        st.lists(_options, max_size=3).map(lambda some: [part for one in some for part in one]),
        _subjects,
    ).map(lambda parts: [parts[0], *parts[1], "--", parts[2]]),
    st.tuples(
        st.sampled_from(["status", "verify", "deadletters", "rebuild", "rollback", "doctor"]),
        st.lists(argument | _options.map(" ".join), max_size=2),
    ).map(lambda parts: [parts[0], *parts[1]]),
)


@contextmanager
def _command_line(room: Path) -> Iterator[Check]:
    _held(room / "plain", encoder=False)

    def check(arguments: list[str]) -> None:
        """A command does what it is asked, or says what is wrong; what is held stays."""
        with tempfile.TemporaryDirectory(dir=room) as directory:
            home = Path(directory) / "home"
            shutil.copytree(room / "plain", home)
            command(["--home", str(home), *arguments])
            if arguments[0] != "forget":
                said = command(["--home", str(home), "recall", "--json", "Where does Ada live?"])
                found = {id_ for item in json.loads(said.out)["results"] for id_ in _ids(item)}
                assert {"m1", "later"} <= found

    yield check


def _ids(result: dict[str, Any]) -> list[str]:
    return list(result["source_event_ids"])


_line = st.fixed_dictionaries(
    {"id": odd_json | st.integers(0, 9), "query": sound_text | odd_json},
    optional=dict.fromkeys(
        (
            *("k", "budget", "min_score", "scope", "entity", "after", "before", "platform"),
            *("known_at", "valid_at", "unknown"),
        ),
        _odd,
    ),
).map(lambda line: json.dumps(line).encode())
_good_line = st.just(b'{"id": "good", "query": "dog"}')


@contextmanager
def _batches(room: Path) -> Iterator[Check]:
    home = _held(room / "plain", encoder=False).directory

    def check(lines: list[bytes]) -> None:
        """A batch is answered line by line, or its first bad line is named and none is."""
        path = room / "batch.jsonl"
        path.write_bytes(b"\n".join(lines))
        said = command(["--home", str(home), "recall", "--batch", str(path)])
        asked = sum(bool(line.strip()) for line in lines)
        if said.status == 0:
            assert len(said.out.splitlines()) == asked
        else:
            assert said.out == ""
            assert f"{path}:" in said.err

    yield check


LIBRARY = Target(
    "library", st.tuples(_queries, _integers, odd_text | st.just("m1"), st.booleans()), _library
)
COMMANDS = Target("commands", _commands, _command_line)
BATCHES = Target(
    "batches",
    st.lists(
        (_good_line | _line | damaged(_good_line) | damaged(_line) | json_bytes).map(
            lambda line: line.replace(b"\n", b" ")
        ),
        max_size=4,
    ),
    _batches,
)
