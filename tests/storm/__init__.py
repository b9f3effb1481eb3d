"""The storm: workers on Kafka under load, while processes and the broker are killed and stopped.

`load` publishes and notes what was acknowledged, `truth` is those notes, `fleet` runs the
workers and restarts what dies, `chaos` does the damage, `topics` and `verifier` read what came
of it without any code of the product, `homes` looks at the workers' own files.
"""
