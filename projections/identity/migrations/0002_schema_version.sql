-- The number of the file's last migration, for readers that use SQL.

CREATE VIEW schema_version AS SELECT user_version AS version FROM pragma_user_version;
