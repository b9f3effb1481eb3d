"""The arms: each finds turns (or documents) in its own way and scores them from 0 to 1.

The third of the six rooms of recall: index, question, arms, ranking, answer, context. An arm is a
function from a parsed question and the index to an `arm_scores.ArmScores`; `running.run` calls
those that a budget runs over the whole zone. `late_interaction` and `shared_entities` look at the
best turns alone: `ranking.candidates` calls them.
"""
