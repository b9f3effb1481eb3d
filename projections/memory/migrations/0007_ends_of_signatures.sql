-- Signatures of one sender begin alike and end as their sentences do: an index of their ends finds
-- as few, and takes a third.

DROP INDEX idx_facts_signature;
CREATE INDEX idx_facts_signature ON facts(substr(signature, -16), as_of);
