#!/usr/bin/env python3
"""Reads a folder of event files with TensorBoard and compares it with what event_file_test.cc wrote."""

import math
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "images": 0, "audio": 0})
events.Reload()
tags = events.Tags()
assert set(tags["scalars"]) == {"loss/flow", "grad_norm"}, tags

# The second file took over at step 4.
flow = [(event.step, event.value) for event in events.Scalars("loss/flow")]
assert [step for step, _ in flow] == [1, 2, 3, 4], flow
assert all(math.isclose(value, 1 / step, rel_tol=1e-6) for step, value in flow[:3]), flow
assert flow[3][1] == 0.125, flow
assert [event.wall_time for event in events.Scalars("loss/flow")][-1] == 1_700_000_060.0

(picture,) = events.Images("mel")
assert (picture.step, picture.width, picture.height) == (3, 6, 4), picture
assert picture.encoded_image_string.startswith(b"\x89PNG"), picture

(sound,) = events.Audio("spoken")
assert (sound.step, sound.sample_rate, sound.length_frames) == (2, 22_050, 441), sound
assert sound.content_type == "audio/wav", sound
assert sound.encoded_audio_string.startswith(b"RIFF") and len(sound.encoded_audio_string) == 44 + 2 * 441

(norm,) = events.Scalars("grad_norm")
assert norm.step == 1_000_000 and math.isnan(norm.value), norm
