"""Hindsight's own client, pointed at the service; and what a token may not do there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hindsight_client import Hindsight
from hindsight_client.hindsight_client import _run_async as run
from hindsight_client_api.exceptions import ApiException
from hindsight_client_api.models.update_document_request import UpdateDocumentRequest
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest
from litestar import Litestar
from litestar.routes import HTTPRoute

from recollect.home.access_tokens import AccessTokens
from recollect.integrations.hindsight.hindsight_routes import ROUTER
from tests.library.kit import said
from tests.service.kit import EVERYTHING, Served

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "clients.md").read_text()
TALE = "The lighthouse keeper of Brindisi counts the ships that pass. "


def test_the_guide_names_every_path_and_its_right() -> None:
    told = re.findall(r"^\| `([A-Z]+) (/v1/default/[^`]*?)` \| (\w*) ?\|", GUIDE, re.MULTILINE)
    ours = {
        (method, re.sub(r"\{(\w+):str\}", "{}", route.path)): handler.opt["right"]
        for route in Litestar([ROUTER], openapi_config=None).routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        if handler.handler_name != "not_served"
        for method in handler.http_methods & {"GET", "PUT", "POST", "PATCH", "DELETE"}
    }
    assert {(method, re.sub(r"\{\w+\}", "{}", path)): right for method, path, right in told} == ours


@pytest.fixture
def client(service: Served) -> Iterator[Hindsight]:
    """Their client with a token for every zone."""
    made = AccessTokens(service.home).create(["*"], EVERYTHING)
    client = Hindsight(base_url=service.url, api_key=made.token)
    yield client
    client.close()


def test_what_is_retained_is_recalled_with_what_stands_beside_it(client: Hindsight) -> None:
    bank = client.create_bank("tales", name="Tales")
    assert bank.bank_id == "tales"
    assert client.recall("tales", "anything").results == []
    done = client.retain(
        "tales",
        "I live in Turin.",
        timestamp="2026-05-08T13:56:00",
        context="a chat",
        document_id="d1",
        metadata={"by": "Ada"},
        tags=["home"],
    )
    assert (done.success, done.items_count, done.var_async) == (True, 1, False)
    batch = client.retain_batch(
        "tales",
        [{"content": "I own a boat called Zephyr."}, {"content": "I keep bees in the garden."}],
        document_tags=["hobby"],
    )
    assert batch.items_count == 2
    (found,) = client.recall(
        "tales", "Who lives in Turin?", tags=["home"], tags_match="exact"
    ).results
    assert (found.context, found.document_id, found.metadata) == ("a chat", "d1", {"by": "Ada"})
    assert (found.tags, found.type) == (["home"], "world")
    assert str(found.mentioned_at).startswith("2026-05-08T13:56:00")
    assert found.occurred_start is None
    assert found.scores is not None
    assert 0 < found.scores.final <= 1

    def tags(match: Any, *wanted: str) -> set[str]:
        answer = client.recall(
            "tales", "Turin boat Zephyr bees", tags=list(wanted), tags_match=match
        )
        return {tag for result in answer.results for tag in result.tags or ()}

    assert tags("any_strict", "home") == {"home"}
    assert tags("any_strict", "home", "hobby") == {"home", "hobby"}
    assert tags("all_strict", "home", "hobby") == set()
    assert tags("any", "hobby") == {"hobby"}
    assert client.recall("tales", "Turin", types=["experience"]).results == []


def test_a_document_that_is_retained_again_takes_its_own_place(client: Hindsight) -> None:
    for part in ("I live in Turin.", "I have a cat."):
        client.retain("docs", part, document_id="d", update_mode="append")
    client.retain("docs", "I keep a parrot.", document_id="other")
    client.retain("docs", "I live in Oslo.", document_id="d")
    texts = " ".join(
        result.text for result in client.recall("docs", "live Turin Oslo cat parrot").results
    )
    assert "Oslo" in texts
    assert "parrot" in texts
    assert "Turin" not in texts
    assert "cat" not in texts


def test_an_operation_is_done_once_and_can_be_asked_for(client: Hindsight) -> None:
    for _ in range(2):
        done = client.retain_batch(
            "once",
            [{"content": "I keep bees in the garden."}],
            operation_id="op-1",
            retain_async=True,
        )
        assert (done.var_async, done.operation_id) == (True, "op-1")
    client.retain("once", "I own a boat.")
    with httpx.Client(base_url=client._api_client.configuration.host) as http:
        http.headers["Authorization"] = f"Bearer {client._api_client.configuration.access_token}"
        found = http.get("/v1/default/banks/once/operations/op-1").json()
        assert (found["status"], found["items_count"]) == ("completed", 1)
        listed = http.get("/v1/default/banks/once/operations").json()
        assert listed["total"] == 2
        assert http.get("/v1/default/banks/once/operations/op-9").status_code == 404
        stats = http.get("/v1/default/banks/once/stats").json()
        assert stats["total_documents"] == 2
        banks = http.get("/v1/default/banks").json()["banks"]
        assert "once" in {bank["bank_id"] for bank in banks}


def test_max_tokens_is_never_overshot(client: Hindsight) -> None:
    client.retain_batch("long", [{"content": TALE * n + f"It is page {n}."} for n in range(1, 12)])
    everything = client.recall("long", "lighthouse keeper of Brindisi", max_tokens=100_000).results
    assert len(everything) >= 5
    for most in (1, 15, 40, 300, 1_000):
        found = client.recall("long", "lighthouse keeper of Brindisi", max_tokens=most).results
        # No tokenizer makes fewer than one token of a word.
        assert sum(len(re.findall(r"\w+|[^\w\s]", result.text)) for result in found) <= most
        report = client.reflect("long", "lighthouse keeper of Brindisi", max_tokens=most).text
        assert len(re.findall(r"\w+", report)) <= most
    assert client.recall("long", "lighthouse keeper", max_tokens=300).results


def test_reflect_lists_entities_and_mental_models(client: Hindsight) -> None:
    client.retain_batch(
        "lists", [{"content": "I live in Turin."}, {"content": "I keep bees in the garden."}]
    )
    report = client.reflect("lists", "Who lives in Turin?", include_facts=True)
    assert "Turin" in report.text
    assert report.based_on is not None
    assert any("Turin" in fact.text for fact in report.based_on.memories or ())
    listed = client.list_memories("lists", limit=1)
    assert (listed.total, len(listed.items), listed.limit) == (2, 1, 1)
    second = client.list_memories("lists", limit=1, offset=1)
    assert {listed.items[0].text, second.items[0].text} == {
        "user: I live in Turin.",
        "user: I keep bees in the garden.",
    }
    assert client.list_memories("lists", search_query="BEES").total == 1
    made = client.create_mental_model("lists", "Homes", "Who lives in Turin?")
    assert made.mental_model_id
    model = client.get_mental_model("lists", made.mental_model_id)
    assert (model.name, "Turin" in model.content) == ("Homes", True)
    assert [one.id for one in client.list_mental_models("lists").items] == [made.mental_model_id]
    client.delete_mental_model("lists", made.mental_model_id)
    assert client.list_mental_models("lists").items == []


CALLS: list[tuple[str, str, str, dict[str, Any] | None]] = [
    ("write", "PUT", "", {}),
    ("read", "GET", "/profile", None),
    ("write", "POST", "/memories", {"items": [{"content": "I hid it."}]}),
    ("read", "POST", "/memories/recall", {"query": "Who hid it in Turin?"}),
    ("read", "POST", "/reflect", {"query": "Who hid it in Turin?"}),
    ("read", "GET", "/memories/list", None),
    ("read", "GET", "/memories/x", None),
    ("read", "GET", "/entities", None),
    ("read", "GET", "/entities/x", None),
    ("read", "GET", "/mental-models", None),
    ("write", "POST", "/mental-models", {"name": "n", "source_query": "Who hid it?"}),
    ("read", "GET", "/mental-models/x", None),
    ("forget", "DELETE", "/mental-models/x", None),
    ("read", "GET", "/operations", None),
    ("read", "GET", "/operations/x", None),
    ("read", "GET", "/stats", None),
    ("read", "GET", "/config", None),
    ("write", "PATCH", "/config", {"updates": {"retain_mission": "Note what is hidden."}}),
    ("write", "PATCH", "", {"name": "Own"}),
    ("write", "PUT", "/profile", {"disposition": {"empathy": 4}}),
    ("read", "GET", "/tags", None),
    ("write", "PATCH", "/memories/x", {"text": "I hid nothing."}),
    ("write", "PATCH", "/mental-models/x", {"source_query": "Who hid it?"}),
    ("read", "GET", "/documents", None),
    ("read", "GET", "/documents/x", None),
    ("forget", "DELETE", "/documents/x", None),
    ("forget", "DELETE", "/memories", None),
    ("forget", "DELETE", "", None),
]


def test_every_path_asks_for_its_right_and_nothing_of_another_zone_comes_out(
    service: Served,
) -> None:
    secret = {"items": [{"content": "I hid the qxcanaryword in Turin.", "document_id": "qxd"}]}
    with service.client("zoneqxb") as other:
        other.post("/v1/default/banks/zoneqxb/memories", json=secret).raise_for_status()
        other.post("/v1/zones/zoneqxb/events", json=said("m9", "The qxcanaryword again."))
    nobody, forged = service.bare(), service.bare(Authorization="Bearer rct_1_2")
    without = {
        right: service.client("own", tuple(one for one in EVERYTHING if one != right))
        for right in EVERYTHING
    }
    whole = service.client("own")
    before = len(service.log.getvalue())
    for right, method, path, body in CALLS:
        own = f"/v1/default/banks/own{path}"
        for client in (nobody, forged):
            assert client.request(method, own, json=body).status_code == 401, path
        refused = without[right].request(method, own, json=body)
        assert refused.status_code == 404, (path, refused.text)
        assert refused.json()["detail"].startswith("there is nothing at this address")
        for zone in ("zoneqxb", "nowhere", "b" * 80):
            answer = whole.request(method, f"/v1/default/banks/{zone}{path}", json=body)
            assert answer.status_code == 404, (path, zone)
            assert answer.json()["detail"] == refused.json()["detail"]
        for place in (own, *(own.replace("/x", f"/{id_}") for id_ in ("m9", "qxd"))):
            answer = whole.request(method, place, json=body)
            assert answer.status_code < 500, (place, answer.text)
            assert "qxcanary" not in f"{answer.headers} {answer.text}", place
    banks = whole.get("/v1/default/banks").json()["banks"]
    assert [bank["bank_id"] for bank in banks] == ["own"]
    assert "qxcanary" not in service.log.getvalue()[before:]
    for client in (nobody, forged, whole, *without.values()):
        client.close()


def test_what_cannot_be_done_is_said(client: Hindsight) -> None:
    client.retain("errors", "I live in Turin.", operation_id="once", retain_async=True)
    for call in (
        lambda: client.retain("errors", " "),
        lambda: client.retain(
            "errors",
            [{"type": "image", "source": {"type": "base64", "media_type": "x", "data": ""}}],
        ),
        lambda: client.reflect("errors", "Turin", response_schema={"type": "object"}),
        lambda: client.reflect("errors", "Turin", fact_types=["world"]),
        lambda: client.recall("errors", "Turin", max_tokens=0),
        lambda: client.create_mental_model("errors", "Nothing", "qxnothing"),
        lambda: client.get_mental_model("errors", "nothing"),
    ):
        with pytest.raises(ApiException) as caught:
            call()
        assert caught.value.status in (404, 422, 501)


def texts(client: Hindsight, bank: str) -> set[str]:
    return {one["text"] for one in client.list_memories(bank).to_dict()["items"]}


def test_what_is_held_is_changed_and_erased(client: Hindsight) -> None:
    client.retain("upkeep", "I live in Turin.", document_id="homes", tags=["t"])
    client.retain("upkeep", "I own a boat.", document_id="homes", update_mode="append")
    client.retain("upkeep", "I keep bees.")

    (turin,) = client.list_memories("upkeep", search_query="Turin").to_dict()["items"]
    changed = UpdateMemoryRequest(text="I live in Oslo.")
    run(client.memory.update_memory("upkeep", turin["id"], changed))
    assert any("Oslo" in one for one in texts(client, "upkeep"))

    (shown,) = run(client.documents.list_documents("upkeep")).items
    assert (shown.id, shown.tags) == ("homes", [])
    found = run(client.documents.get_document("upkeep", "homes"))
    assert (found.original_text, found.memory_unit_count) == ("I live in Oslo.\nI own a boat.", 2)

    made = client.create_mental_model("upkeep", "Homes", "Who lives in Oslo?")
    newer = client.update_mental_model("upkeep", made.mental_model_id, source_query="Who has bees?")
    assert "bees" in newer.content
    # Its id stays, and finds what it says now.
    again = client.update_mental_model("upkeep", newer.id, source_query="Who owns a boat?")
    (listed,) = client.list_mental_models("upkeep").items
    assert {made.mental_model_id} == {newer.id, again.id, listed.id}
    found = client.get_mental_model("upkeep", made.mental_model_id)
    assert found.content.startswith("# Who owns a boat?")

    gone = run(client.documents.delete_document("upkeep", "homes"))
    assert gone.document_id == "homes"
    assert not any("Oslo" in one or "Turin" in one for one in texts(client, "upkeep"))
    client.retain("upkeep", "I play the cello.")
    client.delete_bank("upkeep")
    assert texts(client, "upkeep") == set()
    assert client.list_mental_models("upkeep").items == []
    client.retain("upkeep", "I play the cello.")
    run(client.memory.clear_bank_memories("upkeep"))
    assert texts(client, "upkeep") == set()


def test_what_is_not_served_says_so(client: Hindsight, service: Served) -> None:
    assert client.get_version().features.mcp is True
    assert client.get_bank_config("plain")["overrides"] == {}
    for call in (
        lambda: client.list_directives("plain"),
        lambda: client.get_knowledge_base_tree("plain"),
        lambda: client.export_bank("plain"),
    ):
        with pytest.raises(ApiException) as caught:
            call()
        assert caught.value.status == 501
        assert "not-served" in str(caught.value.body)
    assert service.bare().get("/v1/default/chunks/c1").status_code == 401
    assert service.bare().get("/v1/default/banks/plain/directives").status_code == 401


SPOKEN = {
    "roles in brackets": (
        "[role: user]\nI moved to Oslo.\n[user:end]\n\n"
        "[role: assistant]\nI moved to Prague, and my name is Claude.\n[assistant:end]\n"
    ),
    "labelled lines": (
        "User: I moved to Oslo.\nAssistant: I moved to Prague, and my name is Claude.\nUser: Yes."
    ),
    "bold labels": (
        "**Human:** I moved to Oslo.\n\n**AI:** I moved to Prague, and my name is Claude."
    ),
    "JSON": json.dumps(
        [
            {"role": "user", "content": "I moved to Oslo."},
            {"role": "assistant", "content": "I moved to Prague, and my name is Claude."},
        ]
    ),
    "JSON, one a line": "\n".join(
        json.dumps({"role": role, "content": content})
        for role, content in (
            ("user", "I moved to Oslo."),
            ("assistant", "I moved to Prague, and my name is Claude."),
        )
    ),
}


@pytest.mark.parametrize("form", SPOKEN)
def test_a_conversation_is_kept_as_each_speaker_s(client: Hindsight, form: str) -> None:
    """Fault 8."""
    bank = f"spoken-{abs(hash(form)) % 10**6}"
    client.retain(bank, SPOKEN[form], document_id="talk", tags=["chat"])
    assert texts(client, bank) == {"user: I moved to Oslo."}
    document = run(client.documents.get_document(bank, "talk"))
    assert "I moved to Oslo." in document.original_text
    assert "I moved to Prague" in document.original_text
    if not form.startswith("JSON"):
        assert document.original_text == SPOKEN[form].rstrip("\n")
    found = client.recall(bank, "Prague Claude").results
    assert all(result.tags == ["chat"] for result in found)
    again = client.retain(bank, "I moved to Bergen.", document_id="talk")
    assert again.success
    assert texts(client, bank) == {"user: I moved to Bergen."}
    document = run(client.documents.get_document(bank, "talk"))
    assert document.original_text == "I moved to Bergen."
    found = client.recall(bank, "Prague Claude Oslo").results
    assert not any("Prague" in result.text or "Oslo" in result.text for result in found)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Nora: I sold my canoe.", {"Nora sold Nora's canoe."}),
        (
            "[2026-03-01 10:02] Nora: I sold my canoe.\n[10:03] Ben: I work as a welder.",
            {"Nora sold Nora's canoe.", "Ben works as a welder."},
        ),
        ("Reminder: I sold my canoe.", None),
    ],
)
def test_a_line_with_a_name_is_of_who_has_it(
    client: Hindsight, content: str, expected: set[str] | None
) -> None:
    """Fault 8."""
    bank = f"named-{abs(hash(content)) % 10**6}"
    client.retain(bank, content)
    if expected is None:
        assert not any("Reminder sold" in text for text in texts(client, bank))
    else:
        assert {text.replace("her", "Nora's") for text in texts(client, bank)} == expected


def test_a_conversation_that_is_sent_twice_is_kept_once(client: Hindsight) -> None:
    """Fault 8."""
    for _ in range(2):
        client.retain("twice", SPOKEN["labelled lines"], operation_id="op", document_id="d")
    operation = run(client.operations.list_operations("twice")).operations[0]
    assert operation.items_count == 1
    document = run(client.documents.get_document("twice", "d"))
    assert document.original_text == SPOKEN["labelled lines"]


def test_who_asks_for_observations_gets_what_is_known(client: Hindsight) -> None:
    """Fault 9."""
    client.retain("seen", "I live in Turin.", document_id="d1", tags=["home"], metadata={"n": "1"})
    (found,) = client.recall("seen", "Who lives in Turin?", types=["observation"]).results
    assert (found.type, found.text) == ("observation", "user: I live in Turin.")
    assert found.source_fact_ids == [found.id]
    assert (found.tags, found.document_id, found.metadata) == (["home"], "d1", {"n": "1"})


def test_facts_have_the_tags_of_their_document(client: Hindsight) -> None:
    """Fault 9."""
    client.retain("tagged", "I live in Turin. I play chess.", document_id="d", tags=["a:1", "b"])
    client.retain("tagged", "I work as a welder.", tags=["b"])
    client.retain("tagged", "I own a boat.")
    listed = client.list_memories("tagged").items
    assert {item.text: set(item.tags or ()) for item in listed} == {
        "user: I live in Turin.": {"a:1", "b"},
        "user: I play chess.": {"a:1", "b"},
        "user: I work as a welder.": {"b"},
        "user: I own a boat.": set(),
    }
    assert {item.document_id for item in listed} == {"d", None}
    assert client.list_memories("tagged", tags=["a:1"], tags_match="any_strict").total == 2
    assert client.list_memories("tagged", document_id="d").total == 2
    tags = run(client.memory.list_tags("tagged"))
    assert {item.tag: item.count for item in tags.items} == {"b": 3, "a:1": 2}
    assert tags.total == 2
    assert [item.tag for item in run(client.memory.list_tags("tagged", q="A:*")).items] == ["a:1"]
    report = client.reflect(
        "tagged", "Turin chess welder boat", tags=["a:1"], tags_match="any_strict"
    )
    lines = report.text.partition("\n")[2]
    assert "chess" in lines
    assert "welder" not in lines
    assert "boat" not in lines
    group = [{"and": [{"tags": ["b"]}, {"not": {"tags": ["a:1"]}}]}]
    found = client.recall("tagged", "welder chess", tag_groups=group).results
    assert [one.text for one in found] == ["user: I work as a welder."]


def test_names_and_missions_of_banks_are_kept(client: Hindsight, service: Served) -> None:
    """Fault 9."""
    made = client.create_bank(
        "named", name="The Office", mission="Help with invoices.", disposition={"empathy": 5}
    )
    assert (made.name, made.mission, made.disposition.empathy) == (
        *("The Office", "Help with invoices."),
        5,
    )
    client.set_mission("named", "Help with taxes.")
    shown = run(client.banks.get_bank_profile("named"))
    assert (shown.name, shown.mission) == ("The Office", "Help with taxes.")
    config = client.update_bank_config("named", retain_mission="Only what is about money.")
    assert config["overrides"]["retain_mission"] == "Only what is about money."
    listed = {one.bank_id: one for one in run(client.banks.list_banks()).banks}
    assert (listed["named"].name, listed["named"].mission) == ("The Office", "Help with taxes.")
    # It is nothing that was retained.
    assert texts(client, "named") == set()
    assert client.recall("named", "taxes invoices money").results == []
    client.retain("named", "I live in Turin.")
    run(client.memory.clear_bank_memories("named"))
    assert run(client.banks.get_bank_profile("named")).name == "The Office"
    client.delete_bank("named")
    assert run(client.banks.get_bank_profile("named")).name == "named"
    for call in (
        lambda: client.update_bank_config("named", retain_extraction_mode="verbatim"),
        lambda: client.reset_bank_config("named"),
        lambda: run(client.documents.update_document("named", "d", UpdateDocumentRequest(tags=[]))),
        lambda: client.create_bank("named", enable_reranking=False),
    ):
        with pytest.raises(Exception, match=r"501|Not Implemented"):
            call()


def test_health_is_told_to_anybody(service: Served) -> None:
    """Fault 9."""
    answer = httpx.get(f"{service.url}/health")
    assert answer.status_code == 200
    assert answer.json()["status"] in ("healthy", "starting")


def test_what_is_over_is_not_recalled(client: Hindsight) -> None:
    """Fault 5."""
    for _ in range(3):
        client.retain("over", "I live in Paris.")
    client.retain("over", "I moved to Lyon.")
    assert not any("Paris" in text for text in texts(client, "over"))
    for question in ("Where does user live?", "Paris", "Lyon Paris"):
        found = [result.text for result in client.recall("over", question).results]
        assert not any("Paris" in text for text in found), question
    old = client.list_memories("over", state="invalidated")
    assert [item.text for item in old.items] == ["user: I live in Paris."]


SEVERAL = (
    "I live in Turin. My favourite tea is oolong. I am allergic to peanuts. "
    "The harbour smells of herring, and the gulls scream."
)


def listed(client: Hindsight, bank: str, state: Any = None) -> dict[str, str]:
    """Return the ids of memories by their texts."""
    items = client.list_memories(bank, state=state).items
    return {str(item.text).removeprefix("user: "): item.id for item in items}


def curate(client: Hindsight, bank: str, memory_id: str, **change: Any) -> Any:
    return run(client.memory.update_memory(bank, memory_id, UpdateMemoryRequest(**change)))


def recalled(client: Hindsight, bank: str, question: str) -> str:
    return str([result.text for result in client.recall(bank, question).results])


def test_fault_1_one_memory_of_several_is_invalidated_and_restored(client: Hindsight) -> None:
    client.retain("curate", SEVERAL, document_id="d", tags=["t"])
    before = listed(client, "curate")
    assert len(before) == 4
    (text,) = [text for text in before if "oolong" in text]
    curate(client, "curate", before[text], state="invalidated", reason="never true")
    curate(client, "curate", before[text], state="invalidated")
    assert listed(client, "curate") == {t: id_ for t, id_ in before.items() if t != text}
    assert listed(client, "curate", "invalidated") == {text: before[text]}
    assert run(client.memory.get_memory("curate", before[text]))["state"] == "invalidated"
    for question in ("oolong", "Which tea is it?", "Turin peanuts harbour tea"):
        assert "oolong" not in recalled(client, "curate", question)
    client.retain("curate", "I play chess.")
    assert "oolong" not in str(listed(client, "curate"))
    assert "oolong" in run(client.documents.get_document("curate", "d")).original_text
    curate(client, "curate", before[text], state="valid")
    curate(client, "curate", before[text], state="valid")
    assert listed(client, "curate").items() >= before.items()
    assert "oolong" in recalled(client, "curate", "oolong tea")


def test_fault_1_a_whole_content_is_invalidated_and_restored(client: Hindsight) -> None:
    client.retain("contents", "The harbour smells of herring, and the gulls scream.")
    (found,) = client.recall("contents", "harbour herring").results
    curate(client, "contents", found.id, state="invalidated")
    assert client.recall("contents", "harbour herring").results == []
    curate(client, "contents", found.id, state="valid")
    assert client.recall("contents", "harbour herring").results


def test_fault_2_one_memory_of_several_is_replaced(client: Hindsight) -> None:
    client.retain("replaced", SEVERAL, document_id="d", tags=["t"], metadata={"n": "1"})
    before = listed(client, "replaced")
    (text,) = [text for text in before if "Turin" in text]
    curate(client, "replaced", before[text], text="I live in Oslo.")
    after = listed(client, "replaced")
    assert [each for each in after if each not in before] == ["I live in Oslo."]
    assert [each for each in before if each not in after] == [text]
    assert listed(client, "replaced", "invalidated") == {text: before[text]}
    shown = run(client.memory.get_memory("replaced", before[text]))
    assert (shown["text"], shown["state"], shown["tags"]) == ("I live in Oslo.", "valid", ["t"])
    assert (shown["document_id"], shown["metadata"]) == ("d", {"n": "1"})
    assert run(client.documents.get_document("replaced", "d")).original_text == SEVERAL
    curate(client, "replaced", before[text], text="I live in Bergen.")
    assert "I live in Bergen." in listed(client, "replaced")
    assert "I live in Oslo." not in listed(client, "replaced")
    curate(client, "replaced", before[text], state="invalidated")
    assert set(listed(client, "replaced")) == set(before) - {text}
    curate(client, "replaced", before[text], state="valid")
    client.retain("replaced", "I moved to Lyon.")
    assert not {"I live in Bergen.", "I live in Oslo.", text} & set(listed(client, "replaced"))
    run(client.documents.delete_document("replaced", "d"))
    assert set(listed(client, "replaced")) == {"I moved to Lyon."}
    assert "Bergen" not in recalled(client, "replaced", "Bergen Oslo Turin")


def test_fault_5_the_same_memory_three_times_then_another(client: Hindsight) -> None:
    for _ in range(3):
        client.retain("thrice", "I live in Paris.")
    assert len(client.recall("thrice", "Where does user live?").results) == 1
    client.retain("thrice", "I live in Lyon.")
    assert set(listed(client, "thrice")) == {"I live in Lyon."}
    assert set(listed(client, "thrice", "invalidated")) == {"I live in Paris."}
    assert "Paris" not in recalled(client, "thrice", "Where does user live? Paris")


def test_what_cannot_be_curated_is_refused(client: Hindsight) -> None:
    client.retain("refused", "I live in Turin.")
    (id_,) = listed(client, "refused").values()
    made = client.create_mental_model("refused", "Homes", "Who lives in Turin?")
    for memory_id, change in (
        (id_, {}),
        (id_, {"state": "gone"}),
        (id_, {"text": " "}),
        (id_, {"text": "x", "fact_type": "world"}),
        ("nothing", {"state": "invalidated"}),
        (made.mental_model_id, {"state": "invalidated"}),
    ):
        with pytest.raises(ApiException) as caught:
            curate(client, "refused", memory_id, **change)
        assert caught.value.status in (400, 404, 422), change
    assert set(listed(client, "refused")) == {"I live in Turin."}


def test_what_is_retained_or_changed_last_counts_whatever_its_time(client: Hindsight) -> None:
    for room, year in (("red", 2026), ("blue", 2025), ("green", 2024)):
        at = datetime(year, 5, 1, tzinfo=UTC)
        client.retain("late", f"We meet in the {room} room.", document_id="d", timestamp=at)
        document = run(client.documents.get_document("late", "d"))
        assert document.original_text == f"We meet in the {room} room."
    (unit,) = client.list_memories("late").to_dict()["items"]
    run(
        client.memory.update_memory(
            "late", unit["id"], UpdateMemoryRequest(text="We meet outside.")
        )
    )
    assert run(client.documents.get_document("late", "d")).original_text == "We meet outside."
    early = datetime(2024, 6, 1, tzinfo=UTC)
    for _ in range(2):
        # An operation that is repeated changes nothing.
        client.retain_batch(
            "late",
            items=[{"content": "We meet at noon.", "document_id": "d", "timestamp": early}],
            operation_id="again",
            retain_async=True,
        )
        assert run(client.documents.get_document("late", "d")).original_text == "We meet at noon."
    client.retain(
        "late", "I eat soup.", document_id="e", timestamp=datetime(2099, 1, 1, tzinfo=UTC)
    )
    (unit,) = client.list_memories("late", search_query="soup").to_dict()["items"]
    for food in ("bread", "rice"):
        changed = UpdateMemoryRequest(text=f"I eat {food}.")
        run(client.memory.update_memory("late", unit["id"], changed))
        assert run(client.documents.get_document("late", "e")).original_text == f"I eat {food}."
