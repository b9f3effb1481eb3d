"""The configuration files of clients: recollect's entry in them, beside what is there."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recollect.schemas.errors import InvalidInput
from recollect.schemas.zones import DEFAULT_ZONE

Client = Literal["claude", "cursor", "vscode"]
CLIENTS: tuple[Client, ...] = ("claude", "cursor", "vscode")
# Without these it would be served from another ledger, or encoded by a model that is not there.
_FOR_A_HOME = ("RECOLLECT_LEDGER", "RECOLLECT_CACHE")
_FOR_A_SERVICE = ("RECOLLECT_TOKEN",)
#: What is put behind the name of the file that was there before.
BACKUP = ".before-recollect"


@dataclass(frozen=True)
class Change:
    """What would be written: the file, the entry by its name, and the whole new text.

    `before` is the text that is there, None where there is no file.
    """

    path: Path
    name: str
    entry: dict[str, Any]
    before: str | None
    after: str

    @property
    def needed(self) -> bool:
        """Whether anything would be different."""
        return self.before != self.after

    @property
    def backup(self) -> Path:
        """Where the text that is there is kept."""
        return self.path.with_name(self.path.name + BACKUP)


def planned(client: Client, home: Path | None, zone: str, options: Sequence[str] = ()) -> Change:
    """Return what would be written so that a client starts `recollect mcp` for a zone.

    `home`: None where it serves that of a service; `options`: further words for `recollect mcp`.

    Raises:
        InvalidInput: the client's file is there and cannot be read as JSON, or has another form.
    """
    path, servers, typed = _place(client)
    name = "recollect" if zone == DEFAULT_ZONE else f"recollect-{zone}"
    where = [] if home is None else ["--home", str(home)]
    words = ["-m", "recollect", *where, "--zone", zone, "mcp", *options]
    # The client's PATH need not have this environment, so the interpreter is named.
    entry: dict[str, Any] = {"type": "stdio"} if typed else {}
    entry |= {"command": sys.executable, "args": words}
    # The client starts it with an environment of its own, which has not what was set here.
    carried = _FOR_A_SERVICE if home is None else _FOR_A_HOME
    if environment := {name: os.environ[name] for name in carried if name in os.environ}:
        entry["env"] = environment
    before = _text(path)
    held = {} if before is None or not before.strip() else _parsed(path, before)
    entries = held.get(servers, {})
    if not isinstance(entries, dict):
        raise InvalidInput(f"{path}: {servers} is no object; put it right, and try again")
    if entries.get(name) == entry:
        return Change(path, name, entry, before, before or "")
    merged = {**held, servers: {**entries, name: entry}}
    after = json.dumps(merged, indent=2, ensure_ascii=False) + "\n"
    return Change(path, name, entry, before, after)


def carry_out(change: Change) -> None:
    """Write a change: first the copy of what is there, then the new file in one step.

    Raises:
        InvalidInput: the file has become another since it was read.
        OSError: it cannot be written; then the file is as it was.
    """
    target = change.path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    if _text(change.path) != change.before:
        raise InvalidInput(f"{change.path} has changed meanwhile; try again")
    if change.before is not None:
        _write(change.backup, change.before, like=target)
    _write(target, change.after, like=target)


def _place(client: Client) -> tuple[Path, str, bool]:
    """Return a client's file, the key of its servers, and whether an entry names its type."""
    home = Path.home()
    if client == "claude":
        return home / ".claude.json", "mcpServers", True
    if client == "cursor":
        return home / ".cursor" / "mcp.json", "mcpServers", False
    if sys.platform == "darwin":
        settings = home / "Library" / "Application Support"
    else:
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return settings / "Code" / "User" / "mcp.json", "servers", True


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is no UTF-8 text; nothing was changed") from None


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is not plain JSON ({error}), so nothing was changed; put it right, or add the "
            "entry by hand"
        ) from None
    if not isinstance(held, dict):
        raise InvalidInput(f"{path} holds no JSON object, so nothing was changed")
    return held


def _write(path: Path, text: str, *, like: Path) -> None:
    """Write a file in one step, with the mode of another where that is there."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(name, like.stat().st_mode & 0o777)
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
