-- Analyses of episodes (A10): the built-in types, and patterns of a user's own.

ALTER TABLE analysis_types ADD COLUMN patterns TEXT;        -- JSON: facet type -> regular expression
INSERT OR IGNORE INTO analysis_types (id, name, version, output_type) VALUES
    ('summary_v1', 'summary', '1', 'text'),
    ('conversation_v1', 'conversation', '1', 'text'),
    ('pii_v1', 'pii', '1', 'facets'),
    ('entities_v1', 'entities', '1', 'facets'),
    ('topics_v1', 'topics', '1', 'facets');

CREATE INDEX idx_facets_run ON facets(analysis_run_id);
CREATE INDEX idx_facets_episode ON facets(episode_id);
CREATE INDEX idx_facets_type ON facets(facet_type, value);
