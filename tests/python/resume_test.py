"""A feed goes on from any batch exactly as the command would: any settings, any number of workers."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_world import World

import stoker

WORKERS = (0, 1, 2, 4)
Place = tuple[int, int, str]


def command_option(name: str, value: Any) -> list[str]:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return ["--set", f"{name}={text}"]


def commanded(world: World, chosen: dict[str, Any], num_batches: int) -> list[Place]:
    """Epoch, index and digest of every batch as the command gives them, with its own number of workers."""
    own = {"device": "cpu", "cache.content": "both", **chosen}
    options = [each for name, value in own.items() for each in command_option(name, value)]
    where = ["--data", str(world.data), "--cache", str(world.cache), "--batches", str(num_batches)]
    report = world.command("stream", *where, *options)
    return [(line["epoch"], line["index"], line["content"]) for line in report["batches"]]


def opened(world: World, chosen: dict[str, Any], **more: Any) -> stoker.Feed:
    own = {"data": world.data, "cache": world.cache, "cache.content": "both", "device": "cpu"}
    return stoker.Feed(**{**own, **chosen, **more})


def place_of(batch: stoker.Batch) -> Place:
    place = (batch.epoch, batch.index, batch.content_digest())
    batch.release()
    return place


def two_epochs(feed: stoker.Feed) -> tuple[list[Place], list[dict[str, Any]]]:
    """Every batch of two epochs, and the state before each and behind the last."""
    places, states = [], [feed.state_dict()]
    for _ in range(2):
        for batch in feed:
            places.append(place_of(batch))
            states.append(feed.state_dict())
    return places, states


def following(feed: stoker.Feed, count: int) -> list[Place]:
    """The next `count` batches, over the end of an epoch where need be."""
    loops = itertools.chain.from_iterable(feed for _ in itertools.count())
    return [place_of(batch) for batch in itertools.islice(loops, count)]


def test_every_batch_of_two_epochs_goes_on_with_other_workers(world: World) -> None:
    chosen = {"data.batch_size": 4}
    expected = commanded(world, chosen, 20)
    with opened(world, chosen, num_workers=1) as feed:
        places, states = two_epochs(feed)
    assert places == expected
    for at, state in enumerate(states[:-1]):
        for num_workers in WORKERS:
            with opened(world, chosen, num_workers=num_workers, state=state) as feed:
                assert following(feed, min(3, 20 - at)) == expected[at : at + 3], (at, num_workers)


def test_one_run_of_many_lives(world: World) -> None:
    """Each batch in a feed of its own, the number of workers changed every time."""
    chosen = {"data.batch_size": 4, "data.with_audio": True}
    expected = commanded(world, chosen, 20)
    state, places = None, []
    for at in range(20):
        with opened(world, chosen, num_workers=WORKERS[at % 4], state=state) as feed:
            places += following(feed, 1)
            state = feed.state_dict()
    assert places == expected


def test_one_feed_goes_back_and_forth(world: World) -> None:
    chosen = {"data.batch_size": 4}
    expected = commanded(world, chosen, 20)
    with opened(world, chosen, num_workers=2) as feed:
        places, states = two_epochs(feed)
        choose = random.Random(3)
        for _ in range(40):
            at = choose.randrange(20)
            feed.load_state_dict(states[at])
            assert following(feed, min(2, 20 - at)) == expected[at : at + 2]
    assert places == expected


def test_the_state_is_that_behind_the_last_batch_given(world: World) -> None:
    """Batches that are ready already do not count."""
    with opened(world, {"data.batch_size": 2}, num_workers=2, **{"data.prefetch_buffer_size": 8}) as feed:
        before = feed.state_dict()
        loop = iter(feed)
        assert feed.state_dict() == before
        next(loop)
        assert feed.state_dict() != before
        assert feed.epoch == 0
        assert '"batch":1' in feed.state_dict()["stoker"].replace(" ", "")


def test_the_state_of_an_ended_epoch_begins_the_next(world: World) -> None:
    with opened(world, {"data.batch_size": 4}) as feed:
        places, states = two_epochs(feed)
    with opened(world, {"data.batch_size": 4}, state=states[10]) as feed:
        rest = [[place_of(batch) for batch in feed] for _ in range(2)]
    assert [each for loop in rest for each in loop] == places[10:]


def test_the_command_goes_on_from_a_state_of_python(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    expected = commanded(world, {"data.batch_size": 4}, 20)
    file = tmp_path_factory.mktemp("state") / "state"
    with opened(world, {"data.batch_size": 4}) as feed:
        following(feed, 13)
        file.write_text(feed.state_dict()["stoker"] + "\n")
    chosen = {"data.batch_size": 4}
    options = [each for name, value in chosen.items() for each in command_option(name, value)]
    where = ["--data", str(world.data), "--cache", str(world.cache), "--device", "cpu", "--set", "cache.content=both"]
    report = world.command("stream", *where, *options, "--state-in", str(file), "--batches", "7")
    assert [(line["epoch"], line["index"], line["content"]) for line in report["batches"]] == expected[13:]


SETTINGS = st.fixed_dictionaries(
    {
        "data.shuffle": st.booleans(),
        "data.drop_last": st.booleans(),
        "data.with_audio": st.booleans(),
        "data.reference": st.sampled_from(["none", "same", "speaker"]),
        "data.batch_dtype": st.sampled_from(["auto", "f16", "bf16", "f32"]),
        "cache.tier": st.sampled_from(["disk", "ram"]),
        "data.preprocessing_mode": st.sampled_from(["auto", "precompute", "runtime"]),
        "seed": st.integers(0, 2**31),
    },
    optional={"data.segment_frames": st.integers(1, 20), "data.static_shapes": st.booleans()},
)
FRAMES = {"data.batch_frames": st.integers(400, 1500)}
SIZES = st.one_of(
    st.fixed_dictionaries({"data.batch_size": st.integers(1, 9)}),
    st.fixed_dictionaries(FRAMES),
    st.fixed_dictionaries({**FRAMES, "data.batch_layout": st.just("packed")}),
)


@settings(max_examples=60)
@given(SETTINGS, SIZES, st.lists(st.sampled_from(WORKERS), min_size=4, max_size=4), st.randoms(use_true_random=False))
def test_any_settings_resume_as_the_command_goes_on(
    world: World, chosen: dict[str, Any], size: dict[str, Any], workers: list[int], choose: random.Random
) -> None:
    both = {**chosen, **size}
    with opened(world, both, num_workers=workers[0]) as feed:
        places, states = two_epochs(feed)
    assert places == commanded(world, both, len(places))
    for num_workers in workers[1:]:
        at = choose.randrange(len(places))
        with opened(world, both, num_workers=num_workers, state=states[at]) as feed:
            assert following(feed, min(3, len(places) - at)) == places[at : at + 3]
