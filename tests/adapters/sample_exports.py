"""A small export of each format, as its program writes it, for tests of all formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.adapters.assistants import (
    test_aider,
    test_chatgpt,
    test_claude_ai,
    test_codex,
    test_gemini,
    test_gemini_cli,
    test_grok,
    test_opencode,
)
from tests.adapters.calendars import test_icalendar
from tests.adapters.chats import (
    test_discord,
    test_matrix,
    test_other_chats,
    test_skype,
    test_teams,
    test_telegram,
    test_telegram_pages,
)
from tests.adapters.chats.google import test_google_chat, test_hangouts
from tests.adapters.chats.phone import test_imessage_text, test_sms_backup
from tests.adapters.chats.signal import test_signal_backup
from tests.adapters.chats.social import test_linkedin, test_twitter
from tests.adapters.notes import test_evernote, test_google_keep


class Sample(NamedTuple):
    """An export: its format, its files by path, and options for reading it."""

    format: str
    files: Mapping[str, bytes]
    timezone: str | None = None


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


_SLACK_MESSAGES = [
    {"type": "message", "user": "U1", "text": "I moved to Córdoba.", "ts": "1714557600.000100"},
    {"type": "message", "user": "U2", "text": "Lucky <@U1>!", "ts": "1714557660.000200"},
]
_CODE = {"sessionId": "s1", "cwd": "/x", "version": "1.0", "isSidechain": False, "uuid": "u1"}
_WHATSAPP = """\
[5/1/24, 10:00:00\u202fAM] Ada: \u200eMessages and calls are end-to-end encrypted.
[5/1/24, 10:00:05\u202fAM] Ada: The key is in the blue safe.
[5/1/24, 12:30:00\u202fPM] Bøb: Thanks!
It was urgent.
[5/1/24, 10:01:05\u202fPM] Ada: Good night.
[5/13/24, 12:01:05\u202fAM] Ada: Good morning.
"""
_IRC = """\
--- Log opened Wed May 01 10:00:00 2024
10:00 < ada> The key is in the blue safe.
10:01 < bob> Thanks, é.
10:02 -!- eve [eve@host] has joined #boats
10:03 < ada> ok
--- Log closed Wed May 01 10:04:00 2024
"""
_MAIL = """\
From: Ada <ada@example.org>
To: bob@example.org
Date: Wed, 01 May 2024 10:00:00 +0200
Subject: =?utf-8?q?K=C3=A9y?=
Message-ID: <1@example.org>
Content-Type: text/plain; charset=utf-8

The key is in the blue safe.
"""
# Without the last message, of which Telegram exported nothing.
_TELEGRAM = {**test_telegram.CHAT, "messages": test_telegram.MESSAGES[:-1]}
_HANGOUTS = test_hangouts.takeout(
    test_hangouts.said("The key is in the blue safe, André."), test_hangouts.said("Thanks", "e2")
)

SAMPLES: Mapping[str, Sample] = {
    "slack": Sample(
        "slack",
        {
            "users.json": _json([{"id": "U1", "name": "ada", "profile": {"real_name": "Ada"}}]),
            "channels.json": _json([{"id": "C1", "name": "boats", "members": ["U1"]}]),
            "boats/2024-05-01.json": _json(_SLACK_MESSAGES),
        },
    ),
    "chatgpt": Sample(
        "chatgpt",
        {"conversations.json": _json([test_chatgpt.conversation(
            test_chatgpt.ROOT, test_chatgpt.SYSTEM, test_chatgpt.CUSTOM, test_chatgpt.FIRST,
            test_chatgpt.FIRST_ANSWER, leaf="a1")])},
    ),
    "claude": Sample(
        "claude",
        {"conversations.json": _json([test_claude_ai.conversation(*test_claude_ai.MESSAGES)])},
    ),
    "gemini": Sample("gemini", {"Gemini Apps/MyActivity.json": _json([
        test_gemini.ASKED, test_gemini.OF_BARD, *test_gemini.OTHERS])}),
    "grok": Sample("grok", {"prod-grok-backend.json": _json(
        test_grok.export(test_grok.conversation(*test_grok.RESPONSES)))}),
    "claude_code": Sample(
        "claude_code",
        {"projects/s1.jsonl": _lines(
            {**_CODE, "type": "user", "timestamp": "2024-05-01T10:00:00.000Z", "parentUuid": None,
             "message": {"role": "user", "content": "I use é and tabs."}},
            {**_CODE, "type": "assistant", "timestamp": "2024-05-01T10:00:05.000Z", "uuid": "u2",
             "parentUuid": "u1", "message": {"role": "assistant", "id": "m1", "content": [
                 {"type": "text", "text": "Noted."}]}},
        )},
    ),
    "codex": Sample("codex", {"sessions/rollout-1.jsonl": _lines(*test_codex.RECORDS)}),
    "gemini_cli": Sample("gemini_cli", {"chats/session-1.json": _json(
        test_gemini_cli.session(*test_gemini_cli.MESSAGES))}),
    "opencode": Sample("opencode", {"session.json": _json(test_opencode.exported())}),
    "aider": Sample("aider", {"boats/aider.chat.history.md":
        (test_aider.FIRST + test_aider.SECOND).encode()}, "Europe/Berlin"),
    "mem0": Sample(
        "mem0",
        {"memories.json": _json({"results": [
            {"id": "1", "memory": "Lives in Córdoba", "user_id": "ada", "hash": "x",
             "created_at": "2024-05-01T10:00:00-07:00", "updated_at": None, "metadata": None}]})},
    ),
    "mbox": Sample("mbox", {"all.mbox": f"From ada Wed May 1 10:00:00 2024\n{_MAIL}\n".encode()}),
    "email": Sample("email", {"one.eml": _MAIL.encode()}),
    "icalendar": Sample("icalendar", {"boats.ics": test_icalendar.calendar(
        test_icalendar.REGATTA, test_icalendar.ROWING).encode()}),
    "matrix": Sample("matrix", {"export.json": _json(
        {"room_name": "House", "messages": test_matrix.EVENTS})}),
    "telegram": Sample("telegram", {"result.json": _json(_TELEGRAM)}, "Europe/Berlin"),
    "telegram pages": Sample("telegram", {"ChatExport_2024-03-05/messages.html":
        test_telegram_pages.page(*test_telegram_pages.MESSAGES).encode()}),
    "twitter": Sample("twitter", test_twitter.archive(*test_twitter.MESSAGES)),
    "linkedin": Sample("linkedin", {"messages.csv":
        test_linkedin.table(*test_linkedin.MESSAGES).encode()}),
    "imessage text": Sample("imessage", {"Bob.txt":
        (test_imessage_text.FIRST + test_imessage_text.SECOND).encode()}, "Europe/Berlin"),
    "evernote": Sample("evernote", {"Notebook.enex":
        test_evernote.export(test_evernote.BOAT).encode()}),
    "discord": Sample("discord", {"tea [9].json": _json(test_discord.document())}),
    "googlechat": Sample(
        "googlechat",
        {"Groups/DM DMxyzAAAAE/messages.json": _json({"messages": [
            test_google_chat.sent("Where is the kéy?"),
            test_google_chat.sent("In the safe.", "R2", creator=test_google_chat.BOB)]})},
    ),
    "hangouts": Sample("hangouts", {"Hangouts/Hangouts.json": _json(_HANGOUTS)}),
    "skype": Sample("skype", {"messages.json": _json(test_skype.export(
        test_skype.said("2", "Thanks, André"), test_skype.said("1", "a < b", type_="Text")))}),
    "teams": Sample("teams", {"chat.json": _json(test_teams.answer(
        test_teams.said("1", "The key is in the blue safe, André."),
        test_teams.said("2", "Thanks", test_teams.BOB)))}),
    "sms": Sample("sms", {"sms.xml": test_sms_backup.backup(*test_sms_backup.RECORDS).encode()}),
    "irc": Sample("irc", {"#boats.log": _IRC.encode()}, "Europe/Berlin"),
    "signal": Sample("signal", {"main.jsonl": _lines(
        *test_signal_backup.FRAMES,
        test_signal_backup.item(1, **test_signal_backup.text("The key is in the blue safe.")),
        test_signal_backup.item(2, 1, **test_signal_backup.text("Thanks, André")))}),
    "instagram": Sample("instagram", {"inbox/ada_17/message_1.json": _json({
        "participants": [{"name": "Ada"}, {"name": "Bob"}], "title": "Ada",
        "messages": [test_other_chats.sent("The key is in the blue safe."),
                     test_other_chats.sent("Thanks", 1_577_186_590_123)]})}),
    "whatsapp": Sample("whatsapp", {"WhatsApp Chat - Ada/_chat.txt": _WHATSAPP.encode()},
                       "Europe/Berlin"),
    "keep": Sample("keep", {"Keep/0.json": _json(test_google_keep.note("I moved to Oslo.")),
                           "Keep/1.json": _json(test_google_keep.LIST)}),
    "notes": Sample("notes", {"Log/Boats.markdown": "---\ncreated: 2024-05-01\n---\nThe boat is "
                    "[[Åland|red]].\n".encode(), "Log/2024-05-02.txt": b"I bought a rope."}),
    "jsonl": Sample("jsonl", {"events.jsonl": _lines(*(
        {"platform": "chat", "sender_id": "ada", "content": f"André {number}",
         "occurred_at": f"2024-05-01T10:0{number}:00Z"} for number in range(3)))}),
}  # fmt: skip
#: The samples whose files are all JSON.
JSON_SAMPLES = tuple(
    name
    for name, sample in SAMPLES.items()
    if all(path.endswith((".json", ".jsonl")) for path in sample.files)
)
