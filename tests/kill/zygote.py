"""Runs commands in processes forked from one that has imported everything, so that each is short.

A line on stdin is a command as JSON, `{"arguments", "environment", "output", "errors"}`; answered
is the process id. After an empty line it is waited for, and answered is how it ended, as
`os.waitpid` has it: until then the id is its own.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, NoReturn

from recollect.cli.app import run
from recollect.streams.system import failpoints


def serve() -> None:
    """Fork a process for each line until there are no more."""
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if not pid:
            _be(asked)
        print(pid, flush=True)
        sys.stdin.readline()
        print(os.waitpid(pid, 0)[1], flush=True)


def _be(asked: dict[str, Any]) -> NoReturn:
    """Be the command: its environment, its streams, its failpoints."""
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "output"), (2, "errors")):
            os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        os.environ.clear()
        os.environ.update(asked["environment"])
        importlib.reload(failpoints)  # which reads the environment when it is imported
        status = run(asked["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve()
