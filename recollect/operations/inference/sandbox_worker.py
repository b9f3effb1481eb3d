"""The interpreter inside the sandbox: runs code that a model wrote, one message at a time.

It is run as a script and imports the standard library only. Its first input line has the limits
and the context; it then gives up every system call except those on memory, time and its two
pipes. So whatever the code does in Python, it can open no file, start no process and reach no
network. Messages are JSON, one on each line: `{"code"}` in; `{"call", "arguments"}` out, answered
by `{"result"}` or `{"error"}` in; `{"output", "error", "answer"}` out when the code has ended.
"""

from __future__ import annotations

# Imports after the restrictions would fail, so what model-written code commonly needs is here.
import collections
import ctypes
import datetime
import difflib
import functools
import itertools
import json
import math
import platform
import re
import resource
import statistics
import string
import sys
import textwrap
import traceback
from typing import Any

#: Names that model-written code finds already imported.
MODULES = (
    *(collections, datetime, difflib, functools, itertools, json, math, re, statistics, string),
    textwrap,
)

# The system calls that stay allowed, by machine: reading and writing open pipes, memory, time,
# signals' returns, random numbers, and exit.
_ALLOWED_CALLS = {
    "x86_64": (
        *(0, 1, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20, 24, 25, 28, 35, 39, 60, 96, 131),
        *(202, 219, 228, 229, 230, 231, 318, 324, 334),
    ),
    "aarch64": (
        *(57, 62, 63, 64, 65, 66, 73, 80, 93, 94, 98, 101, 113, 114, 115, 124, 128, 132, 134),
        *(135, 139, 169, 172, 214, 215, 216, 222, 226, 233, 278, 283, 293),
    ),
}
_AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_KILL_PROCESS, _REFUSE_WITH_EPERM, _ALLOW = 0x80000000, 0x00050001, 0x7FFF0000
_LOAD_WORD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_OFFSET_OF_CALL, _OFFSET_OF_ARCHITECTURE = 0, 4

_MAX_OUTPUT = 20_000


class _Instruction(ctypes.Structure):
    """`struct sock_filter`: one instruction of a packet filter."""

    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    """`struct sock_fprog`: a packet filter."""

    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction))]


def restrict(memory_bytes: int, seconds: int) -> None:
    """Limit this process's memory and processor time, and give up all other system calls.

    Raises:
        OSError: the kernel does not support the restrictions, or refuses them.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _ALLOWED_CALLS:
        raise OSError(f"there is no sandbox for {sys.platform} on {machine}")
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    instructions = [
        _Instruction(_LOAD_WORD, 0, 0, _OFFSET_OF_ARCHITECTURE),
        _Instruction(_JUMP_IF_EQUAL, 1, 0, _AUDIT_ARCHITECTURES[machine]),
        _Instruction(_RETURN, 0, 0, _KILL_PROCESS),
        _Instruction(_LOAD_WORD, 0, 0, _OFFSET_OF_CALL),
    ]
    for number in _ALLOWED_CALLS[machine]:
        instructions += [
            _Instruction(_JUMP_IF_EQUAL, 0, 1, number),
            _Instruction(_RETURN, 0, 0, _ALLOW),
        ]
    instructions.append(_Instruction(_RETURN, 0, 0, _REFUSE_WITH_EPERM))
    listed = (_Instruction * len(instructions))(*instructions)
    program = _Program(len(instructions), listed)
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "the kernel refused the sandbox's restrictions")


class _Output:
    """Standard output of the code: the first `_MAX_OUTPUT` characters are kept."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.left = _MAX_OUTPUT

    def write(self, text: str) -> int:
        self.parts.append(text[: self.left])
        self.left -= len(self.parts[-1])
        return len(text)

    def flush(self) -> None:
        """Do nothing: the text is sent when the code has ended."""


class _Answered(BaseException):
    """Raised by FINAL to end the code."""


def _send(message: dict[str, Any]) -> None:
    sys.__stdout__.write(json.dumps(message) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def _receive() -> Any:
    line = sys.__stdin__.readline()  # type: ignore[union-attr]
    if not line:
        raise SystemExit
    return json.loads(line)


def _tool(name: str) -> Any:
    """Return a function that calls a tool of the host and returns its result."""

    def call(*positional: Any, **named: Any) -> Any:
        _send({"call": name, "arguments": [list(positional), named]})
        answer = _receive()
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["result"]

    call.__name__ = name
    return call


def _run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run code with these global names; return its output, its error and its answer."""
    output, error, answer = _Output(), None, None
    sys.stdout = sys.stderr = output
    try:
        exec(compile(code, "<code>", "exec"), names)
    except _Answered as answered:
        answer = str(answered.args[0])
    except BaseException as raised:
        own_frames = raised.__traceback__ and raised.__traceback__.tb_next
        error = "".join(traceback.format_exception(type(raised), raised, own_frames))[-2_000:]
    finally:
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    return {"output": "".join(output.parts), "error": error, "answer": answer}


def _final(answer: Any) -> None:
    raise _Answered(answer)


def main() -> None:
    """Read the limits and the context, give up system calls, and run code until input ends."""
    start = _receive()
    names: dict[str, Any] = {module.__name__: module for module in MODULES}
    names |= {name: _tool(name) for name in start["tools"]}
    names |= {"context": start["context"], "FINAL": _final}
    try:
        restrict(start["memory_bytes"], start["seconds"])
    except (OSError, ValueError) as error:
        _send({"refused": str(error)})
        return
    _send({"ready": True})
    while True:
        _send(_run(_receive()["code"], names))


if __name__ == "__main__":
    main()
