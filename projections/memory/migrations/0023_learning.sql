-- Learning from experience (C14): trajectories, reflections, playbooks.

CREATE TABLE trajectories (
    id          TEXT PRIMARY KEY,       -- of the event that started it
    task        TEXT    NOT NULL,
    task_type   TEXT    NOT NULL,       -- only trajectories of one type are compared
    agent_id    TEXT,
    playbook_id TEXT,                   -- in use
    metadata    TEXT    NOT NULL,       -- JSON object
    number      INTEGER NOT NULL,
    started_at  INTEGER NOT NULL        -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_trajectories_number ON trajectories(number);

CREATE TABLE trajectory_steps (
    id            TEXT PRIMARY KEY,     -- of its event
    trajectory_id TEXT    NOT NULL,
    kind          TEXT    NOT NULL,     -- action, decision, observation, tool_call
    content       TEXT    NOT NULL,
    tool          TEXT,
    number        INTEGER NOT NULL,
    at            INTEGER NOT NULL      -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_trajectory_steps ON trajectory_steps(trajectory_id, number);

CREATE TABLE trajectory_completions (
    trajectory_id TEXT PRIMARY KEY,
    task_type     TEXT    NOT NULL,
    status        TEXT    NOT NULL,     -- success, failure, partial
    success_score REAL    NOT NULL,     -- 0 to 1
    error_message TEXT,
    metrics       TEXT    NOT NULL,     -- JSON object
    number        INTEGER NOT NULL,
    completed_at  INTEGER NOT NULL      -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_trajectory_completions_type ON trajectory_completions(task_type, number);

CREATE TABLE trajectory_feedback (
    id            TEXT PRIMARY KEY,     -- of its event
    trajectory_id TEXT    NOT NULL,
    score         REAL    NOT NULL,     -- 0 to 1
    source        TEXT    NOT NULL,     -- human, monitoring, ab_test, production
    comment       TEXT,
    number        INTEGER NOT NULL,
    given_at      INTEGER NOT NULL      -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_trajectory_feedback ON trajectory_feedback(trajectory_id, number);

CREATE TABLE reflections (
    id            TEXT PRIMARY KEY,     -- of its event
    trajectory_id TEXT    NOT NULL,
    confidence    REAL    NOT NULL,     -- 0 to 1; also its importance as a memory
    model         TEXT,                 -- NULL: it compares outcomes
    successes     INTEGER NOT NULL,     -- runs of the task type that it is based on
    failures      INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    created_at    INTEGER NOT NULL      -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_reflections_trajectory ON reflections(trajectory_id, number);

CREATE TABLE reflection_items (
    reflection_id TEXT    NOT NULL,
    position      INTEGER NOT NULL,
    kind          TEXT    NOT NULL,     -- helpful, harmful, observation
    text          TEXT    NOT NULL,
    impact        TEXT    NOT NULL,     -- what a harmful pattern led to
    confidence    REAL    NOT NULL,
    in_successes  INTEGER,              -- runs that have it; NULL if a model found it
    in_failures   INTEGER,
    evidence      TEXT    NOT NULL,     -- JSON: [trajectory id, step id] of each step
    sources       TEXT    NOT NULL,     -- JSON: the events whose words it repeats
    PRIMARY KEY (reflection_id, position)
) WITHOUT ROWID;

CREATE TABLE playbooks (
    id          TEXT PRIMARY KEY,       -- of the event that created it
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    agent_id    TEXT,
    user_id     TEXT,
    scope       TEXT    NOT NULL,       -- agent, user, zone, global
    visibility  TEXT    NOT NULL,       -- private, shared, public
    number      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL        -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_playbooks_number ON playbooks(number);

CREATE TABLE playbook_versions (
    id            TEXT PRIMARY KEY,     -- of its event
    playbook_id   TEXT    NOT NULL,
    version       INTEGER NOT NULL,     -- from 1
    trajectory_id TEXT,                 -- that it was learned from
    number        INTEGER NOT NULL,
    created_at    INTEGER NOT NULL      -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_playbook_versions ON playbook_versions(playbook_id, number);

-- Each version writes only the strategies that it changes.
CREATE TABLE playbook_strategies (
    strategy_id TEXT    NOT NULL,
    number      INTEGER NOT NULL,       -- of the version
    playbook_id TEXT    NOT NULL,
    kind        TEXT    NOT NULL,       -- helpful, harmful
    text        TEXT    NOT NULL,
    confidence  REAL    NOT NULL,
    is_standing INTEGER NOT NULL,       -- 0 once it is removed
    sources     TEXT    NOT NULL,       -- JSON: the events whose words it repeats
    PRIMARY KEY (strategy_id, number)
) WITHOUT ROWID;
CREATE INDEX idx_playbook_strategies ON playbook_strategies(playbook_id, number);

CREATE TABLE strategy_evidence (
    strategy_id   TEXT    NOT NULL,
    trajectory_id TEXT    NOT NULL,
    step_id       TEXT    NOT NULL,
    number        INTEGER NOT NULL,
    PRIMARY KEY (strategy_id, trajectory_id, step_id)
) WITHOUT ROWID;

CREATE TABLE playbook_uses (
    number      INTEGER PRIMARY KEY,
    playbook_id TEXT    NOT NULL,
    success     INTEGER NOT NULL,
    used_at     INTEGER NOT NULL        -- unix ms
);
CREATE INDEX idx_playbook_uses ON playbook_uses(playbook_id, number);

CREATE VIEW current_strategies AS
SELECT * FROM playbook_strategies AS strategy
 WHERE is_standing
   AND NOT EXISTS (SELECT 1 FROM playbook_strategies AS later
                    WHERE later.strategy_id = strategy.strategy_id
                      AND later.number > strategy.number);
