"""The settings: which there are, and what each is here.

A setting comes from an option of the command line, else from a variable of the environment, else
from the configuration file; else it has its default. The configuration file is the one that is
named (`--config`, RECOLLECT_CONFIG), else `recollect.toml` in the home, where there is one.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import msgspec
from msgspec import Meta

from recollect.home.service_settings import ServiceSettings
from recollect.schemas.errors import InvalidInput
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.models.model_settings import ModelSettings

#: The configuration file of a home, and the variable that names another.
FILE = "recollect.toml"
VARIABLE = "RECOLLECT_CONFIG"

_YES, _NO = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
_MAX_SHOWN = 100
#: The sections whose names stand in the names of their variables.
_WITH_OWN_VARIABLES = ("kafka", "model")
_log = logging.getLogger(__name__)


class GeneralSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where things are kept, and which ledger it is."""

    home: Annotated[str, Meta(description="the home directory")] = "~/.recollect"
    cache: Annotated[str, Meta(description="where model files are kept, shared by all homes")] = (
        "~/.cache/recollect"
    )
    ledger: Annotated[
        str,
        Meta(
            description="which ledger: embedded, or kafka://host:port[,host:port][/prefix]; with a "
            "prefix the topics are named prefix.events and so on"
        ),
    ] = "embedded"
    ticks: Annotated[
        bool,
        Meta(
            description="whether what decides, and an import, appends ticks to end abandoned turns"
        ),
    ] = True


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is told."""

    member: (
        Annotated[
            str,
            Meta(description="on Kafka: its name in the group, which survives a restart"),
        ]
        | None
    ) = None


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which service is asked by the plugin for Claude Code, and with what by `mcp --url` too."""

    url: Annotated[str, Meta(description="the service that the plugin for Claude Code asks")] = (
        "http://127.0.0.1:8420"
    )
    token: (
        Annotated[
            str,
            Meta(
                description="the token with which the plugin and mcp --url ask",
                extra={"secret": True},
            ),
        ]
        | None
    ) = None
    zone: Annotated[str, Meta(description="the zone that the plugin asks")] = DEFAULT_ZONE


#: The tables of the file and what stands in each; those under "" stand before all tables.
SECTIONS: dict[str, type[msgspec.Struct]] = {
    "": GeneralSettings,
    "kafka": KafkaSettings,
    "service": ServiceSettings,
    "worker": WorkerSettings,
    "model": ModelSettings,
    "client": ClientSettings,
}


class Setting(NamedTuple):
    """A setting: its name in the file, its variable, and what it may be."""

    key: str
    variable: str
    type: Any
    default: Any
    meaning: str
    secret: bool

    @property
    def wanted(self) -> str:
        """What its values are, in words."""
        return _in_words(self.type)


class Given(NamedTuple):
    """The value of a setting, and where it comes from."""

    value: Any
    place: str


def _declared() -> Iterable[Setting]:
    for section, struct in SECTIONS.items():
        own = f"{section.upper()}_" if section in _WITH_OWN_VARIABLES else ""
        prefix = f"RECOLLECT_{own}"
        for field in msgspec.structs.fields(struct):
            # A setting may have no value: `Annotated[...] | None`.
            for type_ in (field.type, *get_args(field.type)):
                if get_origin(type_) is Annotated:
                    break
            else:
                continue
            meta = type_.__metadata__[0]
            yield Setting(
                f"{section}.{field.name}" if section else field.name,
                prefix + field.name.upper(),
                type_,
                field.default,
                meta.description,
                bool((meta.extra or {}).get("secret")),
            )


#: Every setting, in the order of the sections.
SETTINGS: dict[str, Setting] = {setting.key: setting for setting in _declared()}


class Configuration:
    """The settings of a home and of what runs on it.

    The variables are read when they are asked for, the file once.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        file: str | Path | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """`home` and `file` are what options say.

        Raises:
            InvalidInput: the file is not there, is no TOML, or has what is no setting or no value
                of one; the message names the place.
        """
        self._environment = environment
        self._home = home
        named = file or environment.get(VARIABLE)
        self._file = _File(Path(named).expanduser()) if named else None
        #: The home directory.
        self.home = Path(self.given("home").value).expanduser()
        # One that may not be looked into is told by who needs something of it.
        if self._file is None and os.path.isfile(self.home / FILE):
            self._file = _File(self.home / FILE)
            if found := self._file.given.get("home"):
                raise InvalidInput(
                    f"{found.place}: the file in a home does not say where the home is; leave it "
                    "out, or name the file with --config"
                )

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process is given: the variables as they are now."""
        return self.__dict__ | {"_environment": dict(self._environment)}

    @property
    def file(self) -> Path | None:
        """The configuration file; None where there is none."""
        return None if self._file is None else self._file.path

    @property
    def named(self) -> Path | None:
        """The configuration file where one was named; None where it is the home's own, or none."""
        return None if self.file == self.home / FILE else self.file

    def given(self, key: str, option: Any = None) -> Given:
        """Return a setting's value, and where it comes from; `option`: what one says, if any.

        Raises:
            InvalidInput: it cannot have that value; the message names the place.
        """
        setting = SETTINGS[key]
        if key == "home" and self._home:
            return Given(str(self._home), "--home")
        if option is not None:
            place = f"--{key.rpartition('.')[2].replace('_', '-')}"
            return Given(_checked(setting, option, place), place)
        if text := self._environment.get(setting.variable, "").strip():
            value = _checked(setting, _read(setting, text), setting.variable)
            return Given(value, setting.variable)
        if self._file is not None and key in self._file.given:
            return self._file.given[key]
        return Given(setting.default, "default")

    def values(self, section: str, **options: Any) -> dict[str, Any]:
        """Return the settings of a section by their names there; `options` as `given` takes them.

        Raises:
            InvalidInput: as `given`.
        """
        prefix = f"{section}." if section else ""
        return {
            name: self.given(key, options.get(name)).value
            for key in SETTINGS
            if key.rpartition(".")[0] == section
            for name in (key.removeprefix(prefix),)
        }

    @property
    def cache(self) -> Path:
        """Where model files are kept."""
        return Path(self.given("cache").value).expanduser()

    @property
    def ticks(self) -> bool:
        """Whether what decides, and an import, appends ticks."""
        found: bool = self.given("ticks").value
        return found

    @cached_property
    def client(self) -> ClientSettings:
        """Which service is asked, and with what."""
        return ClientSettings(**self.values("client"))

    def kafka(self, url: str) -> KafkaSettings:
        """Return how the brokers of a ledger are reached.

        Raises:
            InvalidInput: the URL is none, or a setting has no value that it may have.
        """
        return KafkaSettings.read(url, self.values("kafka"))

    def models(self) -> ModelSettings:
        """Return which models are asked, and within which limits.

        Raises:
            InvalidInput: a setting has no value that it may have.
        """
        return ModelSettings(**self.values("model"))

    def service(self, **options: Any) -> ServiceSettings:
        """Return the settings of a service; `options` are those of the command line.

        Raises:
            InvalidInput: one has no value that it may have, or they open what is closed.
        """
        settings = ServiceSettings(**self.values("service", **options))
        settings.check()
        return settings


class _File:
    """A configuration file: the settings in it, each with its place."""

    def __init__(self, path: Path) -> None:
        # Most homes have none.
        import tomllib

        self.path = path
        try:
            self._text = path.read_bytes().decode()
            tables = tomllib.loads(self._text)
        except FileNotFoundError:
            raise InvalidInput(
                f"there is no configuration file {path}; --config and {VARIABLE} name one that is"
            ) from None
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(f"{path} is no TOML: {error}") from None
        self.given: dict[str, Given] = {}
        for name, value in tables.items():
            if not (name in SECTIONS and isinstance(value, dict)):
                self._take(name, value)
                continue
            for field, found in value.items():
                self._take(f"{name}.{field}", found)
        self._warn_of_readers()

    def _take(self, key: str, value: Any) -> None:
        place = self._place(key)
        if key not in SETTINGS:
            raise InvalidInput(f"{place}: {_no_such(key, isinstance(value, dict))}")
        self.given[key] = Given(_checked(SETTINGS[key], value, f"{place}, {key}"), place)

    def _place(self, key: str) -> str:
        """Return where a key stands; the reader of TOML does not say in which line."""
        section, _, name = key.rpartition(".")
        inside = ""
        quoted = rf"""\s*["']?{re.escape(name)}["']?\s*[.=]"""
        dotted = rf"\s*{re.escape(section)}\s*\.\s*{re.escape(name)}\s*[.=]"
        for number, line in enumerate(self._text.splitlines(), 1):
            if header := re.match(r"\s*\[+([^\]]*)\]", line):
                inside = header[1].strip().strip("\"'")
                if inside == key or inside.startswith(f"{key}."):
                    return f"{self.path} line {number}"
            elif (inside == section and re.match(quoted, line)) or (
                section and not inside and re.match(dotted, line)
            ):
                return f"{self.path} line {number}"
        return str(self.path)

    def _warn_of_readers(self) -> None:
        secrets = [key for key in self.given if SETTINGS[key].secret]
        if secrets and self.path.stat().st_mode & 0o077:
            _log.warning(
                "%s holds %s, and others on this machine may read it: chmod 600 %s",
                self.path,
                " and ".join(secrets),
                self.path,
            )


def _read(setting: Setting, text: str) -> Any:
    """Return what the text of a variable says; itself where it is not of the setting's type."""
    kind = get_args(setting.type)[0]
    if get_origin(kind) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind is bool and text.lower() in (*_YES, *_NO):
        return text.lower() in _YES
    if kind in (int, float):
        try:
            return msgspec.convert(text, kind, strict=False)
        except msgspec.ValidationError:
            return text
    return text


def _checked(setting: Setting, value: Any, place: str) -> Any:
    try:
        return msgspec.convert(value, setting.type)
    except msgspec.ValidationError:
        given = "that" if setting.secret else repr(value)[:_MAX_SHOWN]
        raise InvalidInput(f"{place}: {given} is not {setting.wanted}") from None


def _in_words(type_: Any) -> str:
    kind, meta = get_args(type_)[0], type_.__metadata__[0]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if kind is bool:
        return "true or false"
    if kind is str:
        return "a text"
    if kind not in (int, float):
        return "a list of texts"
    least = "" if meta.ge is None else f" from {meta.ge}"
    least = least if meta.gt is None else f" above {meta.gt}"
    most = "" if meta.le is None else f" to {meta.le}"
    return f"a {'whole ' if kind is int else ''}number{least}{most}"


def _no_such(key: str, is_table: bool) -> str:
    """Return what is said of a key that is no setting, with the nearest that is one."""
    from difflib import get_close_matches

    known = [name for name in SECTIONS if name] if is_table and "." not in key else list(SETTINGS)
    what = f"there is no {'table' if is_table else 'setting'} {key[:_MAX_SHOWN]}"
    near = get_close_matches(key, known, 1) or [
        name for name in SETTINGS if name.rpartition(".")[2] == key.rpartition(".")[2]
    ]
    return f"{what}; did you mean {near[0]}?" if near else f"{what}; recollect config lists them"
