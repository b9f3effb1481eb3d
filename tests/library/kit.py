"""Events in one line, and homes to open."""

from __future__ import annotations

from typing import Any


def said(
    id: str, content: str, *, by: str = "Ada", minute: int = 0, **fields: Any
) -> dict[str, Any]:
    """Return an event as a dict."""
    return {
        "platform": "chat",
        "sender_id": f"u-{by}",
        "sender_name": by,
        "id": id,
        "occurred_at": f"2026-05-08T{10 + minute // 60}:{minute % 60:02}:00Z",
        "content": content,
        **fields,
    }
