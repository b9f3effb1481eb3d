-- Signatures of one sender share a prefix and differ at the end: an index of suffixes is as selective
-- as one of whole signatures, in a third of the space.

DROP INDEX idx_facts_signature;
CREATE INDEX idx_facts_signature ON facts(substr(signature, -16), as_of);
