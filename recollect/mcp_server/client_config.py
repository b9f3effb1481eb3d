"""Add recollect's entry to the configuration files of MCP clients."""

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
# Environment variables copied into an entry, since the client starts the server with its own
# environment.
_HOME_VARIABLES = ("RECOLLECT_LEDGER", "RECOLLECT_CACHE")
_SERVICE_VARIABLES = ("RECOLLECT_TOKEN",)
#: Suffix of the copy of the previous file.
BACKUP = ".before-recollect"


@dataclass(frozen=True)
class ConfigEdit:
    """A planned edit of a file: the entry and its name, and the file's text before and after.

    `before` is None if there is no file.
    """

    path: Path
    name: str
    entry: dict[str, Any]
    before: str | None
    after: str

    @property
    def is_needed(self) -> bool:
        """Whether the file's text changes."""
        return self.before != self.after

    @property
    def backup(self) -> Path:
        """Path of the copy of the previous file."""
        return self.path.with_name(self.path.name + BACKUP)


def plan_edit(
    client: Client, home: Path | None, zone: str, options: Sequence[str] = ()
) -> ConfigEdit:
    """Return the edit that makes a client start `recollect mcp` for a zone.

    `home`: None for a zone of a service; `options` are further arguments of `recollect mcp`.

    Raises:
        InvalidInput: the client's file is not JSON, or has an unexpected structure.
    """
    path, servers, typed = _config_location(client)
    name = "recollect" if zone == DEFAULT_ZONE else f"recollect-{zone}"
    home_options = [] if home is None else ["--home", str(home)]
    arguments = ["-m", "recollect", *home_options, "--zone", zone, "mcp", *options]
    # The client's PATH may lack this virtual environment, so the entry names the interpreter.
    entry: dict[str, Any] = {"type": "stdio"} if typed else {}
    entry |= {"command": sys.executable, "args": arguments}
    copied = _SERVICE_VARIABLES if home is None else _HOME_VARIABLES
    if environment := {name: os.environ[name] for name in copied if name in os.environ}:
        entry["env"] = environment
    before = _text(path)
    document = {} if before is None or not before.strip() else _parse(path, before)
    entries = document.get(servers, {})
    if not isinstance(entries, dict):
        raise InvalidInput(f"{path}: {servers} is not an object; correct it and try again")
    if entries.get(name) == entry:
        return ConfigEdit(path, name, entry, before, before or "")
    merged = {**document, servers: {**entries, name: entry}}
    after = json.dumps(merged, indent=2, ensure_ascii=False) + "\n"
    return ConfigEdit(path, name, entry, before, after)


def apply_edit(change: ConfigEdit) -> None:
    """Apply an edit: copy the file to its backup, then replace it in one step.

    Raises:
        InvalidInput: the file has changed since the edit was planned.
        OSError: the file cannot be written, and is unchanged.
    """
    target = change.path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    if _text(change.path) != change.before:
        raise InvalidInput(f"{change.path} has changed in the meantime; try again")
    if change.before is not None:
        _write(change.backup, change.before, like=target)
    _write(target, change.after, like=target)


def _config_location(client: Client) -> tuple[Path, str, bool]:
    """Return a client's file, the key of its servers, and whether entries have a type."""
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
        raise InvalidInput(f"{path} is not UTF-8 text; nothing was changed") from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is not plain JSON ({error}), so nothing was changed; correct it, or add the "
            "entry by hand"
        ) from None
    if not isinstance(document, dict):
        raise InvalidInput(f"{path} does not hold a JSON object, so nothing was changed")
    return document


def _write(path: Path, text: str, *, like: Path) -> None:
    """Write a file in one step, with the mode of another file if that exists."""
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
