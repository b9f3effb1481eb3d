"""A hook of Claude Code that asks a running `recollect serve`, and says nothing where it cannot.

It reads the hook's payload on standard input. At the start of a session and with a prompt it prints
what is remembered as `additionalContext`, if anything is relevant; when the agent stops it sends
what was said, without what memory had put there. It needs nothing but the standard library, takes a
second at most, and never fails: then the agent works without memory.

RECOLLECT_URL [http://127.0.0.1:8420], RECOLLECT_TOKEN and RECOLLECT_ZONE [default] say where and as
whom it asks, or url, token and zone under [client] in recollect's configuration file.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import urllib.request
from pathlib import Path
from urllib.parse import quote

# In seconds, for everything.
DEADLINE = 1.0
DEFAULT_MAX_TOKENS = 500
# The last turn of a transcript is in its end.
_MAX_TRANSCRIPT_BYTES = 2_000_000
_MAX_TEXT_LENGTH = 100_000
# What is in a message and was said by nobody in it.
_INSERTED = re.compile(
    r"<(memory_context|system-reminder|command-name|command-message|command-args|"
    r"local-command-stdout|local-command-stderr)\b.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary")


def main() -> None:
    """Do what the payload asks for, within the deadline; print at most one JSON object."""
    printed: list[str] = []
    worker = threading.Thread(target=_guarded, args=(printed,), daemon=True)
    worker.start()
    worker.join(DEADLINE)
    for line in printed[:1]:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    # A thread that still waits for an answer is not waited for.
    os._exit(0)


def _guarded(printed: list[str]) -> None:
    try:
        payload = json.load(sys.stdin)
        event = payload.get("hook_event_name")
        if event == "Stop":
            _send(payload)
        elif event in ("SessionStart", "UserPromptSubmit"):
            block = _context(_task(event, payload))
            if block:
                said = {"hookEventName": event, "additionalContext": block}
                printed.append(json.dumps({"hookSpecificOutput": said}))
    except Exception:
        # Whatever it is, the agent must not be held up by its memory.
        return


def _task(event: str, payload: dict[str, object]) -> str:
    if event == "UserPromptSubmit":
        return without_insertions(str(payload.get("prompt", "")))
    project = Path(str(payload.get("cwd", ""))).name
    return f"What did we decide, plan and leave undone in {project}?" if project else ""


def _context(task: str) -> str:
    if not task.strip():
        return ""
    answer = _post("context", {"task": task[:_MAX_TEXT_LENGTH], "max_tokens": DEFAULT_MAX_TOKENS})
    return str(answer.get("block", ""))


def _send(payload: dict[str, object]) -> None:
    path = payload.get("transcript_path")
    if not isinstance(path, str):
        return
    session = str(payload.get("session_id", ""))
    events = last_turn(_end_of(Path(path)), session)
    if events:
        _post("events", {"events": events})


def _end_of(path: Path) -> list[str]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        start = max(size - _MAX_TRANSCRIPT_BYTES, 0)
        file.seek(start)
        lines = file.read().decode("utf-8", "replace").split("\n")
    # The first may be the rest of one.
    return lines[1:] if start else lines


def last_turn(lines: list[str], session: str) -> list[dict[str, object]]:
    """Return the events of a transcript's last turn: the prompt, and what the agent said."""
    events: list[dict[str, object]] = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict) or any(entry.get(mark) for mark in _ASIDE):
            continue
        role, text = entry.get("type"), _text(entry)
        if role not in ("user", "assistant") or not text or not entry.get("timestamp"):
            continue
        if role == "user":
            events.clear()
        events.append(
            {
                "id": str(entry.get("uuid") or ""),
                "platform": "claude_code",
                "sender_id": role,
                "direction": "in" if role == "user" else "out",
                "thread_id": session or None,
                "session_id": session or None,
                "occurred_at": entry["timestamp"],
                "content": text[:_MAX_TEXT_LENGTH],
            }
        )
    return [event if event["id"] else {**event, "id": None} for event in events]


def _text(entry: dict[str, object]) -> str:
    """Return what was said in an entry; results of tools and thoughts are not."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = "\n".join(
            str(block.get("text", ""))
            for block in content
            if isinstance(block, dict) and block.get("type") == "text"
        )
    return without_insertions(content) if isinstance(content, str) else ""


def without_insertions(text: str) -> str:
    """Return a text without what memory, the client or a command put into it."""
    return _INSERTED.sub("", text).strip()


def _post(route: str, body: dict[str, object]) -> dict[str, object]:
    settings = _settings()
    url = settings.get("url", "http://127.0.0.1:8420").rstrip("/")
    if not url.startswith(("http://", "https://")):
        return {}
    zone = quote(settings.get("zone", "default"), safe="")
    headers = {"Content-Type": "application/json"}
    if token := settings.get("token"):
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(
        f"{url}/v1/zones/{zone}/{route}", json.dumps(body).encode(), headers, method="POST"
    )
    # A proxy of the environment has nothing to do with a service on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=DEADLINE) as answer:
        found = json.load(answer)
    return found if isinstance(found, dict) else {}


def _settings() -> dict[str, str]:
    """Return url, token and zone: of the environment, else of recollect's configuration file."""
    home = os.environ.get("RECOLLECT_HOME") or "~/.recollect"
    file = os.environ.get("RECOLLECT_CONFIG") or os.path.join(home, "recollect.toml")
    found: dict[str, str] = {}
    try:
        # Python 3.10 has none: then the environment says everything.
        import tomllib

        with open(os.path.expanduser(file), "rb") as opened:
            found = dict(tomllib.load(opened).get("client", {}))
    except (ImportError, OSError, ValueError, TypeError):
        pass
    names = ("url", "token", "zone")
    return found | {name: said for name in names if (said := os.environ.get(_variable(name)))}


def _variable(name: str) -> str:
    return f"RECOLLECT_{name.upper()}"


if __name__ == "__main__":
    main()
