-- Counting an event of an episode without later versions, which is nearly every one, updates one row.

DROP TRIGGER episode_events_insert;
CREATE TRIGGER episode_events_insert AFTER INSERT ON episode_events WHEN NEW.is_standing
BEGIN
    UPDATE episodes
       SET start_time = iif(event_count = 0, NEW.occurred_at, min(start_time, NEW.occurred_at)),
           end_time = iif(event_count = 0, NEW.occurred_at, max(end_time, NEW.occurred_at)),
           first_event_id = min(coalesce(first_event_id, NEW.event_id), NEW.event_id),
           last_event_id = max(coalesce(last_event_id, NEW.event_id), NEW.event_id),
           event_count = event_count + 1
     WHERE id = NEW.episode_id;
    INSERT INTO episode_recounts SELECT id FROM episodes WHERE parent_id = NEW.episode_id;
END;
