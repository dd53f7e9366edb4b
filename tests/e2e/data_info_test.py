"""`data info` tells the padding that a run then has, and names an utterance that costs it."""

from __future__ import annotations

import sys
import wave
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line

ORDERS = [
    [],
    ["--batch-frames", "6000"],
    ["--batch-size", "8"],
    ["--batch-frames", "6000", "--batch-multiple", "2"],
    ["--enable-static-shapes"],
    ["--batch-layout", "packed"],
]


def expect_same(what: str, found: object, wanted: object) -> None:
    expect(found == wanted, f"{what}: {found}, wanted {wanted}")


def add_long_utterance(stoker: Stoker, length_s: int) -> None:
    """One of silence, named ten_minutes."""
    with wave.open(str(next((stoker.data / "wavs").glob("*.wav")))) as some:
        parameters = some.getparams()
    with wave.open(str(stoker.data / "wavs" / "ten_minutes.wav"), "wb") as file:
        file.setparams(parameters)
        file.writeframes(bytes(parameters.sampwidth * parameters.framerate * length_s))
    with (stoker.data / "metadata.csv").open("a", encoding="utf-8") as metadata:
        metadata.write("ten_minutes|Very long.|Very long.\n")


def info_tells_what_a_run_pads(stoker: Stoker) -> None:
    for order in ORDERS:
        told = stoker.json("data", "info", str(stoker.data), *order)["padding"]
        run = stoker.stream("--preprocessing-mode", "runtime", *order)
        expect_same(f"padding of {order}", round(told["share"], 6), round(run["padding_share"], 6))
        expect_same(f"shapes of {order}", told["shapes"], run["num_shapes"])
        expect_same(f"costly of {order}", told["costly"], [])


def info_names_the_long_utterance(stoker: Stoker) -> None:
    before = stoker.json("data", "info", str(stoker.data))["padding"]["share"]
    add_long_utterance(stoker, 600)
    told = stoker.json("data", "info", str(stoker.data))["padding"]
    expect_same("who costs", [each["id"] for each in told["costly"]], ["ten_minutes"])
    expect_same("above the budget", told["costly"][0]["above_batch_frames"], True)
    limit = str(told["max_mel_frames"])
    without = stoker.json("data", "info", str(stoker.data), "--max-mel-frames", limit)
    expect_same("rows left out", without["filtered"], 1)
    expect_same("padding without it", without["padding"]["share"], before)
    packed = stoker.json("data", "info", str(stoker.data), "--batch-layout", "packed")
    expect_same("padding that a feed refuses", packed["padding"], None)


def main() -> int:
    with stoker_of_command_line(__doc__, num_clips=30) as stoker:
        info_tells_what_a_run_pads(stoker)
        info_names_the_long_utterance(stoker)
    print("padding is told as it comes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
