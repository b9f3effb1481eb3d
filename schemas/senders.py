"""Distinguish messages of assistants from messages of people."""

from __future__ import annotations

import re

from recollect.schemas.events import Direction, Event, PeerKind, message_of

#: Sender names that chat interfaces give to everyone except the user.
ASSISTANT_ROLES = frozenset(
    {"assistant", "ai", "bot", "chatbot", "model", "agent", "system", "tool", "function"}
)
#: Names that only assistants have, with or without a version.
_ASSISTANT_NAME = re.compile(
    r"(?:chat ?gpt|gpt|claude|gemini|llama|mistral|grok|deepseek|copilot)"
    r"(?:[ -]?v?\d[\w.:-]*(?:[ -][\w.:-]+)*|[ -](?:ai|code|opus|sonnet|haiku|instant))"
    r"|(?:chat ?)?gpt|openai|claude\.ai|(?:github|microsoft) copilot|google gemini|meta ai|le chat"
    r"|ai assistant|perplexity(?: ai)?"
)
#: Names of assistants that are also names of people.
_SHARED_NAMES = frozenset(
    {"claude", "anthropic", "gemini", "copilot", "grok", "llama", "mistral", "deepseek", "codex"}
)
#: Platforms where people write to each other.
_PEOPLES_PLATFORMS = frozenset(
    {"whatsapp", "slack", "discord", "telegram", "signal", "imessage", "instagram", "messenger"}
    | {"facebook", "matrix", "irc", "email", "sms", "teams", "googlechat", "hangouts", "skype"}
)
#: Platforms of a personal account: outgoing messages are that person's own, unless they end an
#: assistant's turn.
_OWN_ACCOUNTS = frozenset({"sms", "imessage", "whatsapp", "signal", "email", "phone"})


def is_assistant(
    sender_id: str,
    direction: Direction | None = None,
    *,
    name: str | None = None,
    platform: str = "",
    peer_kind: PeerKind | None = None,
    in_turn: bool = False,
) -> bool:
    """Return whether an assistant wrote a message: it is outgoing, or has an assistant's name.

    A name that people have too, such as Claude, counts as an assistant's only in a one-to-one
    conversation, and never on a platform where people write to each other. In a person's own
    account, what is outgoing is that person's, unless it is `in_turn`: part of an agent's turn.
    """
    if sender_id.strip().lower() in ASSISTANT_ROLES:
        return True
    if direction == "out" and (in_turn or platform.lower() not in _OWN_ACCOUNTS):
        return True
    if direction == "in":
        return False
    among_people = peer_kind in ("group", "channel") or platform.lower() in _PEOPLES_PLATFORMS
    names = {" ".join(one.lower().split()) for one in (sender_id, name or "")}
    return any(
        _ASSISTANT_NAME.fullmatch(one) or (one in _SHARED_NAMES and not among_people)
        for one in names
    )


def is_from_assistant(event: Event) -> bool:
    """Return whether an assistant wrote a message, judged by sender, direction and platform."""
    content = message_of(event)
    return is_assistant(
        content.sender_id,
        content.direction,
        name=content.sender_name,
        platform=event.platform,
        peer_kind=content.peer_kind,
        in_turn=content.turn_id is not None,
    )
