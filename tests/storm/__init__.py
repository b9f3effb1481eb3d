"""The storm: workers on Kafka under load, while processes and brokers are killed and stopped.

`load` publishes and notes what was acknowledged, `truth` is those notes, `fleet` runs the
workers and restarts what dies, `chaos` does the damage to them and `outages` that to the brokers,
`clocks` puts clocks wrong, `topics` and `verifier` read what came of it without any code of the
product, `homes` looks at the workers' own files, `figures` is what is told of it.
"""
