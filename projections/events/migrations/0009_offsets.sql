-- The least and the greatest UTC offset of the senders, read without a scan: between them lies the time
-- in which local days and times in UTC may be in different order.

CREATE INDEX idx_events_utc_offset ON events(utc_offset);
