"""Fault 39: a user who is renamed makes no conflicts of the messages that mention them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.schemas.events import Attachment, Content, Draft, Message, SystemNotice
from recollect.schemas.mentioned_users import MENTIONS, find_mentions, same_but_names
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from tests.adapters.chats import test_discord, test_slack
from tests.adapters.kit import opened

MESSAGES = [
    test_slack.message("Ask <@U2> &amp; <@U1>, then <@U2>.", "1700000001.000100"),
    test_slack.message("<@U2> has joined the channel", "1700000002.000100", subtype="channel_join"),
    test_slack.message("Moved.", "1700000003.000100", edited={"ts": "1700000900.5"}),
    test_slack.message("By <@U2>", "1700000004.000100", edited={"ts": "1700000901.5"}),
    test_slack.message(
        "", "1700000005.000100",
        attachments=[{"is_share": True, "author_name": "Eve", "text": "I asked <@U2>"}],
    ),
    test_slack.message("&gt; <@U2> said so", "1700000006.000100"),
    test_slack.message("plain", "1700000007.000100"),
]  # fmt: skip


def slack(room: Path, bob: str) -> list[Draft]:
    """Return what Slack's export gives while U2 is called so."""
    members = test_slack.export({"general/2023-11-14.json": MESSAGES})
    users: list[Any] = copy.deepcopy(test_slack.USERS)
    users[1]["real_name"] = bob
    members["users.json"] = json.dumps(users).encode()
    return opened(test_slack.zipped_export(room, members)).drafts


def discord(room: Path, bob: str) -> list[Draft]:
    """Return what DiscordChatExporter gives: names written out, as it does, and as markup."""
    user = {**test_discord.BOB, "name": bob.lower(), "nickname": bob}
    mentions: dict[str, Any] = {"mentions": [user]}
    said = test_discord.said
    forwarded = {"content": f"@{bob} lives in Rome.", "attachments": [], **mentions}
    messages = [
        said(11, f"Ask @{bob} and @{bob}.", **mentions),
        said(12, "Ask <@2>.", **mentions),
        said(13, f"Added {bob} to the group.", type_="RecipientAdd", **mentions),
        said(14, f"@{bob} again", timestampEdited="2023-11-14T23:20:00.5+01:00", **mentions),
        said(15, "", reference={"messageId": "5", "type": "Forward"}, forwardedMessage=forwarded),
        said(16, "plain"),
    ]
    return test_discord.read(room, test_discord.document(messages)).drafts


def published(room: Path, *imports: Sequence[Draft]) -> list[dict[str, int]]:
    """Return how many drafts of each import were new, duplicate or a conflict."""
    ledger = EmbeddedLedger(room / "home")
    found = []
    for drafts in imports:
        counts: dict[str, int] = {}
        for receipt in ledger.publish("default", drafts):
            counts[receipt.status] = counts.get(receipt.status, 0) + 1
        found.append(counts)
    ledger.close()
    return found


def unmarked(drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts as earlier builds gave them, without the places of mentions."""
    found = []
    for draft in drafts:
        payload = draft.payload
        assert isinstance(payload, Content)
        metadata = {key: value for key, value in payload.metadata.items() if key != MENTIONS}
        payload = msgspec.structs.replace(payload, metadata=metadata)
        found.append(msgspec.structs.replace(draft, payload=payload))
    return found


@pytest.mark.parametrize("export", [slack, discord])
@pytest.mark.parametrize("earlier", [False, True], ids=["this build", "an earlier build"])
def test_fault_39_renamed_user_makes_no_conflicts(
    tmp_path: Path, export: Callable[[Path, str], list[Draft]], earlier: bool
) -> None:
    before, after = export(tmp_path, "Bob"), export(tmp_path, "Robert B. Burns")
    if export is discord and earlier:
        # A notice has no sign before a name, so that unmarked ones cannot be told.
        before, after = (
            [one for one in some if one.payload.source_id != "13"] for some in (before, after)
        )
    first = unmarked(before) if earlier else before
    assert published(tmp_path, first, after, before) == [
        {"new": len(before)},
        {"duplicate": len(before)},
        {"duplicate": len(before)},
    ]
    assert "@Robert B. Burns" in str([draft.payload for draft in after])


def test_fault_39_readers_see_the_name_and_its_place(tmp_path: Path) -> None:
    payload = slack(tmp_path, "Bob & Co")[0].payload
    assert isinstance(payload, Content)
    assert payload.content == "Ask @Bob & Co & @Ada Lovelace, then @Bob & Co."
    marked = [
        (payload.content[one["start"] : one["end"]], one["id"])
        for one in payload.metadata[MENTIONS]
    ]
    assert marked == [("@Bob & Co", "U2"), ("@Ada Lovelace", "U1"), ("@Bob & Co", "U2")]


OTHERS = {
    "other words": "Ask @Bob soon.",
    "another person": "Ask @Eve now.",
    "nobody": "Ask now.",
    "another line": "Ask @Bob\nand Eve now.",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_fault_39_other_words_are_a_conflict_still(tmp_path: Path, text: str) -> None:
    def draft(content: str, names: dict[str, list[str]]) -> Draft:
        metadata = {MENTIONS: find_mentions(content, (), {"@": names})}
        payload = Message(source_id="1", sender_id="U1", content=content, metadata=metadata)
        return Draft(platform="slack", occurred_at=1, payload=payload)

    held = draft("Ask @Bob now.", {"U2": ["Bob"]})
    given = draft(text, {"U3": ["Eve"], "U2": ["Bob"]})
    assert published(tmp_path, [held], [given]) == [{"new": 1}, {"conflict": 1}]


@pytest.mark.parametrize("mentions", [7, [7], [{"start": 9, "end": 1, "id": "a"}], [{"id": "a"}]])
def test_fault_39_metadata_of_others_under_the_key_counts_for_nothing(mentions: Any) -> None:
    one = Message(source_id="1", sender_id="a", content="hi", metadata={MENTIONS: mentions})
    assert not same_but_names(one, msgspec.structs.replace(one, content="ho"))


PIECES = st.lists(st.sampled_from(["@Bob", "@Ada", "x", " ", "@", "\n"]), max_size=8)


@given(PIECES, st.sampled_from(["Rob", "R", "Bob B"]))
def test_fault_39_any_message_is_known_after_a_rename(pieces: list[str], name: str) -> None:
    texts = ["".join(pieces), "".join(f"@{name}" if one == "@Bob" else one for one in pieces)]
    forms = []
    for text, now in zip(texts, ("Bob", name), strict=True):
        caption = Attachment("forward", "Eve", caption=text)
        names = {"U2": [now], "U1": ["Ada"]}
        metadata = {MENTIONS: find_mentions(text, [caption], {"@": names})}
        forms.append(
            Message(
                source_id="1", sender_id="a", content=text, attachments=(caption,),
                metadata=metadata,
            )
        )  # fmt: skip
    if forms[0].metadata[MENTIONS] and len(forms[0].metadata[MENTIONS]) == len(
        forms[1].metadata[MENTIONS]
    ):
        assert same_but_names(*forms)
        assert same_but_names(*reversed(forms))


def test_fault_36_text_that_is_now_a_notice_is_known(tmp_path: Path) -> None:
    """An id made of the words stays, so the import neither doubles nor refuses the text."""
    fields: dict[str, Any] = {"source_id": "content-1", "sender_id": "a", "content": "Gelöscht"}

    def drafts() -> tuple[list[Draft], list[Draft]]:
        notice = SystemNotice(**fields, metadata={"deleted": True})
        kinds: tuple[Message, SystemNotice] = (Message(**fields), notice)
        first, second = (Draft(platform="whatsapp", occurred_at=1, payload=one) for one in kinds)
        return [first], [second]

    assert published(tmp_path, *drafts()) == [{"new": 1}, {"duplicate": 1}]
    fields["source_id"] = "own-1"
    assert published(tmp_path, *drafts()) == [{"new": 1}, {"conflict": 1}]
