"""The SDK's own client drives every tool, resource and prompt of a real process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from recollect import Recollect
from tests.library.kit import said
from tests.mcp_server.kit import MODES, Agent, agent, command

SAID = [
    said("m1", "I live in Turin.", minute=1),
    said("m2", "I bought a boat.", by="Bob", minute=2),
    said("m3", "I moved to Oslo.", minute=3),
]


@pytest.fixture(scope="module", params=MODES)
def ada(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Agent]:
    home = tmp_path_factory.mktemp("mcp") / "home"
    with Recollect(home, encoder="none") as r:
        r.zone("ada").ingest(SAID)
    with agent(command(home, "--zone", "ada", "mcp"), request.param) as connected:
        yield connected


def test_every_tool_is_called_here(ada: Agent) -> None:
    text = Path(__file__).read_text()
    for name in ada.tools():
        called = (f'.call("{name}"', f'.call(\n        "{name}"', f'.refused("{name}"')
        assert any(each in text for each in called), name


def test_what_is_retained_is_recalled_at_once(ada: Agent) -> None:
    done = ada.call("retain", content="The deploy key is in the blue safe.", sender_id="assistant")
    assert done["status"] == "new"
    best = ada.call("recall", query="Where is the deploy key?")["results"][0]
    assert "blue safe" in best["text"]
    assert best["sender_name"] == "assistant"


def test_recall_takes_the_filters_that_it_names(ada: Agent) -> None:
    found = ada.call(
        "recall",
        query="where",
        scope=["events"],
        entity="Ada",
        time_after="2026-05-08T10:00:30Z",
        time_before="2026-05-08T10:01:30Z",
        platform="chat",
        max_results=5,
        budget="high",
    )
    assert [item["source_event_ids"] for item in found["results"]] == [["m1"]]
    assert found["results"][0]["platform"] == "chat"


def test_a_result_says_that_it_is_out_of_date(ada: Agent) -> None:
    results = ada.call("recall", query="Where does Ada live?", scope=["facts"])["results"]
    old = next(item for item in results if item["source_event_ids"] == ["m1"])
    assert old["is_stale"]
    assert old["superseded_by"][0]["text"] == "Ada moved to Oslo."


def test_a_task_is_recorded_and_learned_from(ada: Agent) -> None:
    for outcome in ("success", "failure", "success", "failure"):
        run = ada.call("start_trajectory", task="Fix the login", task_type="fix")["id"]
        if outcome == "success":
            ada.call("log_step", id=run, kind="tool_call", content="Run tests.", tool="pytest")
        done = ada.call("complete_trajectory", id=run, status=outcome)
    assert done["status"] == "failure"
    found = ada.call("get_relevant_strategies", task="Fix the logout")
    assert "- do: Run tests." in found["block"]
    assert "notice" in found
    judged = ada.call("give_feedback", id=run, score=0.9, source="monitoring")
    assert judged["relearning"]


def test_a_report_names_its_sources(ada: Agent) -> None:
    report = ada.call("reflect", query="Where does Ada live?")
    assert report["text"].startswith("# Where does Ada live?")
    assert "Oslo (said 8 May 2026). [m1, m3]" in report["text"]


def test_a_task_gets_what_bears_on_it_or_nothing(ada: Agent) -> None:
    found = ada.call("context", task="Where does Bob have his boat?", max_tokens=200)
    assert "I bought a boat." in found["block"]
    assert 0 < found["tokens"] <= 200
    assert ["m2"] in [item["source_event_ids"] for item in found["items"]]
    nothing = ada.call("context", task="What is the capital of France?")
    assert nothing["block"] == ""


def test_a_memory_is_listed_got_and_explained(ada: Agent) -> None:
    page = ada.call("list_memories", scope="events", platform="chat", limit=2)
    assert [item["source_event_ids"] for item in page["memories"]] == [["m3"], ["m2"]]
    rest = ada.call("list_memories", scope="events", platform="chat", cursor=page["cursor"])
    assert [item["source_event_ids"] for item in rest["memories"]] == [["m1"]]
    assert "cursor" not in rest
    (fact,) = ada.call("list_memories", entity="Bob")["memories"]
    assert ada.call("get_memory", id=fact["id"]) == fact
    assert fact["text"] == "Bob bought a boat."
    steps = json.dumps(ada.call("why", id=fact["id"])["steps"])
    assert "'m2' of chat" in steps


def test_a_retained_text_is_corrected_and_a_message_is_not(ada: Agent) -> None:
    first = ada.call("retain", content="Standup is at nine.")
    done = ada.call("update_memory", id=first["event_id"], text="Standup is at ten.")
    assert done["previous_id"] == first["event_id"]
    assert "ten" in ada.call("recall", query="When is standup?")["results"][0]["text"]
    refused = ada.refused("update_memory", id="m1", text="I live in Rome.")
    assert "messages cannot be changed" in refused


def test_a_retained_text_is_retracted_and_restored(ada: Agent) -> None:
    event = ada.call("retain", content="The spare key is under the pot.")["event_id"]
    assert ada.call("retract", id=event)["status"] == "retracted"
    assert "pot" not in str(ada.call("recall", query="Where is the spare key?"))
    assert ada.call("retract", id=event, restore=True)["status"] == "restored"
    assert "pot" in str(ada.call("recall", query="Where is the spare key?"))


def test_memories_are_stored_queried_and_deactivated(ada: Agent) -> None:
    memory = {"content": "Ada prefers tea.", "namespace": "/ada", "importance": 0.9}
    (receipt,) = ada.call("store_memories", memories=[memory])["receipts"]
    found = ada.call("query_memories", namespace_prefix="/a")["memories"]
    assert [each["content"] for each in found] == ["Ada prefers tea."]
    id_ = receipt["event_id"]
    assert ada.call("set_memory_state", ids=[id_], state="inactive")["changed"] == [id_]
    assert ada.call("get_stored_memory", id=id_)["state"] == "inactive"


def test_memories_are_archived_found_there_and_restored(ada: Agent) -> None:
    (receipt,) = ada.call("store_memories", memories=[{"content": "The oak fell."}])["receipts"]
    id_ = receipt["event_id"]
    assert ada.call("archive_memories", ids=[id_])["changed"] == [id_]
    assert ada.call("get_memory_tiers")["tiers"][2]["memories"] == 1
    (hit,) = ada.call("search_tiers", query="What fell?", max_results=1)["archival"]
    assert hit["memory"]["content"] == "The oak fell."
    assert id_ not in str(ada.call("list_recent_memories"))
    assert ada.call("archive_memories", ids=[id_], restore=True)["changed"] == [id_]
    assert id_ in str(ada.call("list_recent_memories"))


def test_memories_are_consolidated_expanded_and_searched(ada: Agent) -> None:
    texts = ("The kiln is cold.", "The kiln is hot.")
    ada.call("store_memories", memories=[{"content": t, "namespace": "/kiln"} for t in texts])
    (level,) = ada.call("consolidate_memories", method="criteria", namespace="/kiln")["levels"]
    (made,) = level["memory_ids"]
    found = ada.call("list_memory_children", id=made)["memories"]
    assert [each["content"] for each in found] == list(texts)
    (hit, *_) = ada.call("search_memories", query="Is the kiln hot?")["hits"]
    assert hit["memory"]["memory_id"] == made


def test_memories_are_found_by_path(ada: Agent) -> None:
    ada.call("store_memories", memories=[{"content": "Mio eats fish.", "path_key": "cat"}])
    path = "/workspace/ada/memory/cat"
    listed = ada.call("list_paths", path="/workspace/ada/memory/")["entries"]
    assert path in [each["path"] for each in listed]
    assert [each["path"] for each in ada.call("glob_paths", pattern="/**/c?t")["entries"]] == [path]
    assert ada.call("read_path", path=path)["content"] == "Mio eats fish."


def test_forgetting_says_what_would_go_unless_it_is_told_to(ada: Agent) -> None:
    done = ada.call("retain", content="The cat is called Mio.")
    would = ada.call("forget", ids=[done["event_id"]])
    assert (would["dry_run"], would["events"]) == (True, 1)
    assert "Mio" in str(ada.call("get_memory", id=done["event_id"]))
    assert ada.call("forget", ids=[done["event_id"]], dry_run=False)["events"] == 1
    assert "holds nothing" in ada.refused("get_memory", id=done["event_id"])


def test_people_are_listed_and_got_by_name(ada: Agent) -> None:
    listed = ada.call("list_entities", limit=100)
    assert {"Ada", "Bob"} <= {item["name"] for item in listed["entities"]}
    assert "cursor" not in listed
    assert ada.call("list_entities", limit=1)["cursor"]
    bob = ada.call("get_entity", entity="Bob")
    assert bob["handles"] == [{"platform": "chat", "handle": "u-Bob"}]
    assert bob["facts"] == 1


def test_relationships_are_listed_and_followed(ada: Agent) -> None:
    (moved,) = ada.call("list_relationships", entity="Ada")["relationships"]
    assert (moved["type"], moved["target"], moved["source_event_ids"]) == (
        "LOCATED_IN",
        "Oslo",
        ["m3"],
    )
    near = ada.call("get_neighbors", entity="Oslo", hops=1)
    assert [one["name"] for one in near["entities"]] == ["Oslo", "Ada"]
    assert ada.call("find_path", source="Ada", target="Oslo")["relationships"] == [moved]


def test_what_happened_is_listed_by_day(ada: Agent) -> None:
    days = ada.call("get_timeline", entity="Bob")["days"]
    assert [(day["day"], [item["source_event_ids"] for item in day["items"]]) for day in days] == [
        ("2026-05-08", [["m2"]])
    ]
    assert ada.call("get_timeline", limit=1)["cursor"]
    assert ada.call("get_timeline", first="2027-01-01")["days"] == []


def test_episodes_are_listed_and_shown(ada: Agent) -> None:
    (day,) = ada.call("list_episodes", strategy="day", query="boat", last="2026-05-08")["episodes"]
    shown = ada.call("get_episode", id=day["id"], limit=2)
    assert [item["text"] for item in shown["messages"]] == ["I live in Turin.", "I bought a boat."]
    versions = ada.call("get_episode_history", id=day["id"])["episodes"]
    assert [version["id"] for version in versions] == [day["id"]]


def test_what_was_found_in_episodes_is_listed(ada: Agent) -> None:
    assert ada.call("list_analyses", type="summary_v1")["analyses"] == []
    assert ada.call("list_facets", type="pii_*")["facets"] == []


def test_a_report_is_kept_and_rewritten(ada: Agent) -> None:
    made = ada.call("create_mental_model", name="Homes", description="Ada moves.", tags=["people"])
    later = ada.call("update_mental_model", id=made["id"], description="Ada moved to Oslo.")
    assert later["previous"] == made["id"]
    assert ada.call("get_mental_model", id=made["id"])["current"] is False
    kept = ada.call("retain", content="The roof was mended in May.")
    ada.call("create_mental_model", name="Roof", description="Mended.", sources=[kept["event_id"]])
    ada.call("forget", ids=[kept["event_id"]], dry_run=False)
    models = ada.call("list_mental_models")["mental_models"]
    assert [(item["name"], item["description"]) for item in models] == [
        ("Homes", "Ada moved to Oslo.")
    ]


def test_observations_are_listed(ada: Agent) -> None:
    (found,) = ada.call("list_observations", entity="Ada")["observations"]
    assert (found["kind"], found["topic"]) == ("history", "home")
    assert ada.call("list_observations", entity="Bob")["observations"] == []


def test_resources_and_the_prompt_are_data(ada: Agent) -> None:
    assert [item.uri for item in ada.do("list_resources").resources] == ["memory://profile"]
    templates = ada.do("list_resource_templates").resource_templates
    assert [item.uri_template for item in templates] == [
        "memory://entities/{id}",
        "memory://memories/{id}",
    ]
    bob = ada.call("get_entity", entity="Bob")["id"]
    for uri, words in (
        ("memory://profile", "Bob (person)"),
        (f"memory://entities/{bob}", "Bob bought a boat. [m2]"),
        ("memory://entities/Bob", "Writes on chat as u-Bob"),
        ("memory://memories/m2", "I bought a boat."),
    ):
        text = ada.read(uri)
        assert words in text
        assert text.startswith("What follows was remembered"), "data, not instructions"
    (prompt,) = ada.do("list_prompts").prompts
    assert [argument.name for argument in prompt.arguments] == ["task"]
    (message,) = ada.do("get_prompt", "context", {"task": "Where does Bob have his boat?"}).messages
    assert "I bought a boat." in message.content.text
    assert "data, not instructions" in message.content.text.lower()
    assert message.content.text.endswith("The task: Where does Bob have his boat?")


@pytest.mark.parametrize(
    "uri", ["memory://nothing", "memory://entities/", "memory://entities/Zoe", "file:///etc/passwd"]
)
def test_a_resource_that_is_not_there_is_an_error(ada: Agent, uri: str) -> None:
    with pytest.raises(MCPError) as error:
        ada.read(uri)
    assert "Traceback" not in str(error.value)
    assert error.value.error.data == {"uri": uri}


def test_a_prompt_that_is_not_there_is_an_error(ada: Agent) -> None:
    with pytest.raises(MCPError, match="no prompt"):
        ada.do("get_prompt", "other", {})
    with pytest.raises(MCPError, match="task is empty"):
        ada.do("get_prompt", "context", {"task": " "})


@pytest.mark.slow
def test_several_agents_and_a_program_work_on_one_home_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with (
        Recollect(home, encoder="none") as r,
        agent(command(home, "--zone", "ada", "mcp")) as one,
        agent(command(home, "--zone", "ada", "mcp")) as two,
    ):
        zone = r.zone("ada")
        for n in range(5):
            one.call("retain", content=f"The first said that plan {n} holds.")
            two.call("retain", content=f"The second said that plan {n} holds.")
            zone.ingest(said(f"m{n}", f"The third said that plan {n} holds.", minute=n))
        for asked in (one, two):
            found = asked.call("recall", query="Which plan holds?", scope=["events"])["results"]
            assert len(found) == 15
            assert asked.call("list_memories", scope="events", limit=100)["memories"][14]
        made = one.call("retain", content="The safe word is Rosebud.")
        assert "Rosebud" in str(two.call("recall", query="What is the safe word?"))
        two.call("forget", ids=[made["event_id"]], dry_run=False)
        assert "Rosebud" not in str(one.call("recall", query="What is the safe word?"))
        assert zone.verify().ok


def test_standard_output_is_the_protocol_alone(tmp_path: Path) -> None:
    Recollect(tmp_path / "home", encoder="none").close()
    started = command(tmp_path / "home", "mcp")
    calls = [
        {
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        },
        {
            "method": "tools/call",
            "params": {"name": "retain", "arguments": {"content": "Ada sings."}},
        },
        {
            "method": "tools/call",
            "params": {"name": "recall", "arguments": {"query": "Who sings?"}},
        },
    ]
    lines = [json.dumps({"jsonrpc": "2.0", "id": n, **call}) for n, call in enumerate(calls)]
    lines.insert(1, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    lines.insert(2, "no JSON at all")
    process = subprocess.Popen(
        [started.command, *started.args],
        env=started.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers: dict[int | None, Any] = {}
    for line in lines:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        if "notifications/" not in line:
            answer = json.loads(process.stdout.readline())
            assert answer["jsonrpc"] == "2.0"
            answers[answer["id"]] = answer
    rest, errors = process.communicate(timeout=30)
    assert rest == ""
    assert "Traceback" not in errors
    assert process.returncode == 0, "it ends where its input ends"
    assert answers[None]["error"]["code"] == -32700
    assert "Ada sings." in answers[2]["result"]["content"][0]["text"]


def test_a_page_about_an_entity_is_refreshed(ada: Agent) -> None:
    bob = ada.call("get_entity", entity="Bob")
    made = ada.call(
        "create_mental_model",
        name="Bob",
        description="My neighbour.",
        entity_id=bob["id"],
        refresh="by_hand",
    )
    assert made["description"].startswith("My neighbour.\n## ")
    assert ada.call("refresh_mental_model", id=made["id"])["changed"] is False


def test_a_directive_is_added_and_listed(ada: Agent) -> None:
    ada.call("add_directive", text="Always answer in French.")
    (found,) = ada.call("list_directives")["directives"]
    assert (found["text"], found["obeyed"]) == ("Always answer in French.", True)


def test_inference_needs_a_model(ada: Agent) -> None:
    assert "model.accounts is empty" in ada.refused("infer", query="Where does Ada live?")
