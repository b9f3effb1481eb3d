"""Where several questions in one text begin, and what each takes from those before it."""

from __future__ import annotations

import re

import pytest

from recollect.projections.recall.question.sub_questions import resolve_references, split


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Where did Ann move, and what does she do there now?",
            ["Where did Ann move", "what does she do there now?"],
        ),
        (
            "When is the wedding? And who is invited?",
            ["When is the wedding?", "And who is invited?"],
        ),
        (
            "Who came, what did they eat, and when did they leave?",
            ["Who came", "what did they eat", "when did they leave?"],
        ),
        ("Who came and who left?", ["Who came", "who left?"]),
        (
            "Tell me what Ann bought and where she bought it",
            ["Tell me what Ann bought", "where she bought it"],
        ),
        ("What's Ann's job and who's her boss?", ["What's Ann's job", "who's her boss?"]),
        (
            "What did Ann do when she was in Rome and where did she stay?",
            ["What did Ann do when she was in Rome", "where did she stay?"],
        ),
        (
            "I'm planning a party. Who is vegan? Who likes cake?",
            ["I'm planning a party. Who is vegan?", "Who likes cake?"],
        ),
        (
            "How are you? Where is Ann? Where is Bob? Thanks!",
            ["How are you? Where is Ann?", "Where is Bob? Thanks!"],
        ),
    ],
)
def test_are_parted(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "When and where did Ann marry?",
        "Who did Ann meet and when?",
        "Does Ann know how to swim and how to dive?",
        "What did she say about who came and who left?",
        "Does Ann know the man who sings and who dances?",
        "Is Rome the city where she was born and where she studied?",
        "If Ann moved, where does she live?",
        "When Ann moved, where did she live?",
        "Did Ann move? If so, where?",
        "How are you? Where did Ann go?",
        "Can you help? Where did Ann go?",
        "Who is older, Ann or Bob?",
        "What do Ann and Bob do when they are in Rome?",
        "what? why? huh?",
        "",
        "? ? ?",
        "and what",
        "Wo wohnt Ann? Wann zog sie um?",
        "¿Dónde vive Ana? ¿Qué hace?",
        "安在哪里\uff1f她做什么\uff1f",
        "Where is it? " * 40,
    ],
)
def test_one_stays_whole(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["Where did Ann move", "what does she do there?"], "Ann move what does she do there?"),
        (["When is the wedding?", "And who is invited?"], "wedding And who is invited?"),
        (["Does Ann like tea?", "Does Bob?"], "tea Does Bob?"),
        (["Did Ann meet Bob", "what did he say?"], "Ann Bob meet what did he say?"),
        (
            ["Where did my sister move", "when will she visit us?"],
            "sister move when will she visit us?",
        ),
        (
            ["When did Ann start?", "why did she leave the library?"],
            "Ann why did she leave the library?",
        ),
        (["Where is Ann?", "What is the door code?"], "What is the door code?"),
        (["Where is Ann?", "Who is my dentist?"], "Who is my dentist?"),
        (["Where is Ann?", "Where is Bob?"], "Where is Bob?"),
    ],
)
def test_a_later_one_is_led_by_what_it_leaves_out(parts: list[str], whole: str) -> None:
    def names(text: str) -> list[str]:
        return re.findall(r"\b(?:Ann|Bob)\b", text)

    assert resolve_references(parts, names) == [parts[0], whole]
