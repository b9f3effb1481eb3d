"""Gemini's activity in a Google Takeout: prompts, answers and what else was done."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, Message, SystemNotice, TurnCompleted
from tests.adapters.kit import opened

ASKED: dict[str, Any] = {
    "header": "Gemini Apps",
    "title": "Prompted I moved to Oslo. Where is the ferry?",
    "subtitles": [{"name": "Attached 1 file."}, {"name": "-  map.png", "url": "map.png"}],
    "time": "2024-05-01T10:00:00.123Z",
    "products": ["Gemini Apps"],
    "activityControls": ["Gemini Apps Activity"],
    "safeHtmlItem": [{"html": "<p>At <b>Pier 3</b>.</p>"}],
}
OF_BARD: dict[str, Any] = {
    "header": "Bard", "title": "Eingegebener Prompt: Wo?", "time": "2023-05-01T10:00:00Z",
    "products": ["Bard"], "safeHtmlItem": [{"html": "Dort."}],
}  # fmt: skip
OTHERS: list[dict[str, Any]] = [
    {"header": "Gemini Apps", "title": "Gave feedback: Good response",
     "time": "2024-05-01T10:01:00Z", "products": ["Gemini Apps"]},
    {"header": "Gemini Apps", "title": "Prompted and without an answer",
     "time": "2024-05-01T10:02:00Z", "products": ["Gemini Apps"]},
]  # fmt: skip


def test_a_record_is_a_prompt_and_its_answer(tmp_path: Path) -> None:
    path = tmp_path / "MyActivity.json"
    path.write_text(json.dumps([ASKED, *OTHERS], indent=2))
    found = opened(path)
    assert (found.formats, found.rejections) == (["gemini"], [])
    asked, answered, feedback, alone = found.contents
    assert isinstance(asked, Message)
    assert (asked.content, asked.sender_id) == ("I moved to Oslo. Where is the ferry?", "user")
    assert asked.attachments == (Attachment(type="image", name="map.png"),)
    assert isinstance(answered, TurnCompleted)
    assert (answered.content, answered.sender_id, answered.reply_to) == (
        "At Pier 3.", "assistant", asked.source_id,
    )  # fmt: skip
    assert isinstance(feedback, SystemNotice)
    assert (alone.content, type(alone)) == ("and without an answer", Message)
    assert {draft.platform for draft in found.drafts} == {"gemini"}
    assert found.drafts[0].occurred_at == (
        datetime(2024, 5, 1, 10, tzinfo=UTC).timestamp() * 1000 + 123
    )


def test_the_words_before_a_prompt_are_kept_in_other_languages(tmp_path: Path) -> None:
    path = tmp_path / "MeineAktivitäten.json"
    path.write_text(json.dumps([OF_BARD]))
    assert opened(path).texts == ["Eingegebener Prompt: Wo?", "Dort."]


def test_of_several_drafts_of_an_answer_the_first_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "MyActivity.json"
    other = {**ASKED, "safeHtmlItem": [{"html": "Ask at the harbour."}]}
    later = {**other, "time": "2024-05-01T10:00:05Z"}
    path.write_text(json.dumps([later, ASKED, other, ASKED]))
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as recollect:
        reports = [recollect.zone("ada").ingest_files([path]) for _ in range(2)]
    assert [(one.new, one.duplicate, one.rejected) for one in reports] == [(4, 0, 0), (0, 4, 0)]
    prompt = "I moved to Oslo. Where is the ferry?"
    assert opened(path).texts == [prompt, "Ask at the harbour.", prompt, "At Pier 3."]


def test_a_prompt_gives_facts_and_importing_again_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "MyActivity.json"
    path.write_text(json.dumps([ASKED, *OTHERS]))
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as recollect:
        zone = recollect.zone("ada")
        reports = [zone.ingest_files([path]) for _ in range(2)]
        facts = [fact.text for fact in zone.facts()]
    assert [(one.new, one.duplicate, one.rejected) for one in reports] == [(4, 0, 0), (0, 4, 0)]
    assert "user: I moved to Oslo." in facts
