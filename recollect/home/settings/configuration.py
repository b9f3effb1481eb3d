"""Settings: their declarations, and the values in effect.

A value comes from a command-line option, else an environment variable, else the configuration file,
else the default. The configuration file is the one given by `--config` or RECOLLECT_CONFIG, else
`recollect.toml` in the home, if it exists.
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

from recollect.home.settings.service_settings import ServiceSettings
from recollect.schemas.errors import InvalidInput
from recollect.schemas.memory_terms import TierLimits
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.models.model_settings import ModelSettings

#: The configuration file of a home, and the environment variable that names another file.
CONFIG_FILE = "recollect.toml"
CONFIG_VARIABLE = "RECOLLECT_CONFIG"

_TRUE_WORDS, _FALSE_WORDS = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
_MAX_SHOWN = 100
# Old name -> new name, for keys that files may still contain.
_RENAMED = {"service.readers": "service.recall_workers"}
#: Sections whose environment variables contain the section's name.
_PREFIXED_SECTIONS = ("kafka", "model")
_log = logging.getLogger(__name__)


class GeneralSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The home, the model cache and the ledger."""

    home: Annotated[str, Meta(description="home directory")] = "~/.recollect"
    cache: Annotated[str, Meta(description="directory of model files, shared by all homes")] = (
        "~/.cache/recollect"
    )
    ledger: Annotated[
        str,
        Meta(
            description="the ledger: embedded, or kafka://host:port[,host:port][/prefix]; with a "
            "prefix the topics are named prefix.events and so on"
        ),
    ] = "embedded"
    ticks: Annotated[
        bool,
        Meta(
            description="append ticks, which close abandoned turns and consolidate facts, in "
            "workers and after imports"
        ),
    ] = True
    analyses: Annotated[
        bool,
        Meta(description="analyse episodes that have ended, in workers and after imports"),
    ] = False
    profile_facts: Annotated[
        int,
        Meta(
            ge=0,
            description="minimum number of facts for an entity (a person, an organisation, ...) "
            "to get a profile, which is a mental model; 0: no profiles",
        ),
    ] = 20
    passes_hour: Annotated[
        int,
        Meta(
            ge=-1,
            le=23,
            description="hour of the day (UTC) from which the daily passes over observations are "
            "due; the time is that of the zone's latest message; -1: never",
        ),
    ] = 3
    main_capacity: Annotated[
        int,
        Meta(ge=1, description="maximum number of stored memories in the main context"),
    ] = TierLimits().main_capacity
    recall_max_age_hours: Annotated[
        float,
        Meta(
            ge=0,
            description="hours after which unused memories outside the main context are archived; "
            "ticks = false disables this",
        ),
    ] = TierLimits().max_age_hours
    disabled_rules: Annotated[
        tuple[str, ...],
        Meta(description="ids of declared rules to disable; extract --trace shows the ids"),
    ] = ()


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of workers."""

    member: (
        Annotated[
            str,
            Meta(description="on Kafka: static member name; keeps partitions across restarts"),
        ]
        | None
    ) = None


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The service that the Claude Code plugin uses. `mcp --url` uses the token too."""

    url: Annotated[str, Meta(description="URL of the service for the Claude Code plugin")] = (
        "http://127.0.0.1:8420"
    )
    token: (
        Annotated[
            str,
            Meta(
                description="access token of the Claude Code plugin and of mcp --url",
                extra={"secret": True},
            ),
        ]
        | None
    ) = None
    zone: Annotated[str, Meta(description="zone of the Claude Code plugin")] = DEFAULT_ZONE


#: The tables of the file; settings under "" come before the first table.
SECTIONS: dict[str, type[msgspec.Struct]] = {
    "": GeneralSettings,
    "kafka": KafkaSettings,
    "service": ServiceSettings,
    "worker": WorkerSettings,
    "model": ModelSettings,
    "client": ClientSettings,
}


class Setting(NamedTuple):
    """A setting: its key in the file, its variable, type, default and description."""

    key: str
    variable: str
    type: Any
    default: Any
    description: str
    secret: bool

    @property
    def type_description(self) -> str:
        """A description of the accepted values."""
        return _describe_type(self.type)


class ResolvedValue(NamedTuple):
    """The value of a setting, and where it comes from."""

    value: Any
    origin: str


def _declared_settings() -> Iterable[Setting]:
    for section, struct in SECTIONS.items():
        prefix = f"RECOLLECT_{section.upper()}_" if section in _PREFIXED_SECTIONS else "RECOLLECT_"
        for field in msgspec.structs.fields(struct):
            # Optional settings are declared `Annotated[...] | None`.
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


#: Every setting, by key, in the order of the sections.
SETTINGS: dict[str, Setting] = {setting.key: setting for setting in _declared_settings()}


class Configuration:
    """The settings of a home and its processes.

    Environment variables are read at each access, the file only once.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        file: str | Path | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """`home`, `file`: the values of --home and --config.

        Raises:
            InvalidInput: a path is empty, or the file is missing, is not valid TOML, or has an
                unknown key or an invalid value; the message names the line.
        """
        if home == "":
            raise InvalidInput("home is empty; give the path of a directory")
        if file == "":
            raise InvalidInput("config is empty; give the path of a configuration file")
        self._environment = environment
        self._home = home
        explicit = file or environment.get(CONFIG_VARIABLE)
        self._file = _File(Path(explicit).expanduser()) if explicit else None
        #: The home directory.
        self.home = Path(self.resolve("home").value).expanduser()
        # `isfile` is False if the home is unreadable; the first access to it reports the error.
        if self._file is None and os.path.isfile(self.home / CONFIG_FILE):
            self._file = _File(self.home / CONFIG_FILE)
            if file_home := self._file.values.get("home"):
                raise InvalidInput(
                    f"{file_home.origin}: a file inside a home cannot set `home`; remove the "
                    f"setting, or move the file and name it in the variable {CONFIG_VARIABLE}"
                )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, with the current environment variables."""
        return self.__dict__ | {"_environment": dict(self._environment)}

    @property
    def file(self) -> Path | None:
        """The configuration file; None if there is none."""
        return None if self._file is None else self._file.path

    @property
    def explicit_file(self) -> Path | None:
        """The file given by --config or the environment; None if there is no such file."""
        return None if self.file == self.home / CONFIG_FILE else self.file

    def resolve(self, key: str, option: Any = None) -> ResolvedValue:
        """Return the value of a setting; `option`: the value of its command-line option, if given.

        Raises:
            InvalidInput: the value is invalid; the message says where it comes from.
        """
        setting = SETTINGS[key]
        if key == "home" and self._home:
            return ResolvedValue(str(self._home), "--home")
        if option is not None:
            origin = f"--{key.rpartition('.')[2].replace('_', '-')}"
            return ResolvedValue(_check_value(setting, option, origin), origin)
        if text := self._environment.get(setting.variable, "").strip():
            value = _check_value(setting, _read(setting, text), setting.variable)
            return ResolvedValue(value, setting.variable)
        if self._file is not None and key in self._file.values:
            return self._file.values[key]
        return ResolvedValue(setting.default, "default")

    def values(self, section: str, **options: Any) -> dict[str, Any]:
        """Return the values of a section by name; `options`: values of command-line options.

        Raises:
            InvalidInput: a value is invalid.
        """
        prefix = f"{section}." if section else ""
        return {
            name: self.resolve(key, options.get(name)).value
            for key in SETTINGS
            if key.rpartition(".")[0] == section
            for name in (key.removeprefix(prefix),)
        }

    @property
    def cache(self) -> Path:
        """The directory of model files."""
        return Path(self.resolve("cache").value).expanduser()

    @property
    def passes_hour(self) -> int:
        """The hour of the day (UTC) from which daily passes are due; -1: never."""
        found: int = self.resolve("passes_hour").value
        return found

    @property
    def tier_limits(self) -> TierLimits:
        """The limits of the tiers of stored memories."""
        return TierLimits(
            self.resolve("main_capacity").value, self.resolve("recall_max_age_hours").value
        )

    @property
    def profile_facts(self) -> int:
        """The minimum number of facts for an entity to get a profile; 0: no profiles."""
        found: int = self.resolve("profile_facts").value
        return found

    @property
    def ticks(self) -> bool:
        """Whether workers and imports append ticks."""
        found: bool = self.resolve("ticks").value
        return found

    @property
    def analyses(self) -> bool:
        """Whether workers and imports analyse episodes that have ended."""
        found: bool = self.resolve("analyses").value
        return found

    def apply_disabled_rules(self) -> None:
        """Disable the declared rules that the settings name, in this process.

        Raises:
            InvalidInput: no rule has one of the ids.
        """
        from recollect.text.dates.time_grammar import disable_rules

        setting = self.resolve("disabled_rules")
        try:
            disable_rules(setting.value)
        except ValueError as error:
            raise InvalidInput(f"{setting.origin}: {error}") from None

    @cached_property
    def client(self) -> ClientSettings:
        """The settings of the plugin, and of `mcp --url`."""
        return ClientSettings(**self.values("client"))

    def kafka(self, url: str) -> KafkaSettings:
        """Return the settings of a ledger on Kafka.

        Raises:
            InvalidInput: the URL or a setting is invalid.
        """
        return KafkaSettings.read(url, self.values("kafka"))

    def models(self) -> ModelSettings:
        """Return the settings of language models.

        Raises:
            InvalidInput: a setting is invalid.
        """
        return ModelSettings(**self.values("model"))

    def service(self, **options: Any) -> ServiceSettings:
        """Return the settings of the service; `options`: values of command-line options.

        Raises:
            InvalidInput: a value is invalid, or authentication is disabled on an address that
                other machines can reach.
        """
        settings = ServiceSettings(**self.values("service", **options))
        settings.check()
        return settings


class _File:
    """The values in a configuration file, with their lines."""

    def __init__(self, path: Path) -> None:
        # Imported here: most homes have no file.
        import tomllib

        self.path = path
        try:
            self._text = path.read_bytes().decode()
            tables = tomllib.loads(self._text)
        except FileNotFoundError:
            raise InvalidInput(
                f"no configuration file {path}; check the path, and {CONFIG_VARIABLE}"
            ) from None
        except OSError as error:
            raise InvalidInput(f"cannot read {path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(f"{path} is not valid TOML: {error}") from None
        self.values: dict[str, ResolvedValue] = {}
        for name, value in tables.items():
            if not (name in SECTIONS and isinstance(value, dict)):
                self._add(name, value)
                continue
            for field, field_value in value.items():
                self._add(f"{name}.{field}", field_value)
        self._warn_if_readable()

    def _add(self, key: str, value: Any) -> None:
        origin = self._location(key)
        if key not in SETTINGS:
            raise InvalidInput(f"{origin}: {_unknown_key_message(key, isinstance(value, dict))}")
        self.values[key] = ResolvedValue(
            _check_value(SETTINGS[key], value, f"{origin}, {key}"), origin
        )

    def _location(self, key: str) -> str:
        """Return the file and line of a key. The line is searched for: tomllib reports none."""
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

    def _warn_if_readable(self) -> None:
        secrets = [key for key in self.values if SETTINGS[key].secret]
        if secrets and self.path.stat().st_mode & 0o077:
            _log.warning(
                "%s contains %s and is readable by other users: chmod 600 %s",
                self.path,
                " and ".join(secrets),
                self.path,
            )


def _read(setting: Setting, text: str) -> Any:
    """Parse a variable's text; return it unchanged if it does not fit the setting's type."""
    kind = get_args(setting.type)[0]
    if get_origin(kind) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind is bool and text.lower() in (*_TRUE_WORDS, *_FALSE_WORDS):
        return text.lower() in _TRUE_WORDS
    if kind in (int, float):
        try:
            return msgspec.convert(text, kind, strict=False)
        except msgspec.ValidationError:
            return text
    return text


def _check_value(setting: Setting, value: Any, origin: str) -> Any:
    try:
        return msgspec.convert(value, setting.type)
    except msgspec.ValidationError:
        given = "that" if setting.secret else repr(value)[:_MAX_SHOWN]
        raise InvalidInput(f"{origin}: {given} is not {setting.type_description}") from None


def _describe_type(type_: Any) -> str:
    kind, meta = get_args(type_)[0], type_.__metadata__[0]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if kind is bool:
        return "true or false"
    if kind is str:
        return "a string"
    if kind not in (int, float):
        return "a list of strings"
    low = "" if meta.ge is None else f" from {meta.ge}"
    high = "" if meta.le is None else f" to {meta.le}"
    if meta.gt is not None:
        low = f" above {meta.gt}"
        high = high and f" and up{high}"
    return f"a {'whole ' if kind is int else ''}number{low}{high}"


def _unknown_key_message(key: str, is_table: bool) -> str:
    """Return the message for an unknown key, with the most similar known key."""
    from difflib import get_close_matches

    if key in _RENAMED:
        return f"{key} is now called {_RENAMED[key]}"
    known = [name for name in SECTIONS if name] if is_table and "." not in key else list(SETTINGS)
    what = f"unknown {'table' if is_table else 'setting'} {key[:_MAX_SHOWN]}"
    similar = get_close_matches(key, known, 1) or [
        name for name in SETTINGS if name.rpartition(".")[2] == key.rpartition(".")[2]
    ]
    return (
        f"{what}; did you mean {similar[0]}?"
        if similar
        else f"{what}; run recollect config to see the settings"
    )
