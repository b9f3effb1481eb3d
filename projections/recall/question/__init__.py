"""Parse questions: words, names, speakers, times, filters and the expected type of answer.

The second of the six packages of recall: index, question, arms, ranking, answer, context.
`query_parser.QueryParser` turns a `query.RecallQuery` into `parsed_question.ParsedQuestion`s, one
for each question in its text. The other packages of recall work with parsed questions only.
"""
