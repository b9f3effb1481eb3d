"""The consumer on Kafka: faust-streaming reads the records, from the handler's cursors on.

Faust joins the consumer group, assigns the partitions, and runs an agent over the records. Where
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
