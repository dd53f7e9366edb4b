"""Combinations of levels: few that meet every pair, and as many random ones as wanted."""

from __future__ import annotations

import random
from functools import cache

from tests.oracle.factors import FACTORS, Case, all_pairs, fits, pairs_of

NUM_COVERING = 150
CANDIDATES = 3
COVERING_SEED = 20

Pair = tuple[str, str, str, str]


def random_case(draw: random.Random) -> Case:
    """Each factor after the other, in random order, among the levels that fit those drawn before."""
    case: Case = {}
    for name in draw.sample(list(FACTORS), len(FACTORS)):
        case[name] = draw.choice([level for level in FACTORS[name] if fits(case, name, level)])
    return in_order(case)


def in_order(case: Case) -> Case:
    return {name: case[name] for name in FACTORS}


@cache
def covering_cases() -> tuple[Case, ...]:
    """Greedy: each case starts from a pair not met yet and is the best of a few random completions."""
    draw = random.Random(COVERING_SEED)
    waiting = sorted(all_pairs())
    draw.shuffle(waiting)
    missing = set(waiting)
    cases: list[Case] = []
    while len(cases) < NUM_COVERING:
        waiting = [pair for pair in waiting if pair in missing]
        starts = waiting[:CANDIDATES]
        filled = [greedy_case(draw, {a: level, b: other}, missing) for a, level, b, other in starts]
        best = max(filled, key=lambda case: len(pairs_of(case) & missing)) if filled else random_case(draw)
        cases.append(best)
        missing -= pairs_of(best)
    return tuple(cases)


def greedy_case(draw: random.Random, fixed: Case, missing: set[Pair]) -> Case:
    """Completes the case factor by factor with the level that meets most of the missing pairs."""
    case = dict(fixed)
    place = {name: i for i, name in enumerate(FACTORS)}

    def pair(name: str, level: str, other: str) -> Pair:
        in_turn = place[name] < place[other]
        return (name, level, other, case[other]) if in_turn else (other, case[other], name, level)

    for name in draw.sample(list(FACTORS), len(FACTORS)):
        if name in case:
            continue
        levels = [level for level in FACTORS[name] if fits(case, name, level)]
        draw.shuffle(levels)
        gains = {level: sum(pair(name, level, other) in missing for other in case) for level in levels}
        case[name] = max(levels, key=gains.__getitem__)
    return in_order(case)


def case_of(number: int) -> Case:
    """The first cases meet every pair; all others are random."""
    return covering_cases()[number] if number < NUM_COVERING else random_case(random.Random(number))


def missed_pairs(cases: list[Case]) -> set[Pair]:
    missing = all_pairs()
    for case in cases:
        missing -= pairs_of(case)
    return missing
