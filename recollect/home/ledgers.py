"""Functions that open a home's ledger (the setting `ledger`), encoder and node."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from recollect.home.follower_lock import has_follower
from recollect.home.home_directory import Home
from recollect.home.home_swap import HomeSwap
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.engine.node import Node
from recollect.streams.ledger import Ledger
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.ledger.kafka.settings import NO_ENCODER, NO_READER, SCHEME
from recollect.streams.system.extras import needed

# The embedded ledger does not need the Kafka client.
if TYPE_CHECKING:
    from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger

EMBEDDED = "embedded"


def open_node(home: Home, setting: str | None = None) -> Node:
    """Open the node of a home; its encoder is loaded on first use.

    `setting` overrides the home's setting `ledger`.
    """
    return node_of(home, open_ledger(home, setting), decides=True)


def open_following_node(home: Home, *, decides: bool) -> tuple[Node, KafkaLedger]:
    """Open the node of a worker (`decides`) or a replica, and its Kafka ledger.

    Raises:
        InvalidInput: the ledger is not on Kafka.
        HomeError: the home's encoder differs from the ledger's.
        MissingExtra: the Kafka client is not installed.
    """
    setting, origin = home.configuration.resolve("ledger")
    if not on_kafka(home):
        raise InvalidInput(
            f"the ledger {setting!r} ({origin}): a worker or a replica needs a "
            "ledger on Kafka, kafka://host:port"
        )
    with needed("kafka"):
        from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger

    ledger = KafkaLedger(
        home.configuration.kafka(setting),
        home.directory / "copy",
        encoder=encoder_name(home),
        reader=reader_name(home),
        agents=home.settings.agents,
        follows=True,
        writes=decides,
    )
    return node_of(home, ledger, decides=decides), ledger


def open_ledger(home: Home, setting: str | None = None) -> Ledger:
    """Open the ledger named by the setting `ledger`; `embedded` (the default) is in the home.

    `setting` overrides this setting.

    Raises:
        InvalidInput: the setting is neither `embedded` nor the URL of a Kafka ledger.
        HomeError: the home's own ledger was moved to Kafka.
        MissingExtra: the Kafka client is not installed.
    """
    origin = "ledger"
    if setting is None:
        setting, origin = home.configuration.resolve("ledger")
    if setting == EMBEDDED:
        if home.settings.promoted_to is not None:
            raise HomeError(
                f"the ledger of {home.directory} was moved to Kafka: set RECOLLECT_LEDGER="
                f"{home.settings.promoted_to}"
            )
        ledger = EmbeddedLedger(home.directory)
        try:
            # While the ledger is open, no other process can restore.
            HomeSwap(home.directory).remove_leftovers()
        except BaseException:
            ledger.close()
            raise
        return ledger
    if setting.startswith(SCHEME):
        with needed("kafka"):
            from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger

        return KafkaLedger(
            home.configuration.kafka(setting),
            home.directory / "copy",
            encoder=encoder_name(home),
            reader=reader_name(home),
            agents=home.settings.agents,
            follows=has_follower(home),
        )
    raise InvalidInput(f"the ledger {setting!r} ({origin}): give {EMBEDDED!r} or kafka://host:port")


def on_kafka(home: Home) -> bool:
    """Return whether a home's ledger is on Kafka, by its settings."""
    setting: str = home.configuration.resolve("ledger").value
    return setting.startswith(SCHEME)


def encoder_name(home: Home) -> str:
    """Return the identifier of a home's encoder: its model and the hash of its weights."""
    pin = home.settings.encoder
    return NO_ENCODER if pin is None else f"{pin.model} sha256:{pin.sha256}"


def reader_name(home: Home) -> str:
    """Return the identifier of a home's reader: the hash of its heads."""
    pin = home.settings.reader
    return NO_READER if pin is None else f"sha256:{pin.heads}"


def node_of(home: Home, ledger: Ledger, *, decides: bool) -> Node:
    """Return the node of a home on a ledger; `decides` is False for a replica."""
    return Node(
        home.directory,
        ledger,
        gateway_of(home),
        agent_names=home.settings.agents,
        find_gateway=partial(_find_gateway, home),
        decides=decides,
    )


def gateway_of(home: Home) -> EncoderGateway:
    """Return the gateway to a home's own encoder and reader, both loaded on first use."""
    pin = home.settings.encoder
    return EncoderGateway(
        pin.model if pin else None,
        pin.dimension if pin else 0,
        home.load_encoder,
        reader=home.reader_handle(pin),
    )


def _find_gateway(home: Home, model: str) -> EncoderGateway | None:
    """Return the gateway to an encoder of a home, and its reader; None if it has no such model."""
    pin = home.pin_of(model)
    if pin is None:
        return None
    load = partial(home.load_pinned, pin)
    return EncoderGateway(pin.model, pin.dimension, load, reader=home.reader_handle(pin))
