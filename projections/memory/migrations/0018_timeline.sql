-- The days of facts in order, for the timeline; most facts speak of one day, others of several.

CREATE INDEX idx_fact_days_first ON fact_days(first_day);
CREATE INDEX idx_fact_spans_first ON fact_days(first_day, last_day) WHERE last_day > first_day;
CREATE INDEX idx_fact_spans_last ON fact_days(last_day) WHERE last_day > first_day;
