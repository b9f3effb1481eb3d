"""How tests run the hook of Claude Code."""

from __future__ import annotations

import sys
from pathlib import Path

import recollect

PLUGIN = Path(recollect.__file__).parent / "plugins" / "claude_code"
HOOKS = PLUGIN / "hooks"
HOOK = HOOKS / "memory_hook.py"

_PATIENT = f"""
import sys
sys.path.insert(0, {str(HOOKS)!r})
import memory_hook
memory_hook.DEADLINE = 60.0
memory_hook.main()
"""


def hook_command(*, patient: bool) -> list[str]:
    """Return the command of the hook, isolated: the standard library alone.

    `patient`: a busy machine may take longer than the second that the hook has.
    """
    return [sys.executable, "-I", *(["-c", _PATIENT] if patient else [str(HOOK)])]
