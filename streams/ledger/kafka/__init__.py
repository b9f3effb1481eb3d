"""The ledger on Apache Kafka: topics, clients, keys, and each node's copy of what it reads."""

from streams.ledger.kafka.kafka_ledger import NO_ENCODER, KafkaLedger
from streams.ledger.kafka.settings import KafkaSettings

__all__ = ["NO_ENCODER", "KafkaLedger", "KafkaSettings"]
