"""The driver on Kafka: faust-streaming brings the records, the handler's cursor is the truth.

Faust does what it is good at: it joins the consumer group, shares out the partitions, and runs an
agent over what arrives. Where a partition is read from, what may be handed over, and what happens
when something fails is decided here, because Faust would lose records on each of the three.
"""

from streams.workers.faust.handler import (
    Delivered,
    DeliveryFailed,
    Handler,
    Partition,
    Sasl,
    Settings,
)
from streams.workers.faust.worker import run

__all__ = [
    "Delivered",
    "DeliveryFailed",
    "Handler",
    "Partition",
    "Sasl",
    "Settings",
    "run",
]
