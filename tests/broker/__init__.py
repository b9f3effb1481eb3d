"""A real Kafka broker for the tests, on loopback and without Docker.

`jars` brings Kafka from the Maven registry, `kafka` runs it, `security` gives it listeners that
ask for a password or speak TLS, `shared` lends one broker to all processes of a test run,
`fixture` is what tests ask for, and `python -m tests.broker start` runs one beside them.
"""
