"""The log of commands: control characters are escaped, and the Kafka client's errors are hidden."""

from __future__ import annotations

import logging

from recollect.schemas.text_sanitising import escape_invisible


def escape_log() -> None:
    """Escape the log on stderr, and hide the Kafka client's.

    Commands print the errors of the Kafka client themselves; workers enable its log again.
    """
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_EscapingFormatter())


class _EscapingFormatter(logging.Formatter):
    """Escapes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(escape_invisible, super().format(record).splitlines()))
