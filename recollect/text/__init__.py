"""Plain English text: its words, sentences and dates.

Read by the agents (`recollect.streams.language`) and by recall's question parser. All functions
are pure.
"""
