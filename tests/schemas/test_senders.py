"""Whether an assistant or a person wrote a message."""

from __future__ import annotations

import pytest

from recollect.schemas.events import Direction
from recollect.schemas.senders import is_assistant


@pytest.mark.parametrize(
    ("sender", "direction", "platform", "in_turn", "expected"),
    [
        ("owner", "out", "sms", False, False),
        ("owner", "out", "email", False, False),
        ("agent-7", "out", "sms", True, True),
        ("assistant", "out", "sms", False, True),
        ("ChatGPT", "out", "whatsapp", False, True),
        ("u-1", "out", "agent_chat", False, True),
        ("bot-1", "out", "discord", False, True),
        ("u-1", "in", "agent_chat", False, False),
        ("u-1", None, "sms", False, False),
    ],
)
def test_what_goes_out_of_a_persons_account_is_that_persons(
    sender: str, direction: Direction | None, platform: str, in_turn: bool, expected: bool
) -> None:
    assert is_assistant(sender, direction, platform=platform, in_turn=in_turn) is expected
