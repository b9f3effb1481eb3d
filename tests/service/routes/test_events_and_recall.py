"""What an agent does all day: send events, ask, look why, have something forgotten."""

from __future__ import annotations

import json

import msgspec

from recollect import Recollect
from recollect.home.access_tokens import AccessTokens
from recollect.schemas.wire import ContextBlock, IngestReport, RecallAnswer, Status
from tests.library.kit import said
from tests.service.kit import Served

NDJSON = {"Content-Type": "application/x-ndjson"}


def test_what_was_sent_can_be_recalled_and_forgotten(service: Served) -> None:
    with service.client("day") as client:
        events = [said("m1", "I live in Turin."), said("m2", "I have a boat.", minute=1)]
        sent = client.post("/v1/zones/day/events?wait=true", json={"events": events})
        assert sent.status_code == 200
        report = msgspec.json.decode(sent.content, type=IngestReport)
        assert (report.read, report.new, report.duplicate, report.rejected) == (2, 2, 0, 0)
        assert report.token
        asked = client.post("/v1/zones/day/memories/recall", json={"query": "Where does Ada live?"})
        answer = msgspec.json.decode(asked.content, type=RecallAnswer)
        assert answer.query == "Where does Ada live?"
        assert answer.results[0].source_event_ids == ["m1"]
        assert answer.results[0].type == "fact", "it waited until that was decided"
        told = client.post("/v1/zones/day/context", json={"task": "Where do I live?"})
        block = msgspec.json.decode(told.content, type=ContextBlock)
        assert "[8 May 2026 Ada] I live in Turin." in block.block
        assert 0 < block.tokens <= 500
        told = client.post("/v1/zones/day/context", json={"task": "Tell a joke.", "max_tokens": 9})
        assert told.json()["block"] == ""
        best = answer.results[0].id
        chain = client.get(f"/v1/zones/day/memories/{best}/why").json()
        assert chain["source_event_ids"] == ["m1"]
        would = client.post("/v1/zones/day/forget", json={"ids": ["m1"], "dry_run": True}).json()
        assert (would["forgotten"], would["events"], would["dry_run"]) == (["m1"], 1, True)
        done = client.post("/v1/zones/day/forget", json={"ids": ["m1"]}).json()
        assert (done["forgotten"], done["facts"]) == (["m1"], 1)
        left = client.post("/v1/zones/day/memories/recall", json={"query": "Turin"}).text
        assert "Turin." not in left
        status = msgspec.json.decode(client.get("/v1/zones/day/status").content, type=Status)
        assert (status.zone, status.events, status.lag) == ("day", 1, 0)


def test_unknown_fields_are_kept_with_an_event_and_refused_elsewhere(service: Served) -> None:
    with service.client("extra", rights=("read", "write", "admin")) as client:
        event = {**said("m1", "I live in Turin."), "sendername": "Ada"}
        batch = {"events": [event], "wiat": True}
        refused = client.post("/v1/zones/extra/events", json=batch)
        assert refused.status_code == 422
        assert "wiat" in refused.json()["detail"]
        assert client.post("/v1/zones/extra/events", json={"events": [event]}).json()["new"] == 1
        (line,) = client.get("/v1/zones/extra/export").text.splitlines()
        assert json.loads(line)["metadata"]["sendername"] == "Ada"
        playbook = {"name": "release", "strategies": [{"text": "Ask.", "confidance": 0.5}]}
        refused = client.post("/v1/zones/extra/playbooks", json=playbook)
        assert refused.status_code == 422
        (error,) = refused.json()["errors"]
        assert error["pointer"] == "#/strategies/0"
        assert "`confidance`; did you mean confidence?" in error["detail"]


def test_one_event_stands_for_itself_and_a_second_time_for_nothing(service: Served) -> None:
    with service.client("one") as client:
        event = said("m1", "The key is blue.")
        assert client.post("/v1/zones/one/events", json=event).json()["new"] == 1
        again = client.post("/v1/zones/one/events", json=event).json()
        assert (again["new"], again["duplicate"]) == (0, 1)


def test_lines_are_taken_as_they_come_and_refused_by_their_place(service: Served) -> None:
    """In three parts that end in the middle of a line, with a blank line and two bad ones."""
    good = [json.dumps(said(f"m{number}", f"Thing {number}.")) for number in range(3)]
    body = "\n".join([good[0], "", "{nothing", good[1], '{"platform": "chat"}', good[2]])
    parts = [body[:40].encode(), body[40:90].encode(), body[90:].encode()]
    with service.client("lines") as client:
        sent = client.post("/v1/zones/lines/events", content=iter(parts), headers=NDJSON).json()
    assert (sent["read"], sent["new"], sent["rejected"]) == (5, 3, 2)
    assert [rejection["line"] for rejection in sent["rejections"]] == [3, 5]


def test_records_without_an_id_that_are_alike_are_counted_through_all_parts(
    service: Served,
) -> None:
    """As in a file: the second is a second event, and sending all again adds nothing."""
    event = {key: value for key, value in said("", "Ping.").items() if key != "id"}
    filler = [said(f"f{number}", "x" * 60_000, minute=number) for number in range(20)]
    lines = [json.dumps(each).encode() for each in (event, *filler, event)]
    with service.client("pings") as client:
        for new in (len(lines), 0):
            sent = client.post(
                "/v1/zones/pings/events", content=b"\n".join(lines), headers=NDJSON
            ).json()
            assert (sent["read"], sent["new"]) == (len(lines), new)


def test_a_line_that_is_far_too_long_is_refused_and_the_others_stand(service: Served) -> None:
    lines = [json.dumps(said("m1", "Before.")), "x" * 3_000_000, json.dumps(said("m2", "After."))]
    with service.client("long") as client:
        sent = client.post(
            "/v1/zones/long/events", content="\n".join(lines).encode(), headers=NDJSON
        ).json()
    assert (sent["new"], sent["rejected"]) == (2, 1)
    assert "the maximum is" in sent["rejections"][0]["reason"]


def test_events_say_who_sent_them_whatever_they_say_themselves(service: Served) -> None:
    event = said("m1", "I am Bob.", metadata={"recollect_principal": {"user": "eve"}, "mood": "ok"})
    with service.client("marks", user="bob", agent="notes") as client:
        client.post("/v1/zones/marks/events?wait=true", json=event)
    with Recollect(service.home) as opened:
        zone = opened.zone("marks")
        with zone._zone.files() as files:
            ((metadata,),) = files.events.connection.execute("SELECT metadata FROM events")
    kept = json.loads(metadata)
    assert kept["mood"] == "ok"
    marked = kept["recollect_principal"]
    assert (marked["user"], marked["agent"], marked["zone"]) == ("bob", "notes", "marks")
    assert set(marked) == {"user", "agent", "zone", "token"}


def test_a_command_names_who_gave_it_until_the_token_is_revoked(service: Served) -> None:
    with service.client("givers") as reader:

        def givers() -> list[str | None]:
            found = reader.get("/v1/zones/givers/records", params={"kinds": ["retract", "forget"]})
            return [each["given_by"] for each in found.json()["records"]]

        for name, text in (("m1", "I live in Turin."), ("m2", "I have two cats.")):
            reader.post("/v1/zones/givers/events?wait=true", json=said(name, text))
        own = AccessTokens(service.home).create(("givers",), ("write", "forget"), user="bob")
        with service.bare(Authorization=f"Bearer {own.token}") as bob:
            assert bob.post("/v1/zones/givers/memories/m1/retract", json={}).status_code == 200
            assert bob.post("/v1/zones/givers/forget", json={"ids": ["m2"]}).status_code == 200
        assert givers() == ["bob", "bob"]
        payload = reader.get("/v1/zones/givers/records/3").json()["payload"]
        assert payload["given_by"] == own.id
        assert "bob" not in json.dumps(payload)
        AccessTokens(service.home).revoke(own.id)
        assert givers() == [own.id, own.id]


def test_when_all_is_refused_the_answer_says_what_and_where(service: Served) -> None:
    with service.client("none") as client:
        client.post("/v1/zones/none/events", json=said("m0", "So that there is a zone."))
        sent = client.post(
            "/v1/zones/none/events", json={"events": [said("m1", "x"), {"platform": "chat"}]}
        )
        assert sent.json()["rejected"] == 1
        sent = client.post("/v1/zones/none/events", json={"events": [{"platform": "chat"}]})
    assert sent.status_code == 422
    assert sent.headers["content-type"] == "application/problem+json"
    problem = sent.json()
    assert problem["type"] == "urn:recollect:problem:invalid"
    assert problem["errors"][0]["pointer"] == "#/events/0"
    assert "sender_id" in problem["errors"][0]["detail"]
    assert "sender_id" in problem["detail"]


def test_the_only_event_of_a_body_is_refused_at_its_root(service: Served) -> None:
    """There is no `events` in it that a pointer could lead through."""
    with service.client("root") as client:
        sent = client.post("/v1/zones/root/events", json=said("m1", ""))
    assert sent.status_code == 422
    (error,) = sent.json()["errors"]
    assert error["pointer"] == "#"
    assert "empty" in error["detail"]
    assert error["detail"] in sent.json()["detail"]


def test_an_answer_takes_no_more_tokens_than_it_may(service: Served) -> None:
    """Without an encoder a word of three letters is a token; the longest memory has eleven."""
    with service.client("room") as client:
        texts = ["Box box box box.", "Box box.", "Box box box box box box box box box box."]
        events = [said(f"m{n}", text, minute=n) for n, text in enumerate(texts)]
        client.post("/v1/zones/room/events?wait=true", json={"events": events})
        for most in (1, 4, 8, 12, 14, 1_000):
            asked = {"query": "box", "max_tokens": most, "scope": ["events"]}
            found = client.post("/v1/zones/room/memories/recall", json=asked).json()["results"]
            taken = sum(len(result["text"].replace(".", "").split()) + 1 for result in found)
            assert taken <= most
        assert sorted(len(result["text"].split()) for result in found) == [2, 4, 10]
        wrong = client.post("/v1/zones/room/memories/recall", json={"query": "x", "max_tokens": 0})
        assert wrong.status_code == 422


def test_the_best_answer_is_cut_before_a_worse_one_takes_its_place(service: Served) -> None:
    """A word of three letters is a token, and so is a stop; the mark of the cut is three."""
    best = "Box box box box box box box box box box."
    with service.client("narrow") as client:
        events = [said(f"m{n}", text, minute=n) for n, text in enumerate(["Box box.", best])]
        client.post("/v1/zones/narrow/events?wait=true", json={"events": events})

        def found(most: int) -> list[tuple[str, bool]]:
            asked = {"query": "box", "max_tokens": most, "scope": ["events"]}
            results = client.post("/v1/zones/narrow/memories/recall", json=asked).json()["results"]
            return [(result["text"], result.get("is_cut", False)) for result in results]

        assert found(14) == [(best, False), ("Box box.", False)]
        assert found(13) == [(best, False)]
        assert found(10) == [("Box box box box box box box …", True)]
        assert found(4) == [("Box …", True)]
        assert found(3) == []
