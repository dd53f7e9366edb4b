"""A fixed piece of work on every core that shows how much of the machine is ours just now."""

import os
import threading
import time
import zlib

PIECE = bytes(1 << 20)
PIECES = 160


def work() -> None:
    value = 0
    for _ in range(PIECES):
        value = zlib.crc32(PIECE, value)  # gives the interpreter's lock away


def calibrate() -> float:
    """Seconds for the work on all cores at once."""
    threads = [threading.Thread(target=work) for _ in range(os.cpu_count() or 1)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin
