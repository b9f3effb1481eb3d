"""A hook of Claude Code that connects a session to a running `recollect serve`.

It reads the hook's payload from standard input. At the start of a session and with every prompt it
prints relevant memories as `additionalContext`, if there are any. With every event it sends the
messages written since the last event, without injected context. This includes interrupted turns,
and messages written while the service was down. The hook uses the standard library only, and exits
after one second at most; what is left is sent in the background. Errors are ignored: the agent then
works without memory. See `plugin_service.py` for the configuration.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from recollect.plugins.claude_code.hooks.plugin_service import configured_service
    from recollect.plugins.claude_code.hooks.transcript_parser import typed_text
    from recollect.plugins.claude_code.hooks.transcript_sender import TranscriptSender
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from plugin_service import configured_service
    from transcript_parser import typed_text
    from transcript_sender import TranscriptSender

# In seconds, for everything that delays the agent.
DEADLINE = 1.0
DEFAULT_MAX_TOKENS = 500
_MAX_TASK_LENGTH = 100_000
# Seconds that a request in the background may take.
_BACKGROUND_TIMEOUT = 60.0
_IN_BACKGROUND = "--in-background"
_CONTEXT_EVENTS = ("SessionStart", "UserPromptSubmit")
_EVENTS = (*_CONTEXT_EVENTS, "Stop", "SessionEnd", "PreCompact")


class HookRun:
    """One run of the hook: its output, and whether it is still sending messages."""

    def __init__(self) -> None:
        self.output = ""
        self.transcript: Optional[str] = None
        self.is_sending = False

    def run(self) -> None:
        """Handle the payload on standard input; errors are ignored."""
        try:
            payload = json.load(sys.stdin)
            event = payload.get("hook_event_name")
            if event not in _EVENTS:
                return
            path = payload.get("transcript_path")
            self.transcript = path if isinstance(path, str) and path else None
            sending = threading.Thread(target=self._send, daemon=True)
            self.is_sending = True
            sending.start()
            if event in _CONTEXT_EVENTS:
                self._add_context(event, payload)
            sending.join()
        except Exception:
            # A failure of the memory must not block the agent.
            return

    def _add_context(self, event: str, payload: Mapping[str, Any]) -> None:
        task = _task(event, payload)[:_MAX_TASK_LENGTH]
        if task.strip():
            body = {"task": task, "max_tokens": DEFAULT_MAX_TOKENS}
            answer = configured_service().post_in_zone("context", body, DEADLINE)
            if block := str(answer.get("block", "")):
                specific = {"hookEventName": event, "additionalContext": block}
                self.output = json.dumps({"hookSpecificOutput": specific})

    def _send(self) -> None:
        try:
            sender = TranscriptSender(configured_service(), DEADLINE)
            if self.transcript is not None and os.path.exists(self.transcript):
                sender.positions.register(self.transcript)
            sender.send_all(self.transcript)
        except Exception:
            # A later hook sends the messages.
            pass
        self.is_sending = False


def main() -> None:
    """Handle the payload within the deadline; print at most one JSON object."""
    if sys.argv[1:2] == [_IN_BACKGROUND]:
        _send_in_background(*sys.argv[2:3])
        return
    run = HookRun()
    worker = threading.Thread(target=run.run, daemon=True)
    worker.start()
    worker.join(DEADLINE)
    if run.output:
        sys.stdout.write(f"{run.output}\n")
    sys.stdout.flush()
    if run.is_sending:
        _continue_in_background(run.transcript)
    # Exits even if a thread is still waiting for an answer.
    os._exit(0)


def _task(event: str, payload: Mapping[str, Any]) -> str:
    if event == "UserPromptSubmit":
        return typed_text(str(payload.get("prompt", "")))
    project = Path(str(payload.get("cwd", ""))).name
    return f"What did we decide, plan and leave undone in {project}?" if project else ""


def _continue_in_background(transcript: Optional[str]) -> None:
    """Start a process that outlives the hook and sends the remaining messages."""
    command = [sys.executable, os.path.abspath(__file__), _IN_BACKGROUND]
    # If it cannot start, a later hook sends them.
    with suppress(OSError):
        subprocess.Popen(
            [*command, transcript] if transcript else command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _send_in_background(transcript: Optional[str] = None) -> None:
    sender = TranscriptSender(configured_service(), _BACKGROUND_TIMEOUT)
    # If the service does not accept the messages, a later hook sends them.
    with suppress(OSError, ValueError), sender.positions.background_lock() as is_alone:
        if is_alone:
            sender.send_all(transcript)


if __name__ == "__main__":
    main()
