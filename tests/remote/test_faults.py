"""What may go wrong between a client and a service: clear errors, and nothing lost or doubled."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.home.access_tokens import AccessTokens
from recollect.remote import service_client
from recollect.schemas.errors import (
    AlreadyClosed,
    Busy,
    CommandConflict,
    DecisionTimeout,
    HomeError,
    InvalidInput,
    RecollectError,
    Unauthorized,
    Unavailable,
    UnknownId,
    UnknownZone,
)
from tests.library.kit import said
from tests.remote.kit import Answer, client, cut_line, free_port, scripted
from tests.service.kit import Served, served

ROOT = Path(__file__).resolve().parents[2]
MANY = 1_500
STATUS = {
    **dict.fromkeys(("zone", "generation", "head"), "a"),
    **dict.fromkeys(
        ("events", "facts", "entities", "episodes", "observations", "dead_letters", "lag"), 0
    ),
    **dict.fromkeys(("lag_seconds", "seconds_since_progress", "encoder")),
    **dict.fromkeys(("models", "agents"), ()),
    "stalled": False,
}
OK: Answer = (200, {}, json.dumps(STATUS).encode())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("faults") / "home") as found:
        yield found


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(service_client, "_FIRST_WAIT", 0.001)


def problem(name: str, status: int, detail: str = "that is why", **headers: str) -> Answer:
    """Return an answer that says what is wrong."""
    said = {
        "type": f"urn:recollect:problem:{name}",
        "title": "Always the same",
        "status": status,
        "detail": detail,
        "request_id": "r1",
    }
    headers = {"Content-Type": "application/problem+json", **headers}
    return status, headers, json.dumps(said).encode()


def status_of(url: str, **options: float) -> object:
    with Recollect(url, token="rct_none", **options) as r:  # type: ignore[arg-type]
        return r.zone("a").status()


def test_nobody_listens() -> None:
    with pytest.raises(
        Unavailable, match=r"cannot be reached.*check that recollect serve runs there"
    ):
        status_of(f"http://127.0.0.1:{free_port()}")


def test_a_service_that_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        url = f"http://127.0.0.1:{place.getsockname()[1]}"
        with pytest.raises(Unavailable, match=r"did not answer within 0\.2 s"):
            status_of(url, timeout=0.2)
        with Recollect(url) as r, pytest.raises(DecisionTimeout, match=r"after 0\.2 s"):
            r.zone("a").wait_for("1:2:3", timeout=0.2)


def test_a_token_that_does_not_count(service: Served) -> None:
    with pytest.raises(Unauthorized, match="recollect token create"):
        status_of(service.url)
    with Recollect(service.url) as r, pytest.raises(Unauthorized):
        r.zones()


def test_rights_that_a_token_lacks(service: Served) -> None:
    with client(service) as r:
        r.zone("b").ingest(said("m1", "I own a boat."))
    token = AccessTokens(service.home).create(("a", "b"), ("read",)).token
    with Recollect(service.url, token=token) as r:
        assert r.zone("b").recall("boat").results
        with pytest.raises(UnknownZone, match="nothing that this token may access"):
            r.zone("b").ingest(said("m2", "It is blue."))
        with pytest.raises(UnknownZone, match="nothing that this token may access"):
            r.zone("b").forget("m1")
        with pytest.raises(UnknownId, match="nobody"):
            r.zone("b").why("nobody")


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("malformed", 400, InvalidInput),
        ("forbidden-origin", 403, Unauthorized),
        ("wrong-method", 405, RecollectError),
        ("conflict", 409, CommandConflict),
        ("busy", 409, Busy),
        ("too-large", 413, InvalidInput),
        ("invalid", 422, InvalidInput),
        ("failed", 500, HomeError),
        ("not-decided", 503, DecisionTimeout),
        ("something-new", 418, RecollectError),
    ],
)
def test_a_problem_is_an_error_of_the_library(
    name: str, status: int, kind: type[RecollectError]
) -> None:
    with scripted(problem(name, status)) as there:
        with pytest.raises(kind, match="that is why"):
            status_of(there.url)
        assert len(there.asked) == 1, "it is asked once"


@pytest.mark.parametrize(
    "busy",
    [
        problem("too-many-requests", 429, **{"Retry-After": "0"}),
        problem("overloaded", 503),
        problem("unavailable", 503, **{"Retry-After": "soon"}),
        (502, {}, b"<html>a proxy's own words</html>"),
    ],
)
def test_what_may_pass_is_tried_again(busy: Answer) -> None:
    with scripted(busy, busy, OK) as there:
        status_of(there.url)
        assert len(there.asked) == 3
    with scripted(busy) as there:
        with pytest.raises(Unavailable):
            status_of(there.url)
        assert len(there.asked) == 5


def test_who_is_told_when_waits_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float | None] = []
    monkeypatch.setattr(threading.Event, "wait", lambda self, seconds=None: waited.append(seconds))
    with scripted(problem("too-many-requests", 429, **{"Retry-After": "7"}), OK) as there:
        status_of(there.url)
    assert 7 in waited


def test_a_change_keeps_its_key(service: Served) -> None:
    done: Answer = (201, {}, b'{"status": "new", "number": 1, "event_id": "e"}')
    with scripted(problem("overloaded", 503), done, done) as there, Recollect(there.url) as r:
        r.zone("a").remember("The key is in the blue safe.")
        r.zone("a").remember("The key is in the red safe.")
    (first, second, other) = there.asked
    assert first == second
    assert first[2] is not None
    assert other[2] not in (None, first[2])


def test_an_answer_that_is_none() -> None:
    hello: Answer = (200, {}, b"<html>hello</html>")
    with scripted(hello) as there, pytest.raises(Unavailable, match="cannot read"):
        status_of(there.url)
    with scripted((301, {"Location": "https://elsewhere.example"}, b"")) as there:
        with pytest.raises(Unavailable, match="301"):
            status_of(there.url)
        assert len(there.asked) == 1, "a token goes nowhere else"


@pytest.mark.parametrize(
    "made",
    [
        lambda: Recollect("http://"),
        lambda: Recollect("http://a b/"),
        lambda: Recollect("http://host?x=1"),
        lambda: Recollect("http://host", timeout=0),
        lambda: Recollect("http://host", token="two\nlines"),
        lambda: Recollect("http://host", encoder="none"),
        lambda: Recollect("http://host", ledger="embedded"),
    ],
)
def test_an_address_or_an_option_that_is_none(made: Callable[[], Recollect]) -> None:
    with pytest.raises(InvalidInput):
        made().zones()


def test_a_home_asks_for_no_token(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="token"):
        Recollect(tmp_path / "home", encoder="none", token="rct_x")
    assert not (tmp_path / "home").exists()


def test_a_client_that_was_closed(service: Served) -> None:
    r = client(service)
    zone = r.zone("a")
    r.close()
    r.close()
    with pytest.raises(AlreadyClosed, match="open Recollect again"):
        zone.status()


def test_who_waits_for_another_attempt_is_let_go_when_the_client_closes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service_client, "_FIRST_WAIT", 600.0)
    raised: list[Exception] = []
    with scripted(problem("overloaded", 503)) as there:
        r = Recollect(there.url)

        def ask() -> None:
            try:
                r.zone("a").status()
            except RecollectError as error:
                raised.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        while not there.asked:
            pass
        r.close()
        thread.join(60)
    assert [type(error) for error in raised] == [AlreadyClosed]


def events(seen: list[int] | None = None) -> Iterator[dict[str, object]]:
    for number in range(MANY):
        if seen is not None:
            seen.append(number)
        yield {**said(f"m{number}", f"I keep qx{number}zy in a box. " + "x" * 200), "id": None}


def holds_all(zone: Zone) -> None:
    """See that each event is there, and once."""
    assert zone.status().events == MANY
    texts, cursor = [], None
    while True:
        page = zone.list_memories("events", cursor=cursor, limit=1_000)
        texts += [memory.text.split()[2] for memory in page.memories]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(texts) == sorted(f"qx{number}zy" for number in range(MANY))


@pytest.mark.parametrize("after_sent", [1_000, 200_000])
def test_a_line_that_is_cut_while_events_go_over_it(service: Served, after_sent: int) -> None:
    seen: list[int] = []
    with cut_line(service.url, after_sent=after_sent) as url, client(service, url=url) as r:
        zone = r.zone(f"cut{after_sent}")
        report = zone.ingest(events(seen), wait=False)
        assert seen == list(range(MANY)), "what gives events is read once"
        assert (report.read, report.new + report.duplicate) == (MANY, MANY)
        holds_all(zone)


def test_an_answer_that_is_lost(service: Served) -> None:
    with cut_line(service.url, before_answer=True) as url, client(service, url=url) as r:
        report = r.zone("lost").ingest(events(), wait=False)
        assert (report.read, report.duplicate) == (MANY, MANY)
        holds_all(r.zone("lost"))
    with cut_line(service.url, before_answer=True) as url, client(service, url=url) as r:
        r.zone("kept").remember("The key is in the blue safe.")
        assert r.zone("kept").status().events == 1
    with cut_line(service.url, before_answer=True) as url, client(service, url=url) as r:
        r.zone("kept").create_mental_model("Homes", "Ada lives in Turin.")
        assert len(r.zone("kept").mental_models()) == 1


def test_what_gives_events_fails(service: Served) -> None:
    def some() -> Iterator[dict[str, object]]:
        yield said("m1", "I own a boat.")
        raise ValueError("no more")

    with client(service) as r, pytest.raises(ValueError, match="no more"):
        r.zone("failing").ingest(some())


@pytest.mark.slow
def test_a_service_that_is_killed_while_it_takes_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, port = tmp_path / "home", free_port()
    Recollect(home, encoder="none").close()
    token = AccessTokens(home).create(("*",), ("read", "write")).token
    running = [begun(home, port)]

    def killing() -> Iterator[dict[str, object]]:
        for number, event in enumerate(events()):
            if number == 2 * MANY // 3:
                running[-1].kill()
                running[-1].wait(60)
                running.append(begun(home, port))
            yield event

    try:
        with Recollect(f"http://127.0.0.1:{port}", token=token) as r:
            report = r.zone("a").ingest(killing(), wait=False)
            assert (report.read, report.rejected) == (MANY, 0)
            holds_all(r.zone("a"))
    finally:
        for process in running:
            process.terminate()
            process.communicate(timeout=60)


def begun(home: Path, port: int) -> subprocess.Popen[str]:
    """Start `recollect serve`, and return once it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "--home", str(home), "serve", "--port", str(port)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert "http://" in process.stdout.readline()
    return process
