-- A name that begins with X sounds as one with S, and Greek vowels sound as they are said: the keys
-- of all names are made again.

DELETE FROM name_keys;
