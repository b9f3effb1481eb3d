"""What is done with a whole home: rebuild, verify, reclaim, promote to Kafka."""
