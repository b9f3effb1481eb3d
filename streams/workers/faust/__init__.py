"""The consumer on Kafka: faust-streaming reads the records, starting at the handler's cursors.

Faust joins the consumer group, assigns the partitions, and runs an agent over the records. Start
offsets, admission of records and the handling of failures are replaced here, because Faust would
lose records in all three.
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
