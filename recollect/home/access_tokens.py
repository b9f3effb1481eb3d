"""Access tokens: who may ask the service of a home, and what of which zones.

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
from recollect.projections.generations import replace_file
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.schemas.inbound import MAX_NAME_BYTES
from recollect.schemas.times import format_time
from recollect.schemas.wire import AccessToken, NewAccessToken
from recollect.schemas.zones import check_zone
from recollect.streams.system.locks import exclusive

Right = Literal["read", "write", "forget", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
#: In the place of a zone: all of them, also those that are to come.
EVERY_ZONE = "*"

_FILE, _LOCK = "tokens.json", "tokens.lock"
_PREFIX = "rct"
_ID_BYTES, _SECRET_BYTES = 8, 32
# What a secret is compared with where no token has the id, so that it takes as long.
_NOBODYS = b"\0" * hashlib.sha256().digest_size


class StoredToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token as the home keeps it. Times are unix ms; `user` and `agent` say who holds it."""

    id: str
    secret: bytes
    zones: tuple[str, ...]
    rights: tuple[Right, ...]
    user: str | None
    agent: str | None
    created_at: int
    expires_at: int | None
    used_at: int | None = None

    def may(self, zone: str, right: Right) -> bool:
        """Return whether its holder has a right to a zone."""
        return right in self.rights and (zone in self.zones or EVERY_ZONE in self.zones)

    def shown(self) -> AccessToken:
        """Return what may be shown of it."""
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
    """The tokens of a home. Any thread may call any method, and any process may change them."""

    def __init__(self, home: Path) -> None:
        self._path = home / _FILE
        self._lock_file = home / _LOCK
        self._reading = threading.Lock()
        self._read: tuple[tuple[int, int, int] | None, dict[str, StoredToken]] = (None, {})
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
        """Make a token; what is returned is the only place where its secret stands.

        Raises:
            InvalidInput: a zone or a right is none, or it would have expired already.
        """
        named = tuple(dict.fromkeys(zones))
        for zone in named:
            if zone != EVERY_ZONE:
                check_zone(zone)
        asked = tuple(dict.fromkeys(rights))
        known = tuple(right for right in RIGHTS if right in asked)
        if not named or not asked or len(known) < len(asked):
            wrong = next((right for right in asked if right not in RIGHTS), "")
            raise InvalidInput(
                f"right {wrong!r}: choose from {', '.join(RIGHTS)}" if wrong else "no zone or right"
            )
        for name, value in (("user", user), ("agent", agent)):
            if value is not None and not 0 < len(value.encode(errors="replace")) <= MAX_NAME_BYTES:
                raise InvalidInput(f"{name} has at least one and at most {MAX_NAME_BYTES} bytes")
        now = unix_ms()
        if expires_at is not None and expires_at <= now:
            raise InvalidInput(f"it would have expired at {format_time(expires_at)}")
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        made = StoredToken(
            id=secrets.token_hex(_ID_BYTES),
            secret=_hashed(secret),
            zones=named,
            rights=known,
            user=user,
            agent=agent,
            created_at=now,
            expires_at=expires_at,
        )
        with exclusive(self._lock_file):
            self._write([*self._stored(), made])
        return NewAccessToken(id=made.id, token=f"{_PREFIX}_{made.id}_{secret}")

    def tokens(self) -> list[AccessToken]:
        """Return what may be shown of every token, the oldest first."""
        return [token.shown() for token in self._stored()]

    def revoke(self, id_: str) -> None:
        """Take a token back: it opens nothing any more, in any process, from now on.

        Raises:
            InvalidInput: none has this id.
        """
        with exclusive(self._lock_file):
            stored = self._stored()
            kept = [token for token in stored if token.id != id_]
            if len(kept) == len(stored):
                raise InvalidInput(f"no token has the id {id_[:80]!r}; recollect token list")
            self._write(kept)

    def find(self, token: str) -> StoredToken | None:
        """Return what a token says of its holder; None where it is none, or has expired."""
        prefix, _, rest = token.partition("_")
        id_, _, secret = rest.partition("_")
        found = self._current().get(id_)
        same = hmac.compare_digest(_hashed(secret), _NOBODYS if found is None else found.secret)
        if found is None or not same or prefix != _PREFIX:
            return None
        if _expired(found):
            return None
        self._used[found.id] = unix_ms()
        return found

    def counts(self, id_: str) -> bool:
        """Return whether the token of this id opens anything still."""
        found = self._current().get(id_)
        return found is not None and not _expired(found)

    def note_used(self) -> None:
        """Write down when each token was used last; a service calls this now and then.

        Raises:
            OSError: it cannot be written down; then it is the next time.
            HomeError: the file is damaged.
        """
        used, self._used = self._used, {}
        if not used:
            return
        try:
            with exclusive(self._lock_file):
                stored = self._stored()
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
            # It is noted the next time.
            self._used = {**used, **self._used}
            raise

    def _current(self) -> dict[str, StoredToken]:
        """Return the tokens by id, read again where the file is another one than before."""
        try:
            found = os.stat(self._path)
            mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        except FileNotFoundError:
            return {}
        known, tokens = self._read
        if known == mark:
            return tokens
        with self._reading:
            tokens = {token.id: token for token in self._stored()}
            self._read = (mark, tokens)
        return tokens

    def _stored(self) -> list[StoredToken]:
        return read_tokens(self._path)

    def unchanged(self) -> AbstractContextManager[None]:
        """Let no process create, revoke or note anything meanwhile."""
        return exclusive(self._lock_file)

    def _write(self, tokens: list[StoredToken]) -> None:
        write_tokens(self._path, tokens)


class KnownTokens(NamedTuple):
    """The tokens that a place knew, and when (unix ms)."""

    tokens: Sequence[StoredToken]
    at: int


def still_valid(tokens: Iterable[StoredToken], known: Iterable[KnownTokens]) -> list[StoredToken]:
    """Return those that were not revoked: each place that came after one knows it."""
    places = [({token.id for token in place.tokens}, place.at) for place in known]
    return [
        token
        for token in tokens
        if all(token.id in ids for ids, at in places if at >= token.created_at)
    ]


def read_tokens(path: Path) -> list[StoredToken]:
    """Return the tokens of a file; none where it is missing.

    Raises:
        HomeError: it cannot be read.
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
    """Replace the tokens of a file."""
    replace_file(path, msgspec.json.encode(tokens) + b"\n")


def _expired(token: StoredToken) -> bool:
    return token.expires_at is not None and token.expires_at <= unix_ms()


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
