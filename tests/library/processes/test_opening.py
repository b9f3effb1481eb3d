"""Opening a home: what is made, what is refused, and what becomes of it when it is closed."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect import Query, Recollect
from recollect.home.home_directory import Home
from recollect.operations.answers.recalling import recall
from recollect.schemas.errors import AlreadyClosed, Busy, HomeError, InvalidInput, RecollectError
from tests.library.kit import said


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Recollect(tmp_path / "home", encoder="none") as r:
        r.zone("ada").ingest(said("m1", "I live in Turin."))
    return tmp_path / "home"


def test_a_home_is_made_where_there_is_none(tmp_path: Path) -> None:
    with Recollect(tmp_path / "new" / "home", encoder="none") as r:
        assert r.zones() == []
        assert r.zone("ada").recall("anything?").results == []
    assert Home(tmp_path / "new" / "home").settings.encoder is None


def test_a_tilde_is_the_users_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with Recollect("~/memory", encoder="none") as r:
        assert r.home == tmp_path / "memory"
    assert (tmp_path / "memory" / "home.json").is_file()


def test_a_directory_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(HomeError, match="is not a recollect home"):
        Recollect(tmp_path, encoder="none")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("kafka://localhost:9092", r"Recollect\(home, ledger='kafka://localhost:9092'\)"),
        (7, "home is int"),
        (None, "home is NoneType"),
    ],
)
def test_what_is_no_directory_is_refused(given: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        Recollect(given)


def test_a_ledger_may_be_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_LEDGER", "nonsense")
    with Recollect(home, ledger="embedded") as r:
        assert r.zones() == ["ada"]
    with pytest.raises(InvalidInput, match="nonsense"):
        Recollect(home)


def test_two_that_make_one_home_at_once_get_the_same(tmp_path: Path) -> None:
    opened: list[object] = []
    start = threading.Barrier(8)

    def open_it() -> None:
        start.wait()
        try:
            opened.append(Recollect(tmp_path / "home", encoder="none"))
        except RecollectError as error:
            opened.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(one) for one in opened] == [Recollect] * 8, opened
    for one in opened:
        assert isinstance(one, Recollect)
        one.close()


def test_a_closed_home_says_so(home: Path) -> None:
    r = Recollect(home)
    ada = r.zone("ada")
    r.close()
    r.close()
    for call in (ada.status, r.zones, lambda: ada.recall("Turin")):
        with pytest.raises(AlreadyClosed, match="open Recollect again"):
            call()


def test_close_waits_for_calls_that_are_at_work(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, go_on = threading.Event(), threading.Event()
    answers: list[int] = []

    def slow(*asked: object) -> object:
        at_work.set()
        assert go_on.wait(60)
        return recall(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr("recollect.operations.answers.recalling.recall", slow)
    r = Recollect(home)
    ada = r.zone("ada")
    asking = threading.Thread(target=lambda: answers.append(len(ada.recall("Turin").results)))
    closing = threading.Thread(target=r.close)
    asking.start()
    assert at_work.wait(60)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    with pytest.raises(AlreadyClosed):
        ada.status()
    go_on.set()
    asking.join(60)
    closing.join(60)
    assert not closing.is_alive()
    assert answers[0] > 0


def test_a_call_cannot_close_what_it_works_on(home: Path) -> None:
    with Recollect(home) as r:
        ada = r.zone("ada")
        with pytest.raises(Busy, match="close it afterwards"):
            ada.rebuild("project", progress=lambda done: r.close())
        assert ada.recall("Turin").results


def _in_a_fork(work: Callable[[], object]) -> int:
    """Do something in a forked process; return its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def test_a_forked_process_opens_a_home_of_its_own(home: Path) -> None:
    with Recollect(home) as r:
        ada = r.zone("ada")
        assert ada.recall("Turin").results

        def in_child() -> None:
            with pytest.raises(AlreadyClosed, match="fork"):
                ada.recall("Turin")
            # That of the parent stays as it is.
            r.close()
            with Recollect(home) as own:
                own.zone("ada").ingest(said("m2", "I moved to Oslo.", minute=1))
                assert own.zone("ada").recall("Oslo").results

        assert _in_a_fork(in_child) == 0
        assert ada.recall("Oslo").results[0].source_event_ids == ["m2"]
        assert ada.verify().ok


def test_a_forked_process_holds_no_lock_of_its_parent(home: Path) -> None:
    reading, writing = os.pipe()
    with Recollect(home) as r:
        zone = r.zone("ada")._zone
        with zone.node.driving("ada"):
            child = os.fork()
            if not child:
                # It lives on, and does nothing.
                os.close(writing)
                os.read(reading, 1)
                os._exit(0)
        os.close(reading)
        try:
            # Whoever waits for that lock would wait for as long as the child lives.
            done = threading.Thread(
                target=lambda: r.zone("ada").ingest(said("m2", "I moved to Oslo.", minute=1)),
                daemon=True,
            )
            done.start()
            done.join(60)
            assert not done.is_alive()
        finally:
            os.close(writing)
            os.waitpid(child, 0)


def test_a_query_has_its_text_first() -> None:
    assert Query("Where?", max_results=3) == Query(query="Where?", max_results=3)
