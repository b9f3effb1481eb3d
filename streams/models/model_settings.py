"""Which models are asked, and within which limits: the settings of [model]."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from recollect.schemas.errors import InvalidInput

_LOCAL = ("localhost", "127.0.0.1", "::1")


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which accounts there are, and what may be spent. A cost is in the currency of the prices."""

    accounts: Annotated[
        tuple[str, ...],
        Meta(
            description="the accounts, asked in turn, each as 'URL MODEL env:NAME', "
            "'URL MODEL file:PATH' or 'URL MODEL': the base URL of an OpenAI-compatible service, "
            "the model, and where its key stands"
        ),
    ] = ()
    background: Annotated[
        bool,
        Meta(
            description="whether serve and worker let the model of a home whose writer it is read "
            "what is said, without write"
        ),
    ] = True
    seconds: Annotated[
        float, Meta(gt=0, le=3_600, description="as long as one answer of a model may take")
    ] = 60.0
    attempts: Annotated[
        int, Meta(ge=1, le=20, description="how often one question is asked before it is given up")
    ] = 4
    concurrency: Annotated[
        int, Meta(ge=1, le=64, description="how many questions are with models at once")
    ] = 4
    rounds: Annotated[
        int, Meta(ge=1, le=50, description="how often a model may call tools for one message")
    ] = 8
    context: Annotated[
        int, Meta(ge=0, le=100, description="how many messages before one a model is shown")
    ] = 10
    answer_tokens: Annotated[
        int, Meta(ge=16, le=100_000, description="how long one answer may be")
    ] = 2_000
    tokens_per_day: (
        Annotated[int, Meta(ge=1, description="tokens that may be used in a day (UTC)")] | None
    ) = None
    tokens_per_run: (
        Annotated[
            int,
            Meta(ge=1, description="tokens that one run of write, or an hour of serve, may use"),
        ]
        | None
    ) = None
    cost_per_day: (
        Annotated[float, Meta(gt=0, description="what may be spent in a day (UTC)")] | None
    ) = None
    cost_per_run: (
        Annotated[
            float, Meta(gt=0, description="what one run of write, or an hour of serve, may spend")
        ]
        | None
    ) = None
    price_in: Annotated[
        float, Meta(ge=0, description="what a million tokens of questions cost")
    ] = 0.0
    price_out: Annotated[float, Meta(ge=0, description="what a million tokens of answers cost")] = (
        0.0
    )

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return what these tokens cost."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000


class Account:
    """An account with a service: its base URL, its model, and its key, which is never shown."""

    def __init__(self, url: str, model: str, key: str | None) -> None:
        self.url = url
        self.model = model
        self._key = key

    @property
    def headers(self) -> dict[str, str]:
        """What a question carries."""
        return {} if self._key is None else {"Authorization": f"Bearer {self._key}"}

    def __repr__(self) -> str:
        return f"Account({self.name})"

    @property
    def name(self) -> str:
        """The model and the host, as they may be shown."""
        return f"{self.model} at {urlsplit(self.url).netloc.rpartition('@')[2]}"


def accounts_of(
    settings: ModelSettings, environment: Mapping[str, str] = os.environ
) -> list[Account]:
    """Return the accounts, with their keys.

    Raises:
        InvalidInput: there is none, or one is written wrongly, or its key is not there; no key is
            ever part of the message.
    """
    if not settings.accounts:
        raise InvalidInput(
            "model.accounts names no account: write into recollect.toml, under [model], "
            'accounts = ["https://host/v1 MODEL env:NAME"]'
        )
    return [_account(text, place, environment) for place, text in enumerate(settings.accounts, 1)]


def _account(text: str, place: int, environment: Mapping[str, str]) -> Account:
    parts = text.split()
    what = f"model.accounts, the {place}. account"
    if len(parts) not in (2, 3):
        raise InvalidInput(
            f"{what}: give 'URL MODEL env:NAME', 'URL MODEL file:PATH' or without key"
        )
    url, model = parts[0].rstrip("/"), parts[1]
    try:
        address = urlsplit(url)
        host = address.hostname
    except ValueError:
        host = None
    if not host or address.scheme not in ("http", "https") or address.query or address.fragment:
        raise InvalidInput(f"{what}: its first word is no http or https address")
    if address.username or address.password:
        raise InvalidInput(
            f"{what}: a key does not stand in the address; give env:NAME or file:PATH"
        )
    key = _key(parts[2], what, environment) if len(parts) == 3 else None
    if key is not None and address.scheme == "http" and host not in _LOCAL:
        raise InvalidInput(f"{what}: a key goes to another machine by https only")
    return Account(url, model, key)


def _key(where: str, what: str, environment: Mapping[str, str]) -> str:
    kind, _, name = where.partition(":")
    if kind == "env" and name:
        key = environment.get(name, "").strip()
        lack = f"the variable {name} is not set"
    elif kind == "file" and name:
        lack = f"the file {name} holds no key"
        try:
            key = Path(name).expanduser().read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise InvalidInput(f"{what}: the file {name} cannot be read: {reason}") from None
    else:
        # A key that was written here by mistake is not repeated.
        raise InvalidInput(f"{what}: its key is given as env:NAME or file:PATH, never itself")
    if not key:
        raise InvalidInput(f"{what}: {lack}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput(f"{what}: what {where} holds is no key")
    return key
