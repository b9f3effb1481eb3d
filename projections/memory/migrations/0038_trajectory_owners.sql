-- Whose a trajectory is, and who may read it (C14, C22). One of before is everyone's.

ALTER TABLE trajectories ADD COLUMN user_id TEXT;
ALTER TABLE trajectories ADD COLUMN scope TEXT NOT NULL DEFAULT 'zone';
ALTER TABLE trajectories ADD COLUMN visibility TEXT NOT NULL DEFAULT 'shared';
ALTER TABLE trajectories ADD COLUMN reader_user TEXT;       -- who may read it; NULL: everyone
ALTER TABLE trajectories ADD COLUMN reader_agent TEXT;
ALTER TABLE trajectory_completions ADD COLUMN reader_user TEXT;
ALTER TABLE trajectory_completions ADD COLUMN reader_agent TEXT;

CREATE INDEX idx_trajectories_readers ON trajectories(reader_user, reader_agent)
 WHERE reader_user IS NOT NULL OR reader_agent IS NOT NULL;
