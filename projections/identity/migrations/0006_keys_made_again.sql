-- The phonetic keys of an initial X and of Greek vowels have changed: all keys are rebuilt.

DELETE FROM name_keys;
