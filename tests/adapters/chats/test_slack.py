"""Slack's exports: a workspace as a zip or folder, one channel's folder, one day's file."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.schemas.events import Attachment, Edit, Reaction
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from tests.adapters.kit import EXPORTS, Opened, opened, zipped

USERS = [
    {"id": "U1", "name": "ada", "profile": {"real_name": "Ada Lovelace", "display_name": "ada"}},
    {"id": "U2", "name": "bob", "real_name": "Bob"},
]
CHANNELS = [{"id": "C1", "name": "general"}, {"id": "C2", "name": "random"}]
DMS = [{"id": "D1", "members": ["U1", "U2"]}]


def message(text: str, ts: str = "1700000000.000100", user: str = "U1", **more: Any) -> Any:
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


DAYS: dict[str, list[Any]] = {
    "general/2023-11-14.json": [
        message("<@U1> has joined the channel", "1700000000.000001", subtype="channel_join"),
        message(
            "Ask <@U2> &amp; <#C2|random>",
            "1700000000.000100",
            thread_ts="1700000000.000100",
            reactions=[{"name": "tada", "users": ["U1", "U2"], "count": 2}],
        ),
        message(
            "In <https://a.example/x|the page>", "1700000001.5", "U2", thread_ts="1700000000.000100"
        ),
        message("I moved to Porto.", "1700000002.000300", edited={"ts": "1700000900.5"}),
    ],
    "general/2023-11-15.json": [
        {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": "1700050000.000100",
         "text": "This message was deleted."},
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "CI", "text": "",
         "ts": "1700050001.000100", "attachments": [{"pretext": "Build", "text": "failed"}]},
    ],
    "random/2023-11-14.json": [message("ok", "1700000000.000100")],
    "D1/2023-11-14.json": [message("secret", "1700000003.000100")],
}  # fmt: skip


def export(days: dict[str, list[Any]] = DAYS) -> dict[str, bytes]:
    lists = {"users.json": USERS, "channels.json": CHANNELS, "dms.json": DMS}
    return {name: json.dumps(content).encode() for name, content in {**lists, **days}.items()}


def zipped_export(tmp_path: Path, members: dict[str, bytes] | None = None) -> Path:
    path = tmp_path / "slack.zip"
    path.write_bytes(zipped(export() if members is None else members))
    return path


def unpacked_export(tmp_path: Path, below: str = "") -> Path:
    for name, content in export().items():
        path = tmp_path / "slack" / below / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "slack"


def said(found: Opened) -> list[tuple[str, str | None, str]]:
    return [(one.source_id, one.sender_name, one.content) for one in found.contents]


def one(text: str = "", tmp_path: Path = Path(), **more: Any) -> Any:
    """Return the first event of a message."""
    days = {"general/2023-11-14.json": [message(text, **more)]}
    found = opened(zipped_export(tmp_path, export(days)))
    assert found.rejections == []
    return found.contents[0]


def test_a_workspace_gives_each_message_once_with_who_said_it_and_where(tmp_path: Path) -> None:
    found = opened(zipped_export(tmp_path))
    assert found.formats == ["slack"]
    assert said(found) == [
        ("D1:1700000003.000100", "Ada Lovelace", "secret"),
        ("C1:1700000000.000001", "Ada Lovelace", "@Ada Lovelace has joined the channel"),
        ("C1:1700000000.000100", "Ada Lovelace", "Ask @Bob & #random"),
        ("C1:1700000000.000100:reaction:tada:U1", "Ada Lovelace", ":tada:"),
        ("C1:1700000000.000100:reaction:tada:U2", "Bob", ":tada:"),
        ("C1:1700000001.5", "Bob", "In the page (https://a.example/x)"),
        ("C1:1700000002.000300:edited:1700000900.5", "Ada Lovelace", "I moved to Porto."),
        ("C1:1700050000.000100:deleted", None, ""),
        ("C1:1700050001.000100", "CI", "Build\nfailed"),
        ("C2:1700000000.000100", "Ada Lovelace", "ok"),
    ]
    assert found.kinds == {"message": 5, "notice": 1, "reaction": 2, "edit": 1, "deletion": 1}
    assert [one.peer_kind for one in found.contents][:2] == ["dm", "channel"]
    reply = found.contents[5]
    assert (reply.thread_id, reply.reply_to) == ("1700000000.000100", "C1:1700000000.000100")
    assert found.contents[2].thread_id is None
    assert [draft.occurred_at for draft in found.drafts][5:7] == [
        1_700_000_001_500,
        1_700_000_900_500,
    ]
    edited, bot = found.contents[6], found.contents[8]
    assert isinstance(edited, Edit)
    assert (edited.target, edited.said_at) == ("C1:1700000002.000300", 1_700_000_002_000)
    assert isinstance(found.contents[3], Reaction)
    assert bot.direction == "out"


@pytest.mark.parametrize("below", ["", "My workspace export"])
def test_a_folder_gives_the_same_as_the_zip(tmp_path: Path, below: str) -> None:
    assert said(opened(unpacked_export(tmp_path, below))) == said(opened(zipped_export(tmp_path)))


def test_a_channel_or_a_day_alone_is_read_too(tmp_path: Path) -> None:
    folder = unpacked_export(tmp_path)
    channel = opened(folder / "general")
    assert len(channel.drafts) == 8
    assert channel.contents[1].source_id == "general:1700000000.000100"
    day = opened(folder / "general" / "2023-11-14.json")
    assert [one.source_id for one in day.contents] == [
        one.source_id for one in channel.contents[:6]
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!here> <!channel|everyone>", "@here everyone"),
        ("<mailto:ada@a.example|ada@a.example>", "ada@a.example"),
        ("<https://a.example>", "https://a.example"),
        ("&lt;b&gt; 1 &amp;lt; 2", "<b> 1 &lt; 2"),
        ("<@U9|carol>, <@U8>", "@carol, @U8"),
        ("a < b and c > d", "a < b and c > d"),
    ],
)
def test_markup_reads_as_it_is_shown(tmp_path: Path, text: str, shown: str) -> None:
    assert one(text, tmp_path).content == shown


def test_words_in_blocks_count_where_the_text_is_empty(tmp_path: Path) -> None:
    elements = [
        {"type": "rich_text_section", "elements": [
            {"type": "text", "text": "Hello "}, {"type": "user", "user_id": "U2"},
            {"type": "text", "text": ", see "}, {"type": "link", "url": "https://a.example"}]},
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "you said so"}]},
    ]  # fmt: skip
    event = one("", tmp_path, blocks=[{"type": "rich_text", "elements": elements}])
    assert event.content == "Hello @Bob, see https://a.example"
    assert event.metadata["quoted"] == "you said so"


def test_what_was_quoted_or_shared_was_not_said_by_the_sender(tmp_path: Path) -> None:
    event = one("&gt; I live in Rome\nReally?", tmp_path)
    assert (event.content, event.metadata["quoted"]) == ("Really?", "I live in Rome")
    shared = {"is_share": True, "author_name": "Bob", "text": "I live in <@U1>",
              "from_url": "https://s.example/p?x=1"}  # fmt: skip
    event = one("", tmp_path, attachments=[shared])
    assert event.content == ""
    assert event.attachments == (
        Attachment("forward", "Bob", "https://s.example/p", caption="I live in @Ada Lovelace"),
    )


def test_files_are_named_and_links_of_theirs_let_nobody_in(tmp_path: Path) -> None:
    file = {"id": "F1", "name": "plan.pdf", "mimetype": "application/pdf", "size": 9,
            "url_private": "https://files.example/plan.pdf?t=xoxe-secret"}  # fmt: skip
    event = one("the plan", tmp_path, files=[file])
    assert event.content == "the plan"
    assert event.attachments == (
        Attachment("file", "plan.pdf", "https://files.example/plan.pdf", "application/pdf", size=9),
    )


def test_an_organization_has_its_members_in_another_file(tmp_path: Path) -> None:
    members = export()
    members["org_users.json"] = members.pop("users.json")
    assert said(opened(zipped_export(tmp_path, members))) == said(opened(zipped_export(tmp_path)))
    # Each workspace of it has its channels in a folder.
    members["teams/North/channels.json"] = b'[{"id": "C9", "name": "harbour"}]'
    members["teams/North/harbour/2023-11-14.json"] = json.dumps(
        [message("<@U2> is in <#C9>")]
    ).encode()
    found = opened(zipped_export(tmp_path, members))
    assert found.rejections == []
    assert said(found)[-1] == (
        "C9:1700000000.000100", "Ada Lovelace", "@Bob is in #harbour",
    )  # fmt: skip
    assert len(found.contents) == len(opened(zipped_export(tmp_path)).contents) + 1


def test_a_damaged_day_loses_nothing_of_the_others(tmp_path: Path) -> None:
    members = export()
    whole = members["general/2023-11-14.json"]
    members["general/2023-11-14.json"] = whole[: whole.index(b"1700000001.5")]
    members["users.json"] = members["users.json"][:-30]
    found = opened(zipped_export(tmp_path, members))
    assert {item.path.partition(".zip/")[2] for item in found.rejections} == {
        "general/2023-11-14.json",
        "users.json",
    }
    assert "cut off, after record 2" in found.rejections[-1].reason
    assert len(found.drafts) == 8


def test_an_odd_message_is_refused_with_its_place_and_the_rest_is_read(tmp_path: Path) -> None:
    odd: list[Any] = [
        message("no time", ts=""),
        {**message("a number"), "ts": 1700000000.0001},
        7,
        None,
        {"type": "message"},
        message("a reaction without a name", reactions=[{}]),
        message("good", "1700000009.000100"),
    ]
    odd.insert(0, message("first"))
    found = opened(zipped_export(tmp_path, export({"general/2023-11-14.json": odd})))
    assert found.texts == ["first", "good"]
    assert [item.line for item in found.rejections] == [2, 3, 4, 5, 6, 7]


def test_an_edit_since_the_last_export_is_new_and_the_rest_is_not(tmp_path: Path) -> None:
    before = copy.deepcopy(DAYS)
    del before["general/2023-11-14.json"][3]["edited"]
    first = {one.source_id for one in opened(zipped_export(tmp_path, export(before))).contents}
    later = {one.source_id for one in opened(zipped_export(tmp_path)).contents}
    assert later - first == {"C1:1700000002.000300:edited:1700000900.5"}


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_an_export_that_grew_adds_only_what_is_new(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    part = {
        name: days[: data.draw(st.integers(0, len(days)), label=name)]
        for name, days in DAYS.items()
    }
    room = tmp_path_factory.mktemp("grown")
    earlier = {one[::2] for one in said(opened(zipped_export(room, export(part))))}
    whole = [one[::2] for one in said(opened(zipped_export(room)))]
    assert earlier <= set(whole)
    assert len(set(whole)) == len(whole)


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="the real exports are not here")
def test_a_real_export_gives_what_was_counted_by_hand() -> None:
    """158 messages in 17 files: 8 joined and 3 bots were added; one was edited, one liked."""
    found = opened(EXPORTS / "slack" / "slack-export-viewer" / "testarchive.zip")
    assert found.rejections == []
    assert found.kinds == {"message": 146, "notice": 11, "reaction": 1, "edit": 1}
    assert {one.peer_id for one in found.contents} == {"C0JGLMMNX", "C0JL6CGQ2"}
    # Two bots sent 94, and what they say is no fact.
    assert sum(one.direction == "out" for one in found.contents) >= 94
    assert all(one.content or one.attachments for one in found.contents)
    files = [item for one in found.contents for item in one.attachments if item.type == "file"]
    assert [item.name for item in files] == [
        *("100_cities.js", "10_cities.js", "10_cities.js", "cities1000.js")
    ]
    assert not [item for item in files if "xoxe" in (item.url or "")]


def test_programs_are_called_by_their_names_and_say_nothing_of_anybody(tmp_path: Path) -> None:
    bot = {"id": "U9", "name": "deploy", "is_bot": True,
           "profile": {"real_name": "Deploy Bot", "bot_id": "B9"}}  # fmt: skip
    said_by = [
        message("By id", "1700000001.000100", "U9"),
        {"type": "message", "text": "By bot", "bot_id": "B9", "ts": "1700000002.000100"},
        {"type": "message", "text": "By profile", "bot_id": "B5", "ts": "1700000003.000100",
         "bot_profile": {"id": "B5", "name": "Geekbot"}},
        {"type": "message", "text": "By nobody", "bot_id": "B4", "ts": "1700000004.000100"},
        message("Reminder: tea.", "1700000005.000100", "USLACKBOT"),
        message("I live in Ghent.", "1700000006.000100"),
        message("And again", "1700000007.000100", subtype="reply_broadcast"),
    ]  # fmt: skip
    members = export({"general/2023-11-14.json": said_by})
    members["users.json"] = json.dumps([*USERS, bot]).encode()
    found = opened(zipped_export(tmp_path, members))
    assert [(one.sender_name, one.direction, one.content) for one in found.contents] == [
        ("Deploy Bot", "out", "By id"),
        ("Deploy Bot", "out", "By bot"),
        ("Geekbot", "out", "By profile"),
        (None, "out", "By nobody"),
        (None, "out", "Reminder: tea."),
        ("Ada Lovelace", None, "I live in Ghent."),
        ("Ada Lovelace", None, "And again"),
    ]
    assert found.kinds == {"message": 7}


def test_a_channel_without_a_label_is_called_by_its_name(tmp_path: Path) -> None:
    (channel, *_) = CHANNELS
    day = {"random/2023-11-14.json": [message(f"in <#{channel['id']}|> and <#C77|>")]}
    (event,) = opened(zipped_export(tmp_path, export(day))).contents
    assert event.content == f"in #{channel['name']} and #C77"


def test_a_renamed_channel_makes_no_conflict(tmp_path: Path) -> None:
    day = {"random/2023-11-14.json": [message(f"in <#{CHANNELS[0]['id']}|>, <@U2>!")]}
    renamed = export(day)
    renamed["channels.json"] = renamed["channels.json"].replace(b'"general"', b'"everything"')
    imports = [opened(zipped_export(tmp_path, one)).drafts for one in (export(day), renamed)]
    assert "#everything" in str(imports[1])
    ledger = EmbeddedLedger(tmp_path / "home")
    statuses = [[one.status for one in ledger.publish("default", some)] for some in imports]
    ledger.close()
    assert statuses == [["new"], ["duplicate"]]


def test_a_bot_says_what_stands_in_its_attachments_and_blocks(tmp_path: Path) -> None:
    ticket = {
        "fallback": "T-1",
        "title": "T-1 opened",
        "title_link": "https://t.example/1",
        "text": "The pump leaks.",
        "fields": [{"title": "Priority", "value": "high"}],
    }
    preview = {"from_url": "https://t.example/1", "title": "Tickets"}
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "*Deployed* by <@U2>"}}
    button = {"type": "button", "text": {"type": "plain_text", "text": "Undo"}}
    blocks = [section, {"type": "actions", "elements": [button]}]
    event = one("A ticket:", tmp_path, bot_id="B1", attachments=[ticket, preview])
    assert event.content == "A ticket:\nT-1 opened\nThe pump leaks.\nPriority: high"
    assert event.attachments == (Attachment("link", "Tickets", "https://t.example/1"),)
    event = one("Deployed", tmp_path, bot_id="B1", blocks=blocks)
    assert event.content == "Deployed\n*Deployed* by @Bob"


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({"type": "markdown", "text": "**Deployed** v1"}, "**Deployed** v1"),
        (
            {"type": "context", "elements": [
                {"type": "mrkdwn", "text": "by <@U2>"}, {"type": "image", "image_url": "x"},
                {"type": "plain_text", "text": "today"}]},
            "by @Bob today",
        ),
        (
            {"type": "section", "text": {"type": "mrkdwn", "text": "Build"},
             "fields": [{"type": "mrkdwn", "text": "State: ok"}]},
            "Build\nState: ok",
        ),
        (
            {"type": "table", "rows": [
                [{"type": "raw_text", "text": "pump"}, {"type": "rich_text", "elements": [
                    {"type": "rich_text_section", "elements": [{"type": "text", "text": "ok"}]}]}],
                [{"type": "raw_text", "text": "keel"}, {"type": "raw_text", "text": "leaks"}]]},
            "pump | ok\nkeel | leaks",
        ),
        (
            {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
                {"type": "text", "text": "on "}, {"type": "date", "fallback": "Nov 14"}]}]},
            "on Nov 14",
        ),
    ],
    ids=["markdown", "context", "section", "table", "date"],
)  # fmt: skip
def test_words_of_every_kind_of_block_are_kept(
    tmp_path: Path, block: dict[str, Any], shown: str
) -> None:
    assert one("", tmp_path, blocks=[block]).content == shown


def test_a_message_of_blocks_without_words_is_kept(tmp_path: Path) -> None:
    message = one("", tmp_path, blocks=[{"type": "image", "image_url": "https://a.example/x"}])
    assert message.attachments == (Attachment(type="unsupported"),)


def test_a_member_of_another_workspace_has_the_name_in_the_message(tmp_path: Path) -> None:
    profile = {"real_name": "", "display_name": "", "name": "zoe"}
    assert one("hi", tmp_path, user="U9", user_profile=profile).sender_name == "zoe"
