"""The guide page "How fast is it, and against what", from the records of the races."""

from typing import Any

from bench.peers import feed_report
from tools.pages import results

HEAD = """# How fast is it, and against what

<!-- Written by `python3 -m tools.make_pages` from bench/results; edit that, not this. -->

Every number here was printed by a command of this repository; the machine, the date and the command are given beside
it. Ratios are valid only between loaders that ran in the same minutes on the same cores.
"""

METHOD = """## How it was measured

- All read the same utterances of the built-in voice, about as long as those of LJSpeech, from a warm page cache.
  Cached mels are float32 for the peers: `.npy` files, MDS shards for MosaicML Streaming, tar shards with its own
  tensor format for WebDataset; Lhotse has a manifest that points to the files. Shards hold the sounds as well, and are
  written before anything is timed. For stoker cached mels are checksummed records; it compares every checksum as it
  reads.
- All deliver padded batches of 32 utterances with 80 bands, float32 unless it says f16; the consumer reads a value
  of every row and asks for the next batch. Ratios are between rows that read float32 and deliver float32.
  `stoker native f16` reads and delivers float16, stoker's default and half the bytes; it is not compared.
- Before a loader is timed its first batch is compared with stoker's features, row by row. A mismatch ends the
  run.
- Each peer is tuned first (worker processes, threads, and what else it has) and races with its best setting. DALI and
  tf.data bring their own mel; the others use `torch.stft`, the fastest they can get. `whole_batches` makes a batch one
  task of SPDL instead of an utterance; `buckets` is the number of lengths into which Lhotse sorts utterances.
- The loaders take turns. A fixed piece of work before and after each run shows whether the machine was busy
  elsewhere; such runs are counted, and repeated while there is time. `CV` is the standard deviation of the time
  between batches over its mean: first at full speed, where batches that wait in a buffer are taken in a burst, then
  with a consumer that needs nine tenths of the rate which that loader just showed, and sleeps through its step as a
  training thread does while its GPU works. `stall` is the share of its time that this consumer waits.
- Memory is what the process tree holds for itself, anonymous and shared pages, without the page cache.
- Peers pad random batches to their longest utterance and so write about 1.4 times as many frames. Stoker batches
  utterances of similar length, as Lhotse does with `buckets`; that is part of their figures.
- A peer that did not run has a row that says why. Below each table is every column in which a peer is ahead of
  stoker.
- `stoker (Python)` is a loop over `stoker.Feed`, the same feed through its Python package; it is measured like a peer.
- `stoker native` is the feed; `stoker naive` is what `--disable-native-loading` gives, one utterance after the other
  on the caller's thread, as a plain script would do it. `autotune` leaves the number of threads to tf.data.
"""

RESUME = """## Stopped, and resumed with another number of workers

After six batches the state is saved and a new loader with another setting goes on from it. `torch DataLoader` and
WebDataset have no state; torchdata's `StatefulDataLoader` takes the loader's place. Lhotse's state is that of its
sampler, which runs ahead of the workers. The table quotes what each printed.
"""

DAMAGE = """## One damaged file among 64

An utterance counts as wrong when its mel is not that of the undamaged file. For stoker, a damaged mel is a damaged
file of its cache; for MosaicML Streaming and WebDataset, a damaged shard. All ran with their defaults for errors.
WebDataset and Lhotse can be told to leave out what they cannot read. SPDL does so by itself, and logs it: an utterance
where each is a task of its own, as here, but a whole batch where that is the task.
"""

AGAIN = """## On your machine

<!-- not run: takes minutes and downloads the peers -->
```sh
make peers
stoker bench peers --quick
```

The first makes an environment for each peer (about 5 GB of downloads, once), races them and writes
`bench/results/peers-feed.json`; the second only shows that everything works. Another page compares the figures with
what the machine can do: [share of the hardware limit](share-of-the-hardware-limit.md).
"""

NO_RACE = "No race is on record yet; `make peers` runs one.\n"
PATHS = {"cached": "Mels from the cache", "files": "Mels from sound files, made on the fly"}


def race_parts(report: dict[str, Any]) -> list[str]:
    parts = [
        f"![Clips a second of each loader, as in the tables below](../pictures/peers-feed.svg)\n\n"
        f"{results.source_line(report)}; each {report['rounds']} times in turn, {report['clips']:,} utterances; "
        f"the machine was disturbed in {report['disturbed_runs']} runs.\n"
    ]
    if not report["complete"]:
        missing = "; ".join(f"{row['name']} {row['path']}: {row['why']}" for row in report["not_run"])
        parts.append(f"**This race is incomplete**: {missing or 'it was stopped'}.\n")
    for path, title in PATHS.items():
        lines = "\n".join(feed_report.ratio_lines(report, path) + feed_report.ahead_lines(report, path))
        parts += [f"## {title}\n", feed_report.race_table(report, path), f"{lines}\n"]
    return parts


def tuning_part(report: dict[str, Any]) -> list[str]:
    return ["## What each peer was tuned over\n", feed_report.tuning_table(report)]


def trial_parts(report: dict[str, Any]) -> list[str]:
    resumed = [RESUME, feed_report.resume_table(report), feed_report.smaller_states_line(report)]
    return [*(part for part in resumed if part), DAMAGE, feed_report.damage_table(report)]


def mel_rows(record: dict[str, Any]) -> list[list[str]]:
    figures: dict[str, list[float]] = record["clips_per_cpu_s"]
    return [
        [name, f"{sorted(values)[len(values) // 2]:,.0f}", f"{max(values):,.0f}"] for name, values in figures.items()
    ]


def mel_part() -> list[str]:
    record = results.load("peers-mel")
    if record is None:
        return []
    rows = mel_rows(record)
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return [
        "## The mel alone, on one core\n",
        f"{results.source_line(record)}; {record['rounds']} rounds in turn; {versions}. "
        f"Clips of 6.574 s a CPU second.\n",
        feed_report.table(("program", "median", "best"), rows),
    ]


def own_speed(record: dict[str, Any], peer: dict[str, Any]) -> tuple[int, float]:
    """Batch and clips a second of stoker in float32, at its best batch that is no larger than any of the peer's."""
    largest = max(int(batch) for batch in peer["clips_per_s"])
    row = record["stoker"]["rows"][0]
    sizes = [size for size in row["batches"] if size["batch"] <= largest]
    best = max(sizes, key=lambda size: float(size["clips_per_s"]))
    return best["batch"], best["clips_per_s"]


def gpu_mel_rows(record: dict[str, Any]) -> list[list[str]]:
    cells = []
    for peer in record["peers"]:
        batch, speed = own_speed(record, peer)
        # Utterances of equal length are a little shorter than the mean of the ragged ones.
        scale = record["mean_s"] / 6.5 if peer["lengths"] == "equal" else 1.0
        times = speed * scale / peer["best_clips_per_s"]
        own = f"{speed:,.0f} (batch {batch})"
        theirs = f"{peer['best_clips_per_s']:,.0f} (batch {peer['best_batch']})"
        cells.append([peer["program"], peer["lengths"], theirs, own, f"{times:.1f}"])
    return cells


def gpu_mel_part() -> list[str]:
    record = results.load("gpu-mel")
    if record is None or "peers" not in record:
        return []
    return [
        "## The mel alone, on a GPU\n",
        f"{results.source_line(record | {'command': 'python3 bench/peers/gpu_mel.py'})}; float32 on both sides, "
        f"samples and mels in GPU memory; stoker's `{record['stoker_kernel']}` kernel takes ragged lengths.\n",
        feed_report.table(
            ("program", "its lengths", "clips/s", "stoker, ragged, clips/s", "times"), gpu_mel_rows(record)
        ),
    ]


def gpu_feed_rows(record: dict[str, Any]) -> list[list[str]]:
    rows = []
    for way in record["ways"].values():
        best = way["torch"]
        setting = f"{best['workers']} workers{', pinned' if best['pinned'] else ''}"
        speeds = [f"{best['clips_per_s']:,.0f}", f"{way['stoker_clips_per_s']:,.0f}"]
        rows.append([way["title"], setting, *speeds, f"{way['times_faster']:.1f}"])
    return rows


def gpu_feed_part() -> list[str]:
    record = results.load("gpu-feed-peers")
    if record is None or "ways" not in record:
        return []  # a record without ways compared unlike things
    rows = gpu_feed_rows(record)
    heads = ("what", "best of torch DataLoader", "clips/s", "stoker, clips/s", "times")
    return [
        "## torch DataLoader into a GPU\n",
        f"{results.source_line(record)}; torch {record['torch']}; batches of {record['batch_clips']}; both hosts run "
        f"{record['ahead_batches']} batches ahead of the GPU.\n",
        feed_report.table(heads, rows),
    ]


def english() -> str:
    report = results.load("peers-feed")
    parts = [HEAD]
    parts += [*race_parts(report), METHOD, *tuning_part(report), *trial_parts(report)] if report else [NO_RACE]
    parts += [*mel_part(), *gpu_mel_part(), *gpu_feed_part(), AGAIN]
    return "\n".join(part.rstrip() + "\n" for part in parts)
