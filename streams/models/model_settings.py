"""The settings of [model]: accounts, limits and budgets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from recollect.schemas.errors import InvalidInput, InvalidSetting

_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Accounts and limits. A cost is in the currency of the prices."""

    accounts: Annotated[
        tuple[str, ...],
        Meta(
            description="the accounts, used in turn, each as 'URL MODEL env:NAME', "
            "'URL MODEL file:PATH' or 'URL MODEL': the base URL of an OpenAI-compatible service, "
            "the model, and where to read its API key"
        ),
    ] = ()
    background: Annotated[
        bool,
        Meta(
            description="whether serve and worker run the model writer of a home in the background"
        ),
    ] = True
    accept_proposals: Annotated[
        bool,
        Meta(
            description="whether write automatically accepts the model's proposals for its role "
            "and notes"
        ),
    ] = False
    seconds: Annotated[
        float, Meta(gt=0, le=3_600, description="the timeout of one request to a model")
    ] = 60.0
    attempts: Annotated[
        int, Meta(ge=1, le=20, description="attempts per request, the first included")
    ] = 4
    concurrency: Annotated[
        int, Meta(ge=1, le=64, description="the number of concurrent requests")
    ] = 4
    rounds: Annotated[
        int,
        Meta(
            ge=1, le=50, description="maximum number of requests per message; each may call tools"
        ),
    ] = 8
    context: Annotated[
        int,
        Meta(ge=0, le=100, description="the number of preceding messages that a model is shown"),
    ] = 10
    answer_tokens: Annotated[
        int, Meta(ge=16, le=100_000, description="the token limit of one answer")
    ] = 2_000
    tokens_per_day: (
        Annotated[int, Meta(ge=1, description="maximum tokens per day (UTC)")] | None
    ) = None
    tokens_per_run: (
        Annotated[
            int,
            Meta(ge=1, description="maximum tokens per run of write, or per hour of serve"),
        ]
        | None
    ) = None
    cost_per_day: Annotated[float, Meta(gt=0, description="maximum cost per day (UTC)")] | None = (
        None
    )
    cost_per_run: (
        Annotated[
            float,
            Meta(gt=0, description="maximum cost per run of write, or per hour of serve"),
        ]
        | None
    ) = None
    price_in: Annotated[float, Meta(ge=0, description="the price of a million prompt tokens")] = 0.0
    price_out: Annotated[
        float, Meta(ge=0, description="the price of a million completion tokens")
    ] = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of these tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000


class Account:
    """An account with a model service: base URL, model, and API key, which is never shown."""

    def __init__(self, url: str, model: str, key: str | None) -> None:
        self.url = url
        self.model = model
        self._key = key

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        return {} if self._key is None else {"Authorization": f"Bearer {self._key}"}

    def redacted(self, text: str) -> str:
        """Return a text with the account's key masked."""
        return text if self._key is None else text.replace(self._key, "***")

    def __repr__(self) -> str:
        return f"Account({self.name})"

    @property
    def name(self) -> str:
        """The model and the host, without credentials."""
        return f"{self.model} at {urlsplit(self.url).netloc.rpartition('@')[2]}"


def load_accounts(
    settings: ModelSettings, environment: Mapping[str, str] = os.environ
) -> list[Account]:
    """Return the accounts, with their keys.

    Raises:
        InvalidInput: no account is set.
        InvalidSetting: one is malformed, or its key is missing; the message never contains a key.
    """
    if not settings.accounts:
        raise InvalidInput(
            "model.accounts is empty: set it in recollect.toml under [model], such as "
            'accounts = ["https://host/v1 MODEL env:NAME"]'
        )
    return [_account(text, number, environment) for number, text in enumerate(settings.accounts, 1)]


def _account(text: str, number: int, environment: Mapping[str, str]) -> Account:
    parts = text.split()
    label = f"model.accounts, account {number}"
    if len(parts) not in (2, 3):
        raise InvalidSetting(
            f"{label}: give 'URL MODEL env:NAME', 'URL MODEL file:PATH' or 'URL MODEL'"
        )
    url, model = parts[0].rstrip("/"), parts[1]
    try:
        address = urlsplit(url)
        host = address.hostname
    except ValueError:
        host = None
    if not host or address.scheme not in ("http", "https") or address.query or address.fragment:
        raise InvalidSetting(f"{label}: its URL is not a valid http or https address")
    if address.username or address.password:
        raise InvalidSetting(
            f"{label}: the URL must not contain credentials; give the key as env:NAME or file:PATH"
        )
    key = _key(parts[2], label, environment) if len(parts) == 3 else None
    if key is not None and address.scheme == "http" and host not in _LOOPBACK_HOSTS:
        raise InvalidSetting(
            f"{label}: use https; a key is never sent to another machine over http"
        )
    return Account(url, model, key)


def _key(location: str, label: str, environment: Mapping[str, str]) -> str:
    kind, _, name = location.partition(":")
    if kind == "env" and name:
        key = environment.get(name, "").strip()
        missing = f"the variable {name} is not set"
    elif kind == "file" and name:
        missing = f"the file {name} is empty"
        try:
            key = Path(name).expanduser().read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise InvalidSetting(f"{label}: the file {name} cannot be read: {reason}") from None
    else:
        # The message must not repeat a key that was given here by mistake.
        raise InvalidSetting(
            f"{label}: give the key as env:NAME or file:PATH, never the key itself"
        )
    if not key:
        raise InvalidSetting(f"{label}: {missing}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidSetting(f"{label}: the content of {location} is not a valid key")
    return key
