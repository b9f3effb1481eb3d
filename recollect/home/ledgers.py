"""Opening a home's ledger (the setting `ledger`), encoder and node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.home.follower_lock import followed
from recollect.home.home_directory import Home
from recollect.home.home_swap import HomeSwap
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.engine.node import Node
from recollect.streams.ledger import Ledger
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.ledger.kafka.settings import NO_ENCODER, NO_READER, SCHEME
from recollect.streams.system.extras import needed

# With the embedded ledger the Kafka client need not be loaded.
if TYPE_CHECKING:
    from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger

EMBEDDED = "embedded"


def open_node(home: Home, setting: str | None = None) -> Node:
    """Open the node of a home; its encoder is loaded when the first text needs it.

    `setting` replaces the home's.
    """
    return node_of(home, open_ledger(home, setting), decides=True)


def open_following_node(home: Home, *, decides: bool) -> tuple[Node, KafkaLedger]:
    """Open the node of a worker (`decides`) or a replica, and its Kafka ledger.

    Raises:
        InvalidInput: the ledger is not on Kafka.
        HomeError: the home has another encoder than the ledger.
        MissingExtra: the client of Kafka is missing.
    """
    setting, place = home.configuration.resolve("ledger")
    if not on_kafka(home):
        raise InvalidInput(f"the ledger {setting!r} ({place}): a replica follows kafka://host:port")
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
    """Open the ledger that the home's settings name; `embedded` (the default) lies in the home.

    `setting` replaces it.

    Raises:
        InvalidInput: the setting names no ledger that this recollect knows.
        HomeError: the home's own ledger was moved away.
        MissingExtra: the client of Kafka is missing.
    """
    place = "ledger"
    if setting is None:
        setting, place = home.configuration.resolve("ledger")
    if setting == EMBEDDED:
        if home.settings.promoted_to is not None:
            raise HomeError(
                f"the ledger of {home.directory} was moved: set RECOLLECT_LEDGER="
                f"{home.settings.promoted_to}"
            )
        ledger = EmbeddedLedger(home.directory)
        try:
            # Who has the ledger open keeps restores away.
            HomeSwap(home.directory).clear_left()
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
            follows=followed(home),
        )
    raise InvalidInput(f"the ledger {setting!r} ({place}): give {EMBEDDED!r} or kafka://host:port")


def on_kafka(home: Home) -> bool:
    """Return whether the settings of a home name a ledger on Kafka."""
    setting: str = home.configuration.resolve("ledger").value
    return setting.startswith(SCHEME)


def encoder_name(home: Home) -> str:
    """Return the exact name of a home's encoder: its model and the hash of its weights."""
    pin = home.settings.encoder
    return NO_ENCODER if pin is None else f"{pin.model} sha256:{pin.sha256}"


def reader_name(home: Home) -> str:
    """Return the exact name of a home's reader: the hash of its heads."""
    pin = home.settings.reader
    return NO_READER if pin is None else f"sha256:{pin.heads}"


def node_of(home: Home, ledger: Ledger, *, decides: bool) -> Node:
    """Return the node of a home on a ledger; `decides` False: a replica."""
    gateway = gateway_of(home)
    return Node(home.directory, ledger, gateway, agent_names=home.settings.agents, decides=decides)


def gateway_of(home: Home) -> EncoderGateway:
    """Return the gateway to a home's encoder and reader, each loaded when a text needs it."""
    pin = home.settings.encoder
    return EncoderGateway(
        pin.model if pin else None,
        pin.dimension if pin else 0,
        home.load_encoder,
        reader=home.reader_door(),
    )
