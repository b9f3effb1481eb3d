"""Calls of tools that a model writes as text, and arguments that it wraps (faults 29 and 31)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.streams.models.chat import ChatRequest, ToolCall, parse_completion
from recollect.streams.writing.writer_tools import TOOLS
from tests.writing.conftest import OpenWriting
from tests.writing.model_server import Body, Reply, say
from tests.writing.scripts import message_of, results_of

DEPLOY = "The deploy is on Fridays at Marlowe Labs."
FACT = {"text": DEPLOY, "metadata": {"evidence": DEPLOY}}
QUERY = {"query": "deploys"}
_BOTH = [("insert_fact", FACT), ("recall", QUERY)]


def calls_in(reply: Reply) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in parsed(reply)]


def parsed(reply: Reply) -> tuple[ToolCall, ...]:
    return parse_completion(reply.body, "m", 100, TOOLS).calls


def _call(name_key: str, arguments_key: str, call: tuple[str, Any] = _BOTH[0]) -> str:
    return json.dumps({name_key: call[0], arguments_key: call[1]})


_PLAIN = _call("name", "arguments")
_XML = """<function=insert_fact>
<parameter=text>
The deploy is on Fridays at Marlowe Labs.
</parameter>
<parameter=metadata>
{"evidence": "The deploy is on Fridays at Marlowe Labs."}
</parameter>
</function>"""
ONE = {
    "an object": _PLAIN,
    "with parameters": _call("name", "parameters"),
    "with a tool": _call("tool", "args"),
    "with an action": _call("action", "action_input"),
    "as the protocol has it": json.dumps(
        {"type": "function", "function": {"name": "insert_fact", "arguments": json.dumps(FACT)}}
    ),
    "within tool_calls": json.dumps({"tool_calls": [json.loads(_PLAIN)]}),
    "beside a thought": json.dumps({"thought": "Keep it.", "call": json.loads(_PLAIN)}),
    "by its name": json.dumps({"insert_fact": FACT}),
    "beside its arguments": json.dumps({"tool": "insert_fact", **FACT}),
    "with a namespace": _PLAIN.replace("insert_fact", "functions.insert_fact"),
    "in a fence": f"```json\n{_PLAIN}\n```",
    "in a fence with words": f"Sure!\n\n```tool_call\n{_PLAIN}\n```\nDone.",
    "in tags": f"<tool_call>\n{_PLAIN}\n</tool_call>",
    "behind a mark": f"[TOOL_CALLS] [{_PLAIN}]",
    "behind another mark": f"<|python_tag|>{_call('name', 'parameters')}<|eom_id|>",
    "behind a thought": f'<think>Or {{"name": "recall"}}?</think>{_PLAIN}',
    "in a function tag": f"<function=insert_fact>{json.dumps(FACT)}</function>",
    "as an action": f"Thought: keep it\nAction: insert_fact\nAction Input: {json.dumps(FACT)}",
    "to a channel": f"to=functions.insert_fact <|message|>{json.dumps(FACT)}",
    "as a call": f"insert_fact({json.dumps(FACT)})",
    "in Python": f"[insert_fact(text={DEPLOY!r}, metadata={FACT['metadata']!r})]",
    "in Python with an object": f"print(default_api.insert_fact(text={DEPLOY!r}, "
    f"metadata={FACT['metadata']!r}))",
    "as a Python literal": str({"name": "insert_fact", "arguments": FACT}),
    "with commas at the end": _PLAIN.replace("}}", ",},}"),
    "in camel case": _call("toolName", "args"),
    "in XML": f"<tool_call>\n{_XML}\n</tool_call>",
    "in other XML": _XML.replace("function=insert_fact", 'invoke name="insert_fact"')
    .replace("parameter=text", 'parameter name="text"')
    .replace("parameter=metadata", 'parameter name="metadata"')
    .replace("</function>", "</invoke>"),
}
TWO = {
    "a list": f"[{_PLAIN}, {_call('name', 'arguments', _BOTH[1])}]",
    "line by line": f"{_PLAIN}\n{_call('name', 'arguments', _BOTH[1])}",
    "tag by tag": f"<tool_call>{_PLAIN}</tool_call>\n"
    f"<tool_call>{_call('name', 'arguments', _BOTH[1])}</tool_call>",
    "a list that is cut off": f'[{_PLAIN}, {_call("name", "arguments", _BOTH[1])}, {{"na',
}


@pytest.mark.parametrize("form", ONE)
def test_a_call_written_as_text_is_a_call(form: str) -> None:
    assert calls_in(say(ONE[form])) == _BOTH[:1]


@pytest.mark.parametrize("form", TWO)
def test_calls_written_as_text_are_calls_in_order(form: str) -> None:
    assert calls_in(say(TWO[form])) == _BOTH


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "There is nothing to insert_fact here.",
        '{"name": "Ada", "type": "person"}',
        '{"name": "delete_fact", "arguments": {}}',
        f"<think>{_PLAIN}</think>nothing",
        f"<think>{_PLAIN}",
        "recall: {}",
        "[" * 10_000 + "insert_fact",
        "insert_fact(" * 1_000 + ")" * 1_000,
        '{"insert_fact": ' * 2_000,
    ],
)
def test_other_text_is_no_call(text: str) -> None:
    assert parsed(say(text)) == ()


def test_a_call_beside_text_is_read_once() -> None:
    assert calls_in(say(_PLAIN, _BOTH[0])) == _BOTH[:1]


ARGUMENTS: dict[str, Any] = {
    "encoded twice": json.dumps(json.dumps(FACT)),
    "encoded thrice": json.dumps(json.dumps(json.dumps(FACT))),
    "in a fence": f"```json\n{json.dumps(FACT)}\n```",
    "in a fence, encoded": json.dumps(f"```\n{json.dumps(FACT)}\n```"),
    "an object": FACT,
    "a part as text": {**FACT, "metadata": json.dumps(FACT["metadata"])},
    "a part in a fence": {**FACT, "metadata": f"```json\n{json.dumps(FACT['metadata'])}\n```"},
    "wrapped": {"arguments": FACT},
    "wrapped as text": json.dumps({"parameters": json.dumps(FACT)}),
}


@pytest.mark.parametrize("form", ARGUMENTS)
def test_wrapped_arguments_are_unwrapped(form: str) -> None:
    given = ARGUMENTS[form]
    reply = say("", ("insert_fact", given))
    body = json.loads(reply.body)
    call = body["choices"][0]["message"]["tool_calls"][0]
    if not isinstance(given, str) and form == "an object":
        call["function"]["arguments"] = given
    assert calls_in(Reply(json.dumps(body).encode())) == _BOTH[:1]


def test_a_number_as_text_is_a_number() -> None:
    link = {"from_fact_id": "1", "to_fact_id": "2", "strength": "0.8"}
    assert calls_in(say("", ("insert_causal_link", link))) == [
        ("insert_causal_link", {**link, "strength": 0.8})
    ]


def test_arguments_that_are_no_object_stay_as_they_are() -> None:
    for broken in ('{"text": "cut', "null", '"words"', "", "[1]"):
        assert [call.arguments for call in parsed(say("", ("insert_fact", broken)))] == [broken]


def test_a_call_in_the_older_form_is_a_call() -> None:
    call = {"name": "insert_fact", "arguments": json.dumps(FACT)}
    body = {"choices": [{"message": {"content": None, "function_call": call}}]}
    assert calls_in(Reply(json.dumps(body).encode())) == _BOTH[:1]


@pytest.mark.parametrize("form", ["an object", "in tags", "in Python", "in XML"])
def test_a_model_that_writes_its_calls_as_text_is_a_writer(opened: OpenWriting, form: str) -> None:
    def script(body: Body) -> Reply:
        return say("done") if results_of(body) else say(ONE[form])

    memory, server = opened(script)
    memory.ingest([_said(DEPLOY)])
    report = memory.write()
    assert (report.processed, report.rejected) == (1, 0)
    assert DEPLOY in [fact.text for fact in memory.facts()]
    before = [fact.id for fact in memory.facts()]
    asked = len(server.questions)
    memory.rebuild("derive")
    assert [fact.id for fact in memory.facts()] == before
    assert memory.verify().ok
    assert len(server.questions) == asked


@pytest.mark.usefixtures("nothing_salient")
def test_a_message_whose_answer_was_cut_off_stays_unread(opened: OpenWriting) -> None:
    """It is counted as read once an answer is whole."""
    cut = [True]

    def script(body: Body) -> Reply:
        if cut:
            return say("", finish="length")
        return say("done") if results_of(body) else say("", _BOTH[0])

    memory, _ = opened(script)
    memory.ingest([_said(DEPLOY)])
    report = memory.write()
    assert (report.pending, report.processed, report.failed) == (1, 0, 1)
    assert "finish reason 'length'" in (report.stopped or "")
    assert "model.answer_tokens" in (report.stopped or "")
    cut.clear()
    assert memory.write().accepted == 1
    assert memory.write().pending == 0


@pytest.mark.usefixtures("nothing_salient")
def test_a_service_without_tools_is_asked_in_text(opened: OpenWriting) -> None:
    """Fault 30: it gets the tools, and their results, as text."""

    def script(body: Body) -> Reply:
        if "tools" in body:
            return Reply(b'{"error": {"message": "this model does not support tools"}}', 400)
        assert {message["role"] for message in body["messages"]} <= {"system", "user", "assistant"}
        assert "insert_fact" in body["messages"][0]["content"]
        results = [each for each in body["messages"] if each["content"].startswith("<result>")]
        assert message_of(body)["content"] == DEPLOY
        return say("nothing more") if results else say(_PLAIN)

    memory, _ = opened(script, concurrency=1)
    memory.ingest([_said(DEPLOY)])
    assert memory.write().accepted == 1


def _said(words: str) -> dict[str, Any]:
    return {
        "platform": "chat",
        "id": "m0",
        "sender_id": "ada",
        "sender_name": "Ada",
        "occurred_at": "2026-05-08T13:00:00Z",
        "content": words,
    }


def test_requests_differ_in_no_parameter_by_which_they_are_found_again() -> None:
    """What a service rejects changes no recording's digest."""
    request = ChatRequest(({"role": "user", "content": "?"},), TOOLS)
    assert b"max_tokens" not in request.canonical("m")
    assert request.body("m", 9, frozenset({"temperature"})) != request.body("m", 9)
