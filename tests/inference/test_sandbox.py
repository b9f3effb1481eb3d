"""Model-written code works with what it is given, and reaches nothing else."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from recollect.operations.inference.sandbox import Sandbox, SandboxFailure
from recollect.schemas.errors import InvalidInput


def opened(context: str = "", seconds: float = 20, **tools: object) -> Sandbox:
    return Sandbox(context, tools, seconds=seconds, provider="process")  # type: ignore[arg-type]


def test_names_last_and_output_comes_back() -> None:
    with opened("one two one") as sandbox:
        assert sandbox.run("n = context.count('one')").output == ""
        assert sandbox.run("print(n, re.findall('t.o', context))").output == "2 ['two']\n"


def test_an_answer_ends_the_code() -> None:
    with opened() as sandbox:
        ran = sandbox.run("print('before')\nFINAL(6 * 7)\nprint('after')")
    assert (ran.output, ran.error, ran.answer) == ("before\n", None, "42")


def test_an_error_shows_the_code_and_nothing_of_this_machine() -> None:
    with opened() as sandbox:
        error = sandbox.run("x = 1\ny = missing").error
    assert error is not None
    assert "NameError" in error
    assert "line 2" in error
    assert str(Path.cwd()) not in error


def test_tools_answer_and_their_errors_are_errors_of_the_code() -> None:
    def fails() -> None:
        raise InvalidInput("not so")

    with opened(upper=lambda text: text.upper(), fails=fails) as sandbox:
        assert sandbox.run("print(upper('a'), upper(text='b'))").output == "A B\n"
        assert "not so" in (sandbox.run("fails()").error or "")
        assert "TypeError" in (sandbox.run("upper(1, 2, 3)").error or "")
        assert sandbox.run("print(1)").output == "1\n"


@pytest.mark.parametrize(
    "attempt",
    [
        "open({secret!r}).read()",
        "open({made!r}, 'w').write('x')",
        "import os; os.open({secret!r}, 0)",
        "import os; os.listdir('/')",
        "import os; os.unlink({secret!r})",
        "import os; os.fork()",
        "import os; os.execv('/bin/sh', ['sh'])",
        "import os; assert os.system('touch {made}') == 0",
        "import os; os.kill({parent}, 9)",
        "import socket; socket.create_connection(('127.0.0.1', {port}))",
        "import _socket; _socket.socket()",
        "import subprocess; subprocess.run(['touch', {made!r}])",
        "import ctypes; assert ctypes.CDLL(None).open({secret!r}.encode(), 0) >= 0",
        "import ctypes; assert ctypes.CDLL(None).ptrace(16, {parent}, 0, 0) == 0",
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "json.__loader__.get_data({secret!r})",
        "open('/proc/{parent}/mem', 'rb').read(1)",
        "open('/proc/self/environ').read()",
        "import os; os.symlink({secret!r}, {made!r})",
        "import os; os.chdir('/')",
        "import os; os.memfd_create('code')",
        # By number: openat2, open of the x32 interface, io_uring_setup, clone as fork, and clone3.
        "import ctypes; assert ctypes.CDLL(None).syscall(437, 0, {secret!r}.encode(), 0) >= 0",
        "import ctypes; assert ctypes.CDLL(None).syscall(0x40000002, {secret!r}.encode(), 0) >= 0",
        "import ctypes; assert ctypes.CDLL(None).syscall(425, 8, bytes(256)) >= 0",
        "import ctypes; assert ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0) >= 0",
        "import ctypes; assert ctypes.CDLL(None).syscall(435, bytes(88), 88) >= 0",
    ],
)
def test_files_processes_and_networks_are_out_of_reach(attempt: str, tmp_path: Path) -> None:
    secret, made = tmp_path / "secret", tmp_path / "made"
    secret.write_text("the secret")
    with socket.create_server(("127.0.0.1", 0)) as server, opened() as sandbox:
        code = attempt.format(
            secret=str(secret), made=str(made), port=server.getsockname()[1], parent=os.getpid()
        )
        ran = sandbox.run(code)
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.accept()
    assert ran.error is not None
    assert "the secret" not in ran.output + ran.error
    assert secret.exists()
    assert not made.exists()


def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_TOKEN", "a-secret")
    with opened() as sandbox:
        assert "a-secret" not in sandbox.run("import os; print(dict(os.environ))").output


def test_too_much_memory_is_an_error_of_the_code() -> None:
    with opened() as sandbox:
        assert "MemoryError" in (sandbox.run("x = 'a' * 10**10").error or "")
        assert sandbox.run("print(1)").output == "1\n"


def test_code_without_end_is_ended() -> None:
    started = time.monotonic()
    with opened(seconds=1) as sandbox, pytest.raises(SandboxFailure, match="time limit"):
        sandbox.run("while True: pass")
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os\nwhile True: os.write(1, b'x' * 60_000)", "sent more than"),
        ("import os\nos.write(1, b'nonsense\\n')", "not JSON"),
        ("import os\nos.write(1, b'[1]\\n')", "not an object"),
        ("import os\nos._exit(3)", "its process ended"),
    ],
)
def test_a_broken_conversation_ends_the_sandbox(code: str, reason: str) -> None:
    with opened() as sandbox, pytest.raises(SandboxFailure, match=reason):
        sandbox.run(code)


def test_docker_runs_without_network_or_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for `docker` runs what the container would, and notes its options."""
    command = tmp_path / "docker"
    command.write_text(
        '#!/bin/sh\necho "$@" > "$(dirname "$0")/options"\n'
        'while [ "$1" != python ]; do shift; done; shift\nexec python3 "$@"\n'
    )
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with Sandbox("abc", {}, seconds=20, provider="docker") as sandbox:
        assert sandbox.run("print(context)").output == "abc\n"
    options = (tmp_path / "options").read_text()
    for option in ("--network none", "--read-only", "--cap-drop ALL", "--user 65534", "--memory"):
        assert option in options


def test_without_docker_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="docker was not found"):
        Sandbox("", {}, seconds=1, provider="docker")
