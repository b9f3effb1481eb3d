"""Access tokens: rights to the zones of a home's service.

A token is `rct_<id>_<secret>`. The home keeps the SHA-256 of the secret, never the secret.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import msgspec

from recollect.home.open_zone import unix_ms
from recollect.projections.file_permissions import require_writable
from recollect.projections.generations import replace_file
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.schemas.inbound import MAX_NAME_BYTES
from recollect.schemas.times import format_time
from recollect.schemas.wire import AccessToken, NewAccessToken
from recollect.schemas.zones import BRANCH_MARK, check_zone
from recollect.streams.system.locks import exclusive

Right = Literal["read", "write", "forget", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
#: Stands for all zones, including future ones.
EVERY_ZONE = "*"

_FILE, _LOCK = "tokens.json", "tokens.lock"
_PREFIX = "rct"
_ID_BYTES, _SECRET_BYTES = 8, 32
# Compared with the secret of an unknown id, so that timing does not reveal which ids exist.
_DUMMY_HASH = b"\0" * hashlib.sha256().digest_size


class StoredToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token as stored in the home. Times are unix ms; `user` and `agent` name its holder."""

    id: str
    secret: bytes
    zones: tuple[str, ...]
    rights: tuple[Right, ...]
    user: str | None
    agent: str | None
    created_at: int
    expires_at: int | None
    used_at: int | None = None

    def has_right(self, zone: str, right: Right) -> bool:
        """Return whether the token grants a right to a zone, and so to its branches."""
        zone = zone.partition(BRANCH_MARK)[0]
        return right in self.rights and (zone in self.zones or EVERY_ZONE in self.zones)

    def public_view(self) -> AccessToken:
        """Return the token without its secret."""
        return AccessToken(
            id=self.id,
            zones=list(self.zones),
            rights=list(self.rights),
            user=self.user,
            agent=self.agent,
            created_at=format_time(self.created_at),
            expires_at=None if self.expires_at is None else format_time(self.expires_at),
            used_at=None if self.used_at is None else format_time(self.used_at),
        )


class AccessTokens:
    """The tokens of a home. Any thread may call any method; any process may change the tokens."""

    def __init__(self, home: Path) -> None:
        self._path = home / _FILE
        self._lock_file = home / _LOCK
        self._loading = threading.Lock()
        # The file's inode, modification time and size when it was read, and its tokens by id.
        self._cache: tuple[tuple[int, int, int] | None, dict[str, StoredToken]] = (None, {})
        self._used: dict[str, int] = {}

    def create(
        self,
        zones: Iterable[str],
        rights: Iterable[str],
        *,
        user: str | None = None,
        agent: str | None = None,
        expires_at: int | None = None,
    ) -> NewAccessToken:
        """Create a token. Only the return value contains the secret.

        Raises:
            InvalidInput: a zone or a right is invalid, or `expires_at` is in the past.
            ReadOnlyHome: the home is not writable here.
        """
        zone_names = tuple(dict.fromkeys(zones))
        for zone in zone_names:
            if zone != EVERY_ZONE:
                check_zone(zone)
        requested = tuple(dict.fromkeys(rights))
        granted = tuple(right for right in RIGHTS if right in requested)
        if not zone_names or not requested or len(granted) < len(requested):
            wrong = next((right for right in requested if right not in RIGHTS), "")
            raise InvalidInput(
                f"unknown right {wrong!r}; choose from {', '.join(RIGHTS)}"
                if wrong
                else "zones or rights are missing; give at least one of each"
            )
        for name, value in (("user", user), ("agent", agent)):
            if value is not None and not 0 < len(value.encode(errors="replace")) <= MAX_NAME_BYTES:
                raise InvalidInput(f"{name} must have 1 to {MAX_NAME_BYTES} bytes")
        now = unix_ms()
        if expires_at is not None and expires_at <= now:
            raise InvalidInput(
                f"expires_at: {format_time(expires_at)} is not in the future; give a later time"
            )
        require_writable(self._path.parent)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        created = StoredToken(
            id=secrets.token_hex(_ID_BYTES),
            secret=_sha256(secret),
            zones=zone_names,
            rights=granted,
            user=user,
            agent=agent,
            created_at=now,
            expires_at=expires_at,
        )
        with exclusive(self._lock_file):
            self._write([*self._read_stored(), created])
        return NewAccessToken(id=created.id, token=f"{_PREFIX}_{created.id}_{secret}")

    def tokens(self) -> list[AccessToken]:
        """Return every token without its secret, the oldest first."""
        return [token.public_view() for token in self._read_stored()]

    def revoke(self, id_: str) -> None:
        """Revoke a token, with immediate effect in all processes.

        Raises:
            InvalidInput: no token has this id.
            ReadOnlyHome: the home is not writable here.
        """
        require_writable(self._path.parent)
        with exclusive(self._lock_file):
            stored = self._read_stored()
            kept = [token for token in stored if token.id != id_]
            if len(kept) == len(stored):
                raise InvalidInput(
                    f"no token has the id {id_[:80]!r}; run recollect token list to see the ids"
                )
            self._write(kept)

    def find(self, token: str) -> StoredToken | None:
        """Return the stored token; None if it is unknown or has expired."""
        prefix, _, credentials = token.partition("_")
        id_, _, secret = credentials.partition("_")
        stored = self._tokens_by_id().get(id_)
        same = hmac.compare_digest(
            _sha256(secret), _DUMMY_HASH if stored is None else stored.secret
        )
        if stored is None or not same or prefix != _PREFIX:
            return None
        if _is_expired(stored):
            return None
        self._used[stored.id] = unix_ms()
        return stored

    def is_valid(self, id_: str) -> bool:
        """Return whether a token with this id exists and is neither revoked nor expired."""
        found = self._tokens_by_id().get(id_)
        return found is not None and not _is_expired(found)

    def save_last_used(self) -> None:
        """Save when each token was last used; a service calls this periodically.

        Raises:
            OSError: the file cannot be written; the next call saves these times too.
            HomeError: the file is damaged.
        """
        used, self._used = self._used, {}
        if not used:
            return
        try:
            with exclusive(self._lock_file):
                stored = self._read_stored()
                self._write(
                    [
                        msgspec.structs.replace(
                            token, used_at=max(used[token.id], token.used_at or 0)
                        )
                        if token.id in used
                        else token
                        for token in stored
                    ]
                )
        except BaseException:
            # Keep the times, so that the next call saves them.
            self._used = {**used, **self._used}
            raise

    def _tokens_by_id(self) -> dict[str, StoredToken]:
        """Return the tokens by id, reloaded if the file has changed."""
        try:
            status = os.stat(self._path)
            signature = (status.st_ino, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            return {}
        cached_signature, tokens = self._cache
        if cached_signature == signature:
            return tokens
        with self._loading:
            tokens = {token.id: token for token in self._read_stored()}
            self._cache = (signature, tokens)
        return tokens

    def _read_stored(self) -> list[StoredToken]:
        return read_tokens(self._path)

    def locked(self) -> AbstractContextManager[None]:
        """Return a lock; while it is held, no other process can change the tokens."""
        return exclusive(self._lock_file)

    def _write(self, tokens: list[StoredToken]) -> None:
        write_tokens(self._path, tokens)


class TokenSnapshot(NamedTuple):
    """The tokens of a home or a backup at a time (unix ms)."""

    tokens: Sequence[StoredToken]
    at: int


def not_revoked(
    tokens: Iterable[StoredToken], snapshots: Iterable[TokenSnapshot]
) -> list[StoredToken]:
    """Return the tokens that are in every snapshot taken after their creation."""
    ids_at = [({token.id for token in snapshot.tokens}, snapshot.at) for snapshot in snapshots]
    return [
        token
        for token in tokens
        if all(token.id in ids for ids, at in ids_at if at >= token.created_at)
    ]


def read_tokens(path: Path) -> list[StoredToken]:
    """Return the tokens in a file; an empty list if it is missing.

    Raises:
        HomeError: the file cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[StoredToken])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError) as error:
        raise HomeError(
            f"{path} cannot be read ({error}): restore it from a backup, or delete it "
            "and make new tokens"
        ) from None


def write_tokens(path: Path, tokens: Sequence[StoredToken]) -> None:
    """Replace the tokens in a file."""
    replace_file(path, msgspec.json.encode(tokens) + b"\n")


def _is_expired(token: StoredToken) -> bool:
    return token.expires_at is not None and token.expires_at <= unix_ms()


def _sha256(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
