-- The primary key begins with the same column, in a table that is nothing but its primary key: an
-- index of it by fact was a copy of the whole table.

DROP INDEX idx_fact_entities_fact;
