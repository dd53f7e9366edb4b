"""However a program ends, it ends with its own exit code and without a word on stderr."""

from __future__ import annotations

import pytest
from small_world import World

ENDS = {
    "mid_loop": """
own = feed(num_workers=2)
loop = iter(own)
next(loop)
""",
    "held_in_globals": """
import numpy as np
own = feed(num_workers=2)
held = [next(iter(own))]
views = [held[0].mel.numpy(), np.from_dlpack(held[0].tokens), held[0].mel, held[0].mel.__dlpack__()]
""",
    "torch_in_globals": """
import torch
own = feed(num_workers=2)
held = next(iter(own)).to_torch()
""",
    "never_iterated": """
own = feed(num_workers=2)
""",
    "nobody_keeps_the_feed": """
loop = iter(feed(num_workers=2))
batch = next(loop)
""",
    "in_a_cycle": """
own = feed(num_workers=2)
batch = next(iter(own))
class Node: pass
one, other = Node(), Node()
one.other, other.one, one.batch, other.feed = other, one, batch, own
del own, batch, one, other
""",
    "daemon_waits": """
import threading, time
own = feed(num_workers=1, batch_size=1, **{"data.prefetch_buffer_size": 2})
held = []
def take():
    for batch in own:
        held.append(batch)
threading.Thread(target=take, daemon=True).start()
time.sleep(0.3)
""",
    "daemon_waits_on_a_feed_that_nobody_keeps": """
import threading, time
held = []
def take():
    for batch in feed(num_workers=1, batch_size=1, **{"data.prefetch_buffer_size": 2}):
        held.append(batch)
threading.Thread(target=take, daemon=True).start()
time.sleep(0.3)
""",
    "daemons_work": """
import threading, time
def take():
    with feed(num_workers=1, batch_size=1) as own:
        while True:
            for batch in own:
                batch.content_digest()
                batch.copy()
for _ in range(4):
    threading.Thread(target=take, daemon=True).start()
time.sleep(0.3)
""",
    "threads_work": """
import threading
def take():
    with feed(num_workers=1) as own:
        for batch in own:
            batch.content_digest()
for _ in range(4):
    threading.Thread(target=take).start()
""",
    "generator_pending": """
def batches():
    with feed(num_workers=1) as own:
        yield from own
pending = batches()
next(pending)
""",
    "atexit": """
import atexit
own = feed(num_workers=2)
loop = iter(own)
atexit.register(lambda: (next(loop), own.close()))
""",
    "atexit_before_the_package": """
import atexit
own = feed(num_workers=2)
atexit._run_exitfuncs()
""",
    "fork_in_globals": """
import os
own = feed(num_workers=2)
batch = next(iter(own))
if os.fork() == 0:
    del own, batch
else:
    os.wait()
""",
    "logged_at_the_end": """
import logging
logging.basicConfig(level=logging.CRITICAL)
own = feed(num_workers=2, batch_size=1, **{"data.prefetch_buffer_size": 2})
""",
}


@pytest.mark.parametrize("end", list(ENDS))
def test_the_program_ends_with_nothing_on_stderr(world: World, end: str) -> None:
    done = world.python(ENDS[end])
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_an_exception_is_all_that_is_printed(world: World) -> None:
    done = world.python("own = feed(num_workers=2)\nfor batch in own:\n    raise KeyError('mine')\n")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "KeyError: 'mine'"
    assert done.stderr.count("Traceback") == 1


@pytest.mark.parametrize("code", [0, 5])
def test_sys_exit_in_a_loop_keeps_its_code(world: World, code: int) -> None:
    done = world.python(f"import sys\nfor batch in feed(num_workers=2):\n    sys.exit({code})\n")
    assert (done.returncode, done.stderr) == (code, "")


def test_many_ends_while_daemons_come_and_go(world: World) -> None:
    """The moment of the end is another one each time."""
    code = """
import sys, threading, time
own = [feed(num_workers=1, batch_size=1) for _ in range(2)]
def take(own):
    while True:
        for batch in own:
            batch.content_digest()
for each in own:
    threading.Thread(target=take, args=(each,), daemon=True).start()
time.sleep(float(sys.argv[1]))
"""
    for i in range(15):
        done = world.python(code, str(0.01 + 0.003 * i))
        assert (done.returncode, done.stderr) == (0, "")
