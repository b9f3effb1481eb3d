"""The retrieval arms: each finds turns or documents by one signal and scores them from 0 to 1.

The third of recall's six packages: index, question, arms, ranking, answer, context. An arm is a
function from a parsed question and the index to an `arm_scores.ArmScores`. `run_arms.run_arms`
calls the arms that search the whole zone, if the query's budget includes them. `late_interaction`
and `shared_entities` rescore only the best turns; `ranking.candidates` calls them.
"""
