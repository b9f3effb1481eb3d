"""A worker loses nothing and doubles nothing, whoever is killed; what cannot go on ends, named."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from recollect.streams.ledger.ledger import PARTITIONS
from tests.broker import security
from tests.broker.kafka import Broker
from tests.delivery.kit import Place, until

EACH = range(PARTITIONS)


def complete(place: Place, topic: str, count: int) -> bool:
    """Whether each record of the topic was delivered; the handler's key allows each but once."""
    return all(place.offsets(topic, number) == list(range(count)) for number in EACH)


def test_killed_again_and_again_it_goes_on_at_the_cursor(place: Place) -> None:
    place.make_topics()
    place.produce(place.events, dict.fromkeys(EACH, 400))
    for kill in range(2):
        # With a name in the group, the next one need not wait for the last one's session.
        worker = place.worker(member="one", batch=20, pause=0.02)
        place.until_rows(500 * (kill + 1))
        worker.end(signal.SIGKILL)
    place.produce(place.inbox, {7: 100})
    worker = place.worker(member="one")
    place.until_rows(12 * 400 + 100)
    assert worker.end()[0] == 0
    assert complete(place, place.events, 400)
    assert place.offsets(place.inbox, 7) == list(range(100))
    delivered = place.ask("SELECT value FROM rows WHERE topic = ? AND number = 3", place.events)
    assert sorted(int(value) for (value,) in delivered) == list(range(400))


def test_workers_come_and_go_during_deliveries(place: Place) -> None:
    place.make_topics()
    slowly = {"batch": 10, "pause": 0.1, "session_timeout": 2.0}
    one = place.worker(**slowly)

    def deliver_some(workers: int) -> None:
        until(lambda: len(place.assignments()) == workers)
        produced = 12 * 150 * (workers - 1)
        place.produce(place.events, dict.fromkeys(EACH, 150))
        place.until_rows(produced + 100)

    deliver_some(1)
    two = place.worker(**slowly)
    deliver_some(2)
    assert one.end()[0] == 0
    three = place.worker(**slowly)
    deliver_some(3)
    two.end(signal.SIGKILL)
    place.until_rows(12 * 450)
    assert three.end()[0] == 0
    assert complete(place, place.events, 450)


def test_the_same_partition_of_both_topics_goes_to_the_same_worker(place: Place) -> None:
    place.make_topics()
    # Dealt out one after the other, five would get different ones of the second topic.
    workers = [place.worker() for _ in range(5)]

    def shared_out() -> bool:
        shares = place.assignments()
        numbers = [number for share in shares.values() for _, number in share]
        return len(shares) == 5 and sorted(numbers) == sorted([*EACH, *EACH])

    until(shared_out)
    for share in place.assignments().values():
        assert {n for t, n in share if t == place.inbox} == {
            n for t, n in share if t == place.events
        }
    for worker in workers:
        worker.process.terminate()
    assert [worker.ended()[0] for worker in workers] == [0] * 5
    made = {each for each in place.admin(lambda admin: admin.list_topics()) if place.group in each}
    assert made == {place.inbox, place.events}, "Faust made topics of its own"


def test_a_record_that_cannot_be_handled_ends_it_and_is_not_lost(place: Place) -> None:
    place.make_topics()
    place.produce(place.events, dict.fromkeys(EACH, 120))
    for offset in (50, 74, 99):  # the first of a delivery, one in the middle, and the last
        worker = place.worker(member="one", batch=50, poison=(place.events, 5, offset))
        code, said = worker.ended()
        assert code == 1
        assert f"records 50 to 99 of partition 5 of topic {place.events}" in said
        assert "ValueError: poison" in said
        assert place.offsets(place.events, 5) == list(range(50))
    assert place.committed()[place.events, 5] <= 50
    worker = place.worker(member="one")
    place.until_rows(12 * 120)
    assert worker.end()[0] == 0
    assert complete(place, place.events, 120)


@pytest.mark.parametrize("method", ["assigned", "cursor"])
def test_a_handler_that_fails_before_any_delivery_ends_it(place: Place, method: str) -> None:
    place.make_topics()
    code, said = place.worker(broken=method).ended()
    assert code == 1
    assert f"ValueError: {method} is broken" in said


def test_what_may_succeed_later_is_tried_again(place: Place) -> None:
    place.make_topics()
    place.produce(place.events, {5: 120, 6: 120})
    worker = place.worker(poison=(place.events, 5, 60), poisoned=3)
    place.until_rows(240)
    code, said = worker.end()
    assert code == 0
    assert said.count("trying again") == 3
    assert place.committed()[place.events, 5] == 120


def test_a_take_over_may_take_longer_than_a_session(place: Place) -> None:
    place.make_topics()
    place.produce(place.events, {5: 120})
    worker = place.worker(session_timeout=3.0, takeover=6.0)
    place.until_rows(120)
    assert worker.end()[0] == 0
    assert place.happened("assigned") == 1


def test_a_slow_delivery_is_waited_for_at_the_end(place: Place) -> None:
    place.make_topics()
    place.produce(place.events, {5: 120})
    worker = place.worker(pause=2.0)
    until(lambda: place.happened("delivering"))
    assert worker.end() == (0, "")
    assert place.rows() == 120


def test_an_end_that_takes_too_long_is_made_one(place: Place) -> None:
    place.make_topics()
    place.produce(place.events, {5: 120})
    worker = place.worker(pause=600.0, stop_timeout=1.0)
    until(lambda: place.happened("delivering"))
    code, said = worker.end()
    assert code == 1
    assert "it did not stop within 1 s and is killed" in said


def test_a_topic_that_ends_before_the_cursor_is_named(place: Place) -> None:
    place.make_topics()
    place.produce(place.events, {5: 40})
    worker = place.worker()
    place.until_rows(40)
    worker.end()
    place.admin(lambda admin: admin.delete_topics([place.events]))
    until(lambda: place.events not in place.admin(lambda admin: admin.list_topics()))
    place.make_topics(place.events)
    place.produce(place.events, {5: 10})
    code, said = place.worker().ended()
    assert code == 1
    assert f"LedgerGap: partition 5 of topic {place.events} holds the offsets 0 to 9" in said
    assert "but the next offset to read is 40" in said


def test_deleted_records_are_missed_only_in_a_dense_topic(place: Place) -> None:
    place.make_topics()
    # More than is fetched at once, so that some is deleted before it is read.
    for topic in (place.inbox, place.events):
        place.produce(topic, {5: 200}, size=20_000)
    worker = place.worker(batch=5, pause=0.3)
    until(lambda: place.offsets(place.inbox, 5))
    place.delete_before(place.inbox, 5, 180)
    until(lambda: place.offsets(place.inbox, 5)[-1:] == [199])
    assert len(place.offsets(place.inbox, 5)) < 200
    place.delete_before(place.events, 5, 180)
    code, said = worker.ended()
    assert code == 1
    delivered = place.offsets(place.events, 5)
    assert delivered == list(range(len(delivered)))
    assert f"LedgerGap: partition 5 of topic {place.events} holds the offsets 180 to 199" in said
    assert f"but the next offset to read is {len(delivered)}" in said


def test_a_missing_topic_is_named_and_not_made(place: Place) -> None:
    place.make_topics(place.inbox)
    code, said = place.worker().ended()
    assert code == 1
    assert f"topic {place.events} does not exist" in said
    assert place.events not in place.admin(lambda admin: admin.list_topics())


def test_a_topic_that_is_deleted_under_way_ends_it(place: Place) -> None:
    place.make_topics()
    worker = place.worker()
    until(place.assignments)
    place.admin(lambda admin: admin.delete_topics([place.events]))
    code, said = worker.ended()
    assert code == 1
    assert "a topic was deleted" in said


def test_a_group_that_will_not_have_it_is_named(place: Place) -> None:
    place.make_topics()
    code, said = place.worker(session_timeout=0.2).ended()
    assert code == 1
    assert f"cannot join group {place.group} (InvalidSessionTimeoutError" in said


@pytest.mark.kafka
def test_it_speaks_tls_and_logs_in_and_outlives_its_broker(tmp_path: Path) -> None:
    with Broker(tmp_path / "secure", secure=True) as broker:
        place = Place(broker.address, "secure", tmp_path)
        place.make_topics()
        # More than is fetched at once, so that the broker is needed again.
        place.produce(place.events, dict.fromkeys(EACH, 100), size=20_000)
        login: dict[str, object] = {
            "servers": [broker.addresses["SASL_SSL"]],
            "certificate": str(broker.certificate),
        }
        code, said = place.worker(**login, sasl=("PLAIN", security.USER, "wrong")).ended()
        assert code == 1
        assert "cannot be reached, or rejects this client" in said
        login["sasl"] = ("PLAIN", security.USER, security.PASSWORD)
        worker = place.worker(**login, batch=5, pause=0.1)
        place.until_rows(100)
        broker.kill()
        broker.start()
        place.until_rows(1200)
        broker.kill()
        assert worker.end()[0] == 0, "without a broker, it ends all the same"
    assert complete(place, place.events, 100)
