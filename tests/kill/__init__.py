"""The kill test: the real command is killed at every failpoint, and its home loses nothing.

`world` says what is to be remembered, `commands` runs the command line and kills it, `steps`
is the work that one home is given, `checks` looks at what came out.
"""
