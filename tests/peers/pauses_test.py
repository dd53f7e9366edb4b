"""Whose pause it was, from records that are made up and from a ring that is written as its page says."""

import struct
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from bench.diagnose.pauses import Record, RingFollower, off_core_times, pauses_of, wait_of_even_demand

MS = 1_000_000
STEP_MS = 1.0
NUM_BATCHES = 256
LATE = 100


def even_records() -> list[Record]:
    """Two workers in turn, each busy for 1.5 ms of a batch; the consumer asks every millisecond and never waits."""
    found = []
    for number in range(NUM_BATCHES):
        handed = (10 + number) * MS
        begin = handed - 6 * MS
        cpu = 3 * MS // 2
        found.append(Record(number, number % 2, number % 2, 4, begin, begin + cpu, cpu, 0, handed - 1000, handed))
    return found


def delayed(records: list[Record], by_ns: int, waits: bool) -> list[Record]:
    """Everything from LATE on comes later; the consumer waited for it, or asked later by itself."""
    found = []
    for record in records:
        if record.number < LATE:
            found.append(record)
            continue
        asked = record.asked_ns + (0 if waits and record.number == LATE else by_ns)
        found.append(replace(record, asked_ns=asked, handed_ns=record.handed_ns + by_ns))
    return found


class PausesTest(unittest.TestCase):
    def who(self, records: list[Record]) -> list[str]:
        pauses, usual_ms, seconds = pauses_of(records, STEP_MS, 0.5)
        self.assertAlmostEqual(usual_ms, STEP_MS, places=6)
        self.assertGreater(seconds, 0.1)
        return [pause.who for pause in pauses]

    def test_an_even_run_has_none(self) -> None:
        self.assertEqual(self.who(even_records()), [])

    def test_a_consumer_that_asks_late_stopped_itself(self) -> None:
        self.assertEqual(self.who(delayed(even_records(), 4 * MS, waits=False)), ["consumer stopped"])

    def test_a_worker_off_its_core_is_told_from_one_that_works(self) -> None:
        records = delayed(even_records(), 4 * MS, waits=True)
        late = records[LATE]
        for cpu_ns, who in ((late.worker_cpu_ns, "worker stopped"), (late.worker_cpu_ns + 4 * MS, "worker busy")):
            end = late.fill_end_ns + 4 * MS
            records[LATE] = replace(late, fill_end_ns=end, worker_cpu_ns=cpu_ns)
            self.assertEqual(self.who(records), [who])

    def test_the_batch_before_is_blamed_where_the_late_one_had_not_begun(self) -> None:
        records = delayed(even_records(), 4 * MS, waits=True)
        before = records[LATE - 2]  # of the same worker
        records[LATE - 2] = replace(before, fill_end_ns=before.fill_end_ns + 9 * MS)
        handed = records[LATE].handed_ns
        records[LATE] = replace(records[LATE], fill_begin_ns=handed - MS // 2, fill_end_ns=handed)
        self.assertEqual(self.who(records), ["worker stopped"])

    def test_a_look_at_the_processor_time_counts_for_all_batches_since_the_last(self) -> None:
        records = [replace(record, worker=0, worker_cpu_ns=-1) for record in even_records()[:4]]
        records[2] = replace(records[2], fill_end_ns=records[2].fill_end_ns + 5 * MS)
        records[3] = replace(records[3], worker_cpu_ns=6 * MS)
        self.assertEqual(off_core_times(records), {2: 5 * MS})


class EvenDemandTest(unittest.TestCase):
    def test_waits_only_for_what_the_buffer_does_not_hold(self) -> None:
        steady = [100] * 1000
        self.assertEqual(wait_of_even_demand(steady, 0.9, 0), 0)
        gap = steady[:500] + [0] * 20 + steady[520:]
        waited = wait_of_even_demand(gap, 0.9, 0)
        self.assertAlmostEqual(waited, 0.02, delta=0.001)
        self.assertEqual(wait_of_even_demand(gap, 0.9, 30), 0)
        self.assertAlmostEqual(wait_of_even_demand(gap, 0.9, 9), waited / 2, delta=0.001)


class RingFollowerTest(unittest.TestCase):
    def test_reads_what_was_handed_out_and_leaves_what_is_being_written(self) -> None:
        places, kept, written = 8, 6, 11
        head = struct.pack("<8s6I", b"STKRECS\n", 2, 4096, 600, 640, places, kept).ljust(64, b"\0")
        head = (head + struct.pack("<2Q", written, 0)).ljust(4096, b"\0")
        body = bytearray(640 * places)
        for number in range(3, written):
            at = number % places * 640
            mark = 2 * number + 2 + (1 if number == 7 else 0)
            struct.pack_into("<QQ", body, at, mark, number)
            struct.pack_into("<2i", body, at + 8 + 44, 5, 9)
            struct.pack_into("<3q", body, at + 8 + 64 + 24, 100, 400, 300)
            struct.pack_into("<2q", body, at + 8 + 384, 1000 * number, 1000 * number + 7)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "1.ring"
            path.write_bytes(head + bytes(body))
            follower = RingFollower(path)
            follower.take()
            follower.take()
            found = list(follower.records())
        self.assertEqual([record.number for record in found], [5, 6, 8, 9, 10])
        self.assertEqual({(record.worker, record.core) for record in found}, {(5, 9)})
        self.assertEqual(found[0].fill_begin_ns, 100)
        self.assertEqual(found[0].fill_end_ns, 400)
        self.assertEqual(found[-1].handed_ns, 10_007)


if __name__ == "__main__":
    unittest.main()
