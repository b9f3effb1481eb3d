-- The primary key begins with the same column and covers the table: an index by fact was a copy of
-- the whole table.

DROP INDEX idx_fact_entities_fact;
