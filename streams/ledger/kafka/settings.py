"""Where a Kafka ledger is and how to reach it: RECOLLECT_LEDGER and the settings of [kafka]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.errors import InvalidInput

if TYPE_CHECKING:
    import ssl

SCHEME = "kafka://"
#: The value that stands for "no encoder" when nodes compare their encoders.
NO_ENCODER = "none"
#: The value that stands for "no reader" when nodes compare their readers.
NO_READER = "none"
Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

_SERVER = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})")
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class KafkaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach the brokers, and how new topics are made.

    With a prefix, topics are named `prefix.events`. The fields with a description are settings.
    """

    servers: tuple[str, ...]
    prefix: str = ""
    security_protocol: Annotated[
        Protocol, Meta(description="the security protocol: plaintext or TLS, with or without SASL")
    ] = "PLAINTEXT"
    sasl_mechanism: Annotated[Mechanism, Meta(description="the SASL mechanism")] = "PLAIN"
    username: Annotated[str, Meta(description="the SASL user name")] | None = None
    password: (
        Annotated[str, Meta(description="the SASL password", extra={"secret": True})] | None
    ) = None
    ca_file: (
        Annotated[
            str,
            Meta(description="PEM file of the authority that signed the brokers' certificates"),
        ]
        | None
    ) = None
    certificate_file: (
        Annotated[str, Meta(description="PEM file of this client's own certificate")] | None
    ) = None
    key_file: Annotated[str, Meta(description="PEM file of this client's own key")] | None = None
    replication: (
        Annotated[int, Meta(ge=1, le=32_767, description="replication factor of new topics")] | None
    ) = None
    session_seconds: Annotated[
        float,
        Meta(
            ge=1,
            le=1_800,
            description="how long a worker may be silent before others take over its partitions",
        ),
    ] = 10.0
    erase_seconds: Annotated[
        float,
        Meta(
            ge=1,
            le=604_800,
            description="deadline for erased data to leave the brokers' disks",
        ),
    ] = 600.0

    @classmethod
    def read(cls, url: str, values: Mapping[str, Any]) -> KafkaSettings:
        """Return the settings for `kafka://host:port[,host:port][/prefix]` and these `values`.

        Raises:
            InvalidInput: the URL is invalid, or SASL lacks a user name or a password.
        """
        hosts, _, prefix = url.removeprefix(SCHEME).partition("/")
        servers = tuple(hosts.split(","))
        if not url.startswith(SCHEME) or not all(map(_is_server, servers)):
            raise InvalidInput(
                f"the ledger {url!r} is not of the form kafka://host:port[,host:port][/prefix]"
            )
        prefix = prefix.rstrip("/")
        if prefix and not _PREFIX.fullmatch(prefix):
            raise InvalidInput(
                f"the ledger {url!r}: the prefix may contain only letters, digits, '.', '_' and '-'"
            )
        settings = cls(servers=servers, prefix=prefix, **values)
        if settings.uses_sasl and not (settings.username and settings.password):
            raise InvalidInput(
                f"RECOLLECT_KAFKA_SECURITY_PROTOCOL={settings.security_protocol} needs "
                "RECOLLECT_KAFKA_USERNAME and RECOLLECT_KAFKA_PASSWORD, or username and password "
                "under [kafka] in the configuration file"
            )
        return settings

    @property
    def uses_sasl(self) -> bool:
        """Whether clients authenticate with SASL."""
        return self.security_protocol.startswith("SASL")

    @property
    def url(self) -> str:
        """The ledger's address, in the form that RECOLLECT_LEDGER takes."""
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
        if not self.security_protocol.endswith("SSL"):
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
            "security_protocol": self.security_protocol,
            "ssl_context": self.ssl_context(),
        }
        if self.uses_sasl:
            options |= {
                "sasl_mechanism": self.sasl_mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        return options


def _is_server(text: str) -> bool:
    found = _SERVER.fullmatch(text)
    return found is not None and 0 < int(found[2]) < 65_536
