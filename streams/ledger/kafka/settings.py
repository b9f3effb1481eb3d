"""Where a Kafka ledger is and how to reach it: RECOLLECT_LEDGER and RECOLLECT_KAFKA_*."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from schemas.errors import InvalidInput

if TYPE_CHECKING:
    import ssl

SCHEME = "kafka://"
#: What nodes without an encoder agree on.
NO_ENCODER = "none"
Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

_SERVER = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})")
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

#: Every setting, by its environment variable.
VARIABLES = {
    "RECOLLECT_KAFKA_SECURITY_PROTOCOL": "protocol",
    "RECOLLECT_KAFKA_SASL_MECHANISM": "mechanism",
    "RECOLLECT_KAFKA_USERNAME": "username",
    "RECOLLECT_KAFKA_PASSWORD": "password",
    "RECOLLECT_KAFKA_CA_FILE": "ca_file",
    "RECOLLECT_KAFKA_CERTIFICATE_FILE": "certificate_file",
    "RECOLLECT_KAFKA_KEY_FILE": "key_file",
    "RECOLLECT_KAFKA_REPLICATION": "replication",
    "RECOLLECT_KAFKA_SESSION_SECONDS": "session_seconds",
    "RECOLLECT_KAFKA_ERASE_SECONDS": "erase_seconds",
}


class KafkaSettings(msgspec.Struct, frozen=True):
    """How to reach the brokers. With a prefix, topics are named `prefix.events`.

    `replication` is the number of replicas of new topics; -1: three, or as many as there are
    brokers. `session_seconds` is how long a worker may be silent before others take its partitions
    over. `erase_seconds` is the time within which erased data is gone from the brokers' disks.
    """

    servers: tuple[str, ...]
    prefix: str = ""
    protocol: Protocol = "PLAINTEXT"
    mechanism: Mechanism = "PLAIN"
    username: str | None = None
    password: str | None = None
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    replication: int = -1
    session_seconds: float = 10.0
    erase_seconds: float = 600.0

    @classmethod
    def read(cls, url: str, environment: Mapping[str, str]) -> KafkaSettings:
        """Return the settings of `kafka://host:port[,host:port][/prefix]` and RECOLLECT_KAFKA_*.

        Raises:
            InvalidInput: one of them cannot be understood.
        """
        hosts, _, prefix = url.removeprefix(SCHEME).partition("/")
        servers = tuple(hosts.split(","))
        if not url.startswith(SCHEME) or not all(map(_is_server, servers)):
            raise InvalidInput(
                f"the ledger {url!r}: write kafka://host:port, with more brokers after "
                "commas and a prefix of the topics' names after a slash"
            )
        prefix = prefix.rstrip("/")
        if prefix and not _PREFIX.fullmatch(prefix):
            raise InvalidInput(
                f"the ledger {url!r}: a prefix has letters, digits, '.', '_' and '-' only"
            )
        given: dict[str, Any] = {
            field: environment[variable]
            for variable, field in VARIABLES.items()
            if environment.get(variable)
        }
        for variable, field, choices in (
            ("RECOLLECT_KAFKA_SECURITY_PROTOCOL", "protocol", get_args(Protocol)),
            ("RECOLLECT_KAFKA_SASL_MECHANISM", "mechanism", get_args(Mechanism)),
        ):
            if given.get(field, choices[0]) not in choices:
                raise InvalidInput(f"{variable}={given[field]!r}: give one of {', '.join(choices)}")
        for variable, kind, most in (
            ("RECOLLECT_KAFKA_REPLICATION", int, 32_767),
            ("RECOLLECT_KAFKA_SESSION_SECONDS", float, 1_800),
            ("RECOLLECT_KAFKA_ERASE_SECONDS", float, 604_800),
        ):
            field = VARIABLES[variable]
            if field in given:
                try:
                    number = kind(text := given[field])
                except ValueError:
                    number = 0
                if not 1 <= number <= most:
                    raise InvalidInput(f"{variable}={text!r}: give a number from 1 to {most}")
                given[field] = number
        settings = cls(servers=servers, prefix=prefix, **given)
        if settings.protocol.startswith("SASL") and not (settings.username and settings.password):
            raise InvalidInput(
                f"RECOLLECT_KAFKA_SECURITY_PROTOCOL={settings.protocol} needs "
                "RECOLLECT_KAFKA_USERNAME and RECOLLECT_KAFKA_PASSWORD"
            )
        return settings

    @property
    def url(self) -> str:
        """The ledger's name, as RECOLLECT_LEDGER gives it."""
        return SCHEME + ",".join(self.servers) + (f"/{self.prefix}" if self.prefix else "")

    @property
    def group(self) -> str:
        """The consumer group of the workers."""
        return f"{self.prefix}.recollect" if self.prefix else "recollect"

    def topic(self, name: str) -> str:
        """Return the name of one of our topics on the broker."""
        return f"{self.prefix}.{name}" if self.prefix else name

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the context for TLS, or None if the connection is not encrypted.

        Raises:
            InvalidInput: a certificate or key file cannot be used.
        """
        if not self.protocol.endswith("SSL"):
            return None
        import ssl

        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.certificate_file:
                context.load_cert_chain(self.certificate_file, self.key_file)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(filter(None, (self.ca_file, self.certificate_file, self.key_file)))
            raise InvalidInput(
                f"the files of RECOLLECT_KAFKA_CA_FILE, _CERTIFICATE_FILE and _KEY_FILE ({files}) "
                f"cannot be used: {error}"
            ) from None
        return context

    def client_options(self) -> dict[str, Any]:
        """Return the keyword arguments that every aiokafka client takes."""
        options: dict[str, Any] = {
            "bootstrap_servers": list(self.servers),
            "security_protocol": self.protocol,
            "ssl_context": self.ssl_context(),
        }
        if self.protocol.startswith("SASL"):
            options |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        return options


def _is_server(text: str) -> bool:
    found = _SERVER.fullmatch(text)
    return found is not None and 0 < int(found[2]) < 65_536
