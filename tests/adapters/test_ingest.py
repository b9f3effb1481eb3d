"""`recollect ingest`: bad records are refused by line and reason, and the rest goes in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recollect import Query, Recollect
from recollect.cli.app import run
from recollect.streams.ledger import EVENTS, PARTITIONS
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from tests.opened import payload_of

BASE: dict[str, Any] = {
    "platform": "slack",
    "sender_id": "U1",
    "occurred_at": "2026-05-08T13:56:00Z",
    "content": "hi",
}


def line(**fields: Any) -> bytes:
    return json.dumps({**BASE, **fields}).encode()


class Ingested(NamedTuple):
    status: int
    counts: dict[str, Any]
    stderr: str

    @property
    def totals(self) -> tuple[int, int, int, int]:
        read, new, duplicate, rejected = (
            self.counts[name] for name in ("read", "new", "duplicate", "rejected")
        )
        return read, new, duplicate, rejected

    @property
    def refused(self) -> list[tuple[int, str]]:
        return [(item["line"], item["reason"]) for item in self.counts["rejections"]]


Ingest = Callable[..., Ingested]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RECOLLECT_HOME", "RECOLLECT_LEDGER", "RECOLLECT_FAILPOINT"):
        monkeypatch.delenv(name, raising=False)
    directory = tmp_path / "home"
    assert run(["--home", str(directory), "init", "--encoder", "none"]) == 0
    return directory


@pytest.fixture
def ingest(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Ingest:
    """Return a function that ingests files of the given bytes, each named by its number."""

    def run_it(
        *files: bytes, zone: str = "default", options: tuple[str, ...] = ("--no-wait",)
    ) -> Ingested:
        paths = []
        for number, content in enumerate(files):
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(content)
            paths.append(str(path))
        capfd.readouterr()
        status = run(["--home", str(home), "--zone", zone, "ingest", "--json", *options, *paths])
        said = capfd.readouterr()
        return Ingested(status, json.loads(said.out) if said.out else {}, said.err)

    return run_it


def contents(home: Path) -> dict[str, list[str]]:
    """Return what the events of each zone say, in the ledger's order."""
    found: dict[str, list[str]] = {}
    ledger = EmbeddedLedger(home)
    for partition in range(PARTITIONS):
        for _, zone, value in ledger.read(EVENTS, partition, 0, 10_000):
            clear, sealed = msgspec.msgpack.decode(value)
            key_id = msgspec.msgpack.decode(clear)[9]
            text = AESGCM(ledger.keys.get([key_id])[key_id]).decrypt(
                sealed[:12], sealed[12:], clear
            )
            found.setdefault(zone, []).append(msgspec.msgpack.decode(payload_of(text))["content"])
    ledger.close()
    return found


BAD: list[tuple[bytes, str]] = [
    (line()[:-9], "not JSON"),
    (b"not json at all", "not JSON"),
    (b"{}", "`platform`"),
    (b"[1, 2]", "expected `object`"),
    (line(sender_id=None), "sender_id: expected"),
    (line(content="x" * 262_145), "the maximum is 262144"),
    (line(metadata={"x": "x" * 1_048_576}), "1048576"),
    (b"x" * 3_500_000, "1048576"),
    (line(content=""), "content is empty"),
    (line(content=" \t "), "content is empty"),
    (line(occurred_at="2026-02-30T00:00:00Z"), "occurred_at"),
    (line(occurred_at="2026-05-08T13:56:00"), "no time zone"),
    (line(occurred_at=-1), "outside 1970"),
    (line(occurred_at="9999-12-31T23:59:59Z"), "outside 1970"),
    (line(occurred_at=True), "`bool`"),
    (line(content="a\0b"), "NUL"),
    (line(metadata={"a": {"b": ["\0"]}}), "NUL"),
    (line()[:-1] + b', "x": "\xff"}', "not UTF-8"),
    (line()[:-1] + b', "x": "a\x00"}', "not JSON"),
    (line(kind="telegram"), "unknown kind"),
    (line(kind="forget"), "is a command"),
    (b"[" * 100_000, "expected `object`"),
    (b'{"a":' * 100_000, "nested too deeply"),
    (line(metadata={"n": 10**40}), "beyond 64 bits"),
    (line(platform="p" * 2_000), "platform has 2000 bytes"),
    (line(id=""), "id is empty"),
    (line(peer_kind="room"), "'room'"),
]


def test_bad_lines_are_named_and_the_rest_goes_in(ingest: Ingest, home: Path) -> None:
    lines = [line(id="first", content="first")]
    for number, (bad, _) in enumerate(BAD):
        lines += [bad, line(id=f"good-{number}", content=f"good {number}")]
    done = ingest(b"\n".join(lines))
    assert done.status == 0
    assert done.totals == (2 * len(BAD) + 1, len(BAD) + 1, 0, len(BAD))
    assert [number for number, _ in done.refused] == list(range(2, 2 * len(BAD) + 1, 2))
    for (_, reason), (_, wanted) in zip(done.refused, BAD, strict=True):
        assert wanted in reason
        assert len(reason) < 200
    assert {item["path"][-7:] for item in done.counts["rejections"]} == {"0.jsonl"}
    assert contents(home) == {"default": ["first", *(f"good {n}" for n in range(len(BAD)))]}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("bad", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_a_file_with_nothing_good_in_it_is_a_failure(
    ingest: Ingest, home: Path, bad: bytes, reason: str
) -> None:
    done = ingest(bad + b"\n")
    assert (done.status, done.totals) == (1, (1, 0, 0, 1))
    assert reason in done.refused[0][1]
    assert contents(home) == {}


def test_the_demos_bad_lines(ingest: Ingest) -> None:
    path = Path(__file__).resolve().parents[2] / "demo" / "bad-lines.jsonl"
    done = ingest(path.read_bytes(), options=())
    assert (done.status, done.totals) == (0, (8, 1, 0, 7))
    assert [number for number, _ in done.refused] == [2, 3, 4, 5, 6, 7, 8]
    assert "conflict" in done.refused[-1][1]


def test_refusals_are_said_to_people_too(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_bytes(line() + b"\n{}\n")
    assert run(["--home", str(home), "ingest", "--no-wait", str(path)]) == 0
    said = capfd.readouterr()
    assert "read 2, new 1, duplicate 0, rejected 1" in said.out
    assert f"{path}:2: " in said.err


def test_an_ingested_at_in_the_future_is_clamped_and_said(
    ingest: Ingest, home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    future = {"ingested_at": "2199-01-01T00:00:00Z", "occurred_at": "2150-01-01T00:00:00Z"}
    lines = [line(id="a", **future), line(id="b"), line(id="c", **future)]
    done = ingest(b"\n".join(lines))
    assert (done.totals, done.counts["clamped"]) == ((3, 3, 0, 0), 2)
    assert done.stderr == (
        "note: 2 events had an ingested_at in the future; the ledger's own time was used instead\n"
    )
    again = ingest(b"\n".join(lines))
    assert (again.totals, again.counts["clamped"], again.stderr) == ((3, 0, 3, 0), 0, "")


def test_of_many_rejections_the_first_are_told_and_all_are_counted(
    ingest: Ingest, home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = [line(peer_kind="k" * 2_000)] + [b"{"] * 1_499
    done = ingest(b"\n".join(bad[:700]), b"\n".join([line(), *bad[700:]]))
    assert done.totals == (1_501, 1, 0, 1_500)
    assert [number for number, _ in done.refused] == [*range(1, 701), *range(2, 302)]
    assert all(len(reason) < 600 for _, reason in done.refused)
    capfd.readouterr()
    assert run(["--home", str(home), "ingest", str(tmp_path / "1.jsonl")]) == 0
    said = capfd.readouterr()
    assert "read 801, new 0, duplicate 1, rejected 800" in said.out
    told = said.err.splitlines()
    assert len(told) == 21
    assert told[-1] == "  … and 780 more"


def test_a_reason_quotes_little_of_a_long_id(ingest: Ingest) -> None:
    long = "\u00e9" * 500
    named = {"id": long, "platform": long}
    done = ingest(line(**named) + b"\n" + line(**named, content="x"))
    ((number, reason),) = done.refused
    assert (number, reason[:9], reason[-1]) == (2, "conflict:", "…")
    assert len(reason) == 501


# Files as they come


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\r\n \r\n\t\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\n",
    ],
)
def test_a_file_of_nothing_is_no_failure(ingest: Ingest, content: bytes) -> None:
    done = ingest(content)
    assert (done.status, done.totals) == (0, (0, 0, 0, 0))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n", b"\r\n\r\n", b"  \n \t \n"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "not ended"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
def test_line_ends_blank_lines_and_a_byte_order_mark_are_no_data(
    ingest: Ingest, home: Path, end: bytes, last: bool, mark: bytes
) -> None:
    lines = [line(id=str(number), content=f"words {number}") for number in range(3)]
    done = ingest(mark + end.join(lines) + (end if last else b""))
    assert (done.status, done.totals) == (0, (3, 3, 0, 0))
    assert contents(home) == {"default": ["words 0", "words 1", "words 2"]}


def test_blank_lines_count_as_lines(ingest: Ingest) -> None:
    done = ingest(b"\n\n" + line() + b"\n\r\n{}\n\n[]")
    assert done.totals == (3, 1, 0, 2)
    assert [number for number, _ in done.refused] == [5, 7]


def test_a_mark_further_down_is_no_mark(ingest: Ingest) -> None:
    done = ingest(line() + b"\n\xef\xbb\xbf" + line(id="b"))
    assert (done.totals, done.refused[0][0]) == ((2, 1, 0, 1), 2)


@pytest.mark.parametrize("over", [-1, 0, 1, 2])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_line_of_a_mebibyte_is_the_longest(ingest: Ingest, over: int, end: bytes) -> None:
    empty = len(line(id="long", metadata={"x": ""}))
    long = line(id="long", metadata={"x": "x" * (1_048_576 - empty + over)})
    assert len(long) == 1_048_576 + over
    after = line(id="after") if end else b""
    done = ingest(long + end + after)
    kept = over <= 0
    assert done.totals == (1 + bool(end), kept + bool(end), 0, not kept)
    assert [number for number, _ in done.refused] == ([] if kept else [1])


def test_unknown_fields_and_fields_given_twice(ingest: Ingest, home: Path) -> None:
    twice = line(id="a", team="T1")[:-1] + b', "content": "the last counts"}'
    assert ingest(twice).totals == (1, 1, 0, 0)
    assert contents(home) == {"default": ["the last counts"]}


# Ids


def test_the_same_id_with_other_content_is_refused_and_what_is_held_stays(
    ingest: Ingest, home: Path
) -> None:
    first = line(id="a", content="first")
    other = line(id="a", content="second")
    done = ingest(b"\n".join([first, other, first]))
    assert (done.status, done.totals) == (0, (3, 1, 1, 1))
    assert done.refused == [
        (
            2,
            "conflict: id 'a' of platform 'slack' is already in the ledger with different "
            "content, which is kept",
        )
    ]
    again = ingest(other)
    assert (again.status, again.totals) == (1, (1, 0, 0, 1))
    assert contents(home) == {"default": ["first"]}


def test_a_file_again_is_all_duplicates(ingest: Ingest) -> None:
    lines = b"\n".join(line(id=str(number)) for number in range(10))
    assert ingest(lines).totals == (10, 10, 0, 0)
    again = ingest(lines)
    assert (again.status, again.totals) == (0, (10, 0, 10, 0))


def test_without_ids_the_second_of_a_file_is_a_second_event(ingest: Ingest, home: Path) -> None:
    lines = b"\n".join([line(), line(content="ho"), line(), line()])
    assert ingest(lines).totals == (4, 4, 0, 0)
    assert contents(home) == {"default": ["hi", "ho", "hi", "hi"]}
    assert ingest(lines).totals == (4, 0, 4, 0)


def test_without_ids_the_same_record_in_a_second_file_is_the_same(ingest: Ingest) -> None:
    assert ingest(line(), line()).totals == (2, 1, 1, 0)
    assert ingest(line() + b"\n" + line()).totals == (2, 1, 1, 0)


def test_a_refused_record_is_not_counted_among_the_same(ingest: Ingest) -> None:
    long = line(id=None, thread_id="t" * 2_000)
    assert ingest(long + b"\n" + line()).totals == (2, 1, 0, 1)
    assert ingest(line()).totals == (1, 0, 1, 0)


def test_many_batches_are_one_import(ingest: Ingest, home: Path) -> None:
    lines = [line(id=str(number), content=str(number)) for number in range(2_300)]
    lines.insert(1_500, b"{")
    done = ingest(b"\n".join([*lines, lines[0], line(id="7", content="other")]))
    assert done.totals == (2_303, 2_300, 1, 2)
    assert sorted(number for number, _ in done.refused) == [1_501, 2_303]
    assert contents(home) == {"default": [str(number) for number in range(2_300)]}


# Zones, paths, exit statuses


@pytest.mark.parametrize(
    "zone",
    ["..", ".", "a/b", "x" * 65, "é", ".a", "-a", "a b", "a\n", "../../etc"],
)
def test_an_odd_zone_is_wrong_use(ingest: Ingest, home: Path, zone: str) -> None:
    before = sorted(home.rglob("*"))
    done = ingest(line(), zone=zone)
    assert done.status == 2
    assert "zone" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(home.rglob("*")) == before


def test_an_empty_zone_is_wrong_use(ingest: Ingest) -> None:
    assert ingest(line(), zone="").status == 2


def test_zones_are_apart(ingest: Ingest, home: Path) -> None:
    for zone in ("a", "a.b", "x" * 64):
        assert ingest(line(id="1", content=zone), zone=zone).totals == (1, 1, 0, 0)
    assert contents(home) == {zone: [zone] for zone in ("a", "a.b", "x" * 64)}


def ingest_path(home: Path, path: str | Path) -> int:
    return run(["--home", str(home), "ingest", "--no-wait", "--json", os.fspath(path)])


def test_a_path_that_cannot_be_read_is_wrong_use(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "chats.txt").write_text("Ada: hi\n")
    for path, reason in (
        (tmp_path / "nothing.jsonl", "does not exist"),
        (tmp_path, "is a folder, and none of its"),
        (tmp_path / "pipe", "is not a regular file"),
        (tmp_path / "chats.txt", "no known format"),
    ):
        assert ingest_path(home, path) == 2
        said = capfd.readouterr()
        assert reason in said.err
        assert str(path) in said.err
        assert said.out == ""


def test_one_path_that_is_not_there_and_nothing_goes_in(home: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_bytes(line())
    assert run(["--home", str(home), "ingest", str(good), str(tmp_path / "bad.jsonl")]) == 2
    assert contents(home) == {}


def test_a_file_whose_name_is_no_text_is_reported_all_the_same(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl")
    Path(path).write_bytes(line() + b"\n{}\n")
    capfd.readouterr()
    assert ingest_path(home, path) == 0
    (refused,) = json.loads(capfd.readouterr().out)["rejections"]
    assert refused["path"] == f"{tmp_path}/caf\ufffd.jsonl"


def test_a_home_that_is_not_there_says_how_to_make_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line())
    assert ingest_path(tmp_path / "nowhere", path) == 2
    assert "init" in capfd.readouterr().err


# Anything at all

PIECES = st.sampled_from(
    [
        *(b"\n", b"\r\n", b"{", b"}", b"[", b'"', b"\\", b"\0", b"\xff", b"\xef\xbb\xbf"),
        *(line(), line(id="a"), line(id="a", content="b"), line(occurred_at="x"), b"\\ud800"),
        *(b'"platform":', b"[" * 3_000, b'{"metadata":' * 3_000, b"9" * 5_000, b" "),
    ]
)


@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(PIECES | st.binary(max_size=30), max_size=12).map(b"".join))
@example(b"\xff\xfe{\x00}\x00")
@example(b"\x00" * 100)
@example(b"\r" * 10)
@example(b"PK\x03\x04")
@example(b"\x1f\x8b")
@example(b"PK\x05\x06" + b"\x00" * 18)
def test_no_file_whatever_raises_out_of_the_command(ingest: Ingest, content: bytes) -> None:
    done = ingest(content, options=("--no-wait", "--format", "jsonl"))
    assert "Traceback" not in done.stderr
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")):
        # Packed, whatever it is called; it holds nothing or is damaged.
        assert done.status == 2 or done.totals == (0, 0, 0, 0)
        return
    read, new, duplicate, rejected = done.totals
    lines = [one for one in content.removeprefix(b"\xef\xbb\xbf").split(b"\n") if one.strip()]
    assert read == new + duplicate + rejected
    if lines and lines[0].startswith(b"{") and not lines[0].rstrip().endswith(b"}"):
        # The first object may go on, over any number of lines.
        assert 1 <= read <= len(lines)
    else:
        assert read == len(lines)
    assert done.status == (1 if read and rejected == read else 0)
    assert len(done.refused) == rejected
    assert all(reason for _, reason in done.refused)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(min_size=1, max_size=200))
def test_whatever_was_said_goes_all_the_way(ingest: Ingest, words: str) -> None:
    done = ingest(line(content=words), options=())
    assert done.totals[0] == 1
    assert done.status == (0 if done.totals[3] == 0 else 1)
    if words.strip() and "\0" not in words:
        assert done.totals[3] == 0


def test_what_went_in_is_decided_and_recalled(
    ingest: Ingest, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ingest(line(id="a", content="The heron stands in the reeds."), options=()).status == 0
    capfd.readouterr()
    assert run(["--home", str(home), "recall", "heron", "--json"]) == 0
    results = json.loads(capfd.readouterr().out)["results"]
    assert ["a"] in [result["source_event_ids"] for result in results]


@pytest.mark.parametrize(("options", "found"), [(["--historical"], 1), ([], 0)])
def test_a_historical_import_is_known_since_it_was_said(
    home: Path, tmp_path: Path, options: list[str], found: int
) -> None:
    path = tmp_path / "past.jsonl"
    path.write_bytes(
        line(content="I live in Turin.", sender_name="Ada", occurred_at="2020-05-08T13:56:00Z")
    )
    assert run(["--home", str(home), "ingest", str(path), *options]) == 0
    with Recollect(home) as opened:
        zone = opened.zone()
        known = zone.recall(
            Query("Where does Ada live?", scope=("facts",), known_at="2020-06-01T00:00:00Z")
        )
        assert len(known.results) == found
        assert len(zone.recall(Query("Where does Ada live?", scope=("facts",))).results) == 1
