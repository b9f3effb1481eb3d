"""Opening a zone's files, by several at once."""

from __future__ import annotations

import threading

from recollect.projections.files import ZoneFiles
from tests.protocol.kit import in_memory

ROUNDS = 50
AT_ONCE = 3


def test_files_that_several_make_at_once_are_made() -> None:
    with in_memory() as room:
        for number in range(ROUNDS):
            together = threading.Barrier(AT_ONCE)
            seen: list[object] = []

            def look(directory=room / str(number), together=together, seen=seen) -> None:
                together.wait()
                try:
                    with ZoneFiles(directory, None, 0) as files:
                        seen.append([model.watermark().number for model in files.all])
                except Exception as error:
                    seen.append(error)

            threads = [threading.Thread(target=look) for _ in range(AT_ONCE)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert seen == [[0, 0, 0, 0]] * AT_ONCE
