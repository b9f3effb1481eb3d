"""The driver on Kafka: faust-streaming reads the records, the handler's cursors count.

Faust joins the consumer group, assigns the partitions, and runs an agent over what arrives. Where
reading begins, what may be delivered, and what happens after a failure is decided here, because
Faust would lose records in all three cases.
"""

from recollect.streams.workers.faust.handler import (
    Delivered,
    DeliveryFailed,
    Handler,
    Partition,
    Sasl,
    Settings,
)
from recollect.streams.workers.faust.worker import run

__all__ = [
    "Delivered",
    "DeliveryFailed",
    "Handler",
    "Partition",
    "Sasl",
    "Settings",
    "run",
]
