"""The consumer on Kafka: faust-streaming reads the records, starting at the handler's cursors.

Faust joins the consumer group, assigns the partitions, and runs one of its own agents over the
records. This package replaces how Faust chooses start offsets, how it admits records and how it
handles failures, because Faust would lose records in all three cases.
"""

from recollect.streams.workers.faust.handler import (
    Delivered,
    Handler,
    Partition,
    Sasl,
    Settings,
)
from recollect.streams.workers.faust.worker import run

__all__ = [
    "Delivered",
    "Handler",
    "Partition",
    "Sasl",
    "Settings",
    "run",
]
