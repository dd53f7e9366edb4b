"""CPU time and memory of this process and all its descendants, from /proc: peers spread over worker processes."""

import os
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PARENT, USER_TICKS, SYSTEM_TICKS, START_TICKS = 1, 11, 12, 19  # in /proc/PID/stat, counted behind the name


def stat_fields(pid: int) -> list[str]:
    """The fields behind the process name, which may hold anything; empty for a process that is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text[text.rindex(")") + 2 :].split()


def process_tree() -> list[int]:
    """This process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        fields = stat_fields(int(entry)) if entry.isdigit() else []
        if fields:
            children.setdefault(int(fields[PARENT]), []).append(int(entry))
    found = [os.getpid()]
    for pid in found:
        found.extend(children.get(pid, []))
    return found


def cpu_s() -> float:
    """CPU seconds of the tree so far; descendants that ended are counted by their parent."""
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system
    for pid in process_tree()[1:]:
        fields = stat_fields(pid)
        if fields:
            total += (int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])) / TICKS_PER_S
    return total


def memory_mb() -> float:
    """Memory that only this tree holds: anonymous and shared pages, each counted once; the page cache is not in it."""
    kib = 0
    for pid in process_tree():
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        kib += sum(int(line.split()[1]) for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return kib * 1024 / 1e6


def age_s() -> float:
    """Seconds since this process was started."""
    up_s = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
    return up_s - int(stat_fields(os.getpid())[START_TICKS]) / TICKS_PER_S
