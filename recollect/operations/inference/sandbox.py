"""The sandbox: an interpreter in a process of its own, for code that a model wrote.

The process has an empty environment, no open files but two pipes, and limits of memory and time;
it cannot open files, start processes or reach a network (see sandbox_worker). With `docker` it
also runs in a container without a network.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from recollect.schemas.errors import InvalidInput, Unavailable
from recollect.schemas.wire import SandboxProvider

Tools = Mapping[str, Callable[..., Any]]

_WORKER = Path(__file__).with_name("sandbox_worker.py")
_MEMORY_BYTES = 512 * 1024**2
#: Longest message of the sandbox; a longer one ends it.
_MAX_MESSAGE_BYTES = 4 * 1024**2
_READ_BYTES = 65_536
#: The image in which `docker` runs the interpreter.
DOCKER_IMAGE = "python:3.12-slim"


class SandboxFailure(Exception):
    """The sandbox ended: a limit was reached, or its process was killed."""


class SandboxTimeout(SandboxFailure):
    """The sandbox reached its time limit."""


class CodeResult(NamedTuple):
    """What code printed, its error, and the answer that it gave with FINAL."""

    output: str
    error: str | None
    answer: str | None


class Sandbox:
    """A running interpreter, whose global names last from one `run` to the next."""

    def __init__(
        self, context: str, tools: Tools, *, seconds: float, provider: SandboxProvider
    ) -> None:
        """`context`: the text that code finds as `context`. `seconds`: the limit of its life.

        Raises:
            InvalidInput: this machine cannot run the sandbox.
        """
        self._tools = tools
        self._deadline = time.monotonic() + seconds
        self._process = subprocess.Popen(
            _command(provider),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"]} if provider == "docker" else {},
            cwd="/",
            close_fds=True,
        )
        self._buffer = bytearray()
        try:
            self._send(
                {
                    "context": context,
                    "tools": list(tools),
                    "memory_bytes": _MEMORY_BYTES + 8 * len(context),
                    "seconds": int(seconds) + 1,
                }
            )
            started = self._receive()
        except SandboxFailure as error:
            self.close()
            raise Unavailable(f"the sandbox did not start: {error}") from None
        if "refused" in started:
            self.close()
            raise InvalidInput(
                f"this machine cannot run model-written code safely: {started['refused']}; "
                "use sandbox_provider docker"
            )

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, code: str) -> CodeResult:
        """Run code, answering its calls of tools.

        Raises:
            SandboxFailure: it took too long, sent too much, or its process died.
        """
        self._send({"code": code})
        while True:
            message = self._receive()
            if "call" not in message:
                return CodeResult(
                    str(message.get("output", "")), message.get("error"), message.get("answer")
                )
            self._send(self._answer(message))

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            positional, named = message["arguments"]
            tool = self._tools[message["call"]]
            return {"result": tool(*positional, **named)}
        except (InvalidInput, Unavailable, KeyError, TypeError, ValueError) as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        descriptor = self._process.stdin.fileno()
        os.set_blocking(descriptor, False)
        pending = memoryview(json.dumps(message).encode() + b"\n")
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_WRITE)
            while pending:
                self._await(selector)
                try:
                    pending = pending[os.write(descriptor, pending[:_READ_BYTES]) :]
                except BrokenPipeError:
                    raise self._failure() from None

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if len(self._buffer) > _MAX_MESSAGE_BYTES:
                    raise SandboxFailure(f"it sent more than {_MAX_MESSAGE_BYTES:,} bytes at once")
                self._await(selector)
                read = os.read(descriptor, _READ_BYTES)
                if not read:
                    raise self._failure()
                self._buffer += read
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise SandboxFailure("it sent a message that is not JSON") from None
        if not isinstance(message, dict):
            raise SandboxFailure("it sent a message that is not an object")
        return message

    def _await(self, selector: selectors.BaseSelector) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0 or not selector.select(left):
            raise SandboxTimeout("it reached its time limit")

    def _failure(self) -> SandboxFailure:
        status = self._process.wait(5)
        return SandboxFailure(
            f"its process was ended by signal {-status}" if status < 0 else "its process ended"
        )

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


def _command(provider: SandboxProvider) -> list[str]:
    if provider == "process":
        return [sys.executable, "-I", "-S", str(_WORKER)]
    docker = shutil.which("docker")
    if docker is None:
        raise InvalidInput("sandbox_provider is docker, but the command docker was not found")
    return [
        *(docker, "run", "--rm", "--interactive", "--network", "none", "--read-only"),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534"),
        *("--memory", "768m", "--pids-limit", "16", DOCKER_IMAGE),
        *("python", "-I", "-S", "-c", _WORKER.read_text("utf-8")),
    ]
