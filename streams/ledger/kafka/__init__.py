"""The ledger on Apache Kafka: topics, clients, keys, and each node's local copy."""
