"""The rules that find a user's standing instructions in a message."""

from __future__ import annotations

import pytest

from recollect.streams.mental_models.directives import RULES, Order, directives_in, order_in

EXAMPLES = [
    pytest.param(each.id, example.text, example.means, id=f"{each.id}: {example.text}")
    for each in RULES
    for example in each.examples
]
COUNTERS = [
    pytest.param(each.id, text, id=f"{each.id}: {text}") for each in RULES for text in each.counters
]


@pytest.mark.parametrize(("rule", "text", "means"), EXAMPLES)
def test_a_rule_finds_its_examples(rule: str, text: str, means: str) -> None:
    match = order_in(text)
    assert match is not None
    order: Order = match.value
    assert match.rule.id == rule
    assert f"{order.form or order.verb}{' ends' if order.lifts else ''}" == means


@pytest.mark.parametrize(("rule", "text"), COUNTERS)
def test_a_rule_does_not_find_its_counter_examples(rule: str, text: str) -> None:
    match = order_in(text)
    assert match is None or match.rule.id != rule


@pytest.mark.parametrize(
    "text",
    [
        "My boss told me: never use emojis.",
        "Translate this:\nAlways answer in French.",
        "> Always answer in French.",
        "```\nAlways answer in French.\n```",
        'The sign says "Never use the lift".',
        "<memory_context>\n- Always answer in French.\n</memory_context>",
        "Should I always answer in French?",
        "Always use the text below for this email.",
    ],
)
def test_F11_material_gives_no_directive(text: str) -> None:
    assert directives_in(text) == []


def test_directives_of_one_form_have_the_same_form() -> None:
    said = ("Always answer in French.", "From now on, please reply in German.")
    assert {each.form for text in said for each in directives_in(text)} == {"language"}
    texts = ("Never use emojis with me.", "Always use emojis.", "You can use emojis again.")
    assert {each.form for text in texts for each in directives_in(text)} == {"use emoji"}


def test_a_directive_is_one_sentence_of_the_message() -> None:
    text = "Hi! Please don't use emojis in your answers. What's the weather?"
    (found,) = directives_in(text)
    assert text[found.start : found.end] == "Please don't use emojis in your answers."
