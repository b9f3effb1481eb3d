-- When a record came. Files of the first format lack it, and have no number.

ALTER TABLE events ADD COLUMN appended_at INTEGER;
ALTER TABLE recordings ADD COLUMN appended_at INTEGER;
ALTER TABLE changes ADD COLUMN appended_at INTEGER;
