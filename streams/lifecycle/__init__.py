"""Operations on a whole home: rebuild, verify, reclaim, back up, restore, promote to Kafka."""
