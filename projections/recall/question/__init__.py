"""Reads questions: words, names, speakers, times, filters and the type of answer.

The second of the six rooms of recall: index, question, arms, ranking, answer, context. Everything
that reads a question is here: `question_reader.QuestionReader` turns a `query.Query` into
`parsed_question.ParsedQuestion`s, one for each question in its text, and the other rooms work with
these alone.
"""
