"""Does a seed decide the episode, and nothing else?

Episodes that were played once are played again with the same actions: in a fresh copy, in a copy
with another past, and under other seeds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gymnast.check.finding import Finding
from gymnast.check.live import Copy, EnvBroken, Moment, fingerprint
from gymnast.config.facts import Facts
from gymnast.seeds import episode_seed

Line = tuple[bytes, str, bool, bool]
"""Observation, reward, terminated, truncated: enough to tell moments apart."""
_PREFIX = 100
"""Steps of an episode that are played under other seeds."""
_SEEDS = 3


@dataclass
class Transcript:
    """One episode: what was done and what came of it."""

    seed: int
    actions: list[Any] = field(default_factory=list[Any])
    lines: list[Line] = field(default_factory=list[Line])

    def add(self, moment: Moment) -> None:
        if moment.step:
            self.actions.append(deepcopy(moment.action))
        ends = moment.terminated, moment.truncated
        self.lines.append((fingerprint(moment.obs), repr(moment.reward), *ends))

    def first(self, steps: int) -> Transcript:
        return Transcript(self.seed, self.actions[:steps], self.lines[: steps + 1])


@dataclass(frozen=True)
class _Difference:
    what: str
    where: str


def repeats(
    fresh: Callable[[], Copy], played: Sequence[Transcript], facts: Facts, steps: int
) -> Iterator[Finding]:
    """`fresh` makes a copy without a past; `steps`: how many may be played again."""
    played = [one for one in played if one.lines]
    if not played:
        return
    with closing(fresh()) as copy:
        shared = _shared_generators()
        difference = _again(copy, _within(played, steps))
        global_draws = [
            name for name, state in _shared_generators().items() if state != shared[name]
        ]
        yield _deterministic(difference, facts, global_draws)
        if difference is not None:
            return
        seed = _seeds_matter(fresh, played[0].first(_PREFIX))
        yield seed
        if seed.verdict != "wrong":
            yield _without_past(copy, _within(played[:3], steps))


def _deterministic(
    difference: _Difference | None, facts: Facts, global_draws: Sequence[str]
) -> Finding:
    declared = facts.deterministic
    if difference is None:
        if declared == "no":
            what = "facts say no, but the same seed and actions gave the same episode each time"
            return Finding("deterministic", "note", what)
        return Finding("deterministic", "ok", "the same seed and actions give the same episode")
    if declared == "no":
        what = f"as declared: {difference.what}"
        return Finding("deterministic", "note", what, difference.where)
    what = f"the same seed and actions give another episode: {difference.what}"
    if declared == "yes":
        what = f"{what}; facts.deterministic says yes"
    if global_draws:
        drawn = " and ".join(global_draws)
        what = f"{what}; it draws from {drawn}: draw from self.np_random instead"
    return Finding("deterministic", "wrong", what, difference.where)


def _seeds_matter(fresh: Callable[[], Copy], one: Transcript) -> Finding:
    """Other seeds in fresh copies. Where those change nothing, episodes of one copy may still differ:
    by a generator that no reset seeds."""
    others = [episode_seed(one.seed, "another", i) for i in range(_SEEDS)]
    for seed in others:
        with closing(fresh()) as copy:
            if _again(copy, [Transcript(seed, one.actions, one.lines)]) is not None:
                return Finding("seed", "ok", "other seeds give other episodes")
            later = _again(copy, [Transcript(s, one.actions, one.lines) for s in others])
            generator = _own_generator(copy.env.unwrapped)
            if later is not None and generator:
                what = f"seeds change nothing: it draws from {generator}, which no reset seeds"
                fix = "call super().reset(seed=seed) and draw from self.np_random"
                return Finding("seed", "wrong", f"{what} ({fix})", later.where)
    what = "every seed gives the same episode: copies differ by their actions alone"
    return Finding("seed", "note", what)


def _without_past(copy: Copy, played: Sequence[Transcript]) -> Finding:
    """In a copy that left an episode unfinished, and in another order."""
    try:
        copy.reset(played[-1].seed)
        for action in played[-1].actions[:3]:
            if copy.step(deepcopy(action)).over:
                break
    except EnvBroken:
        copy.renew()
    difference = _again(copy, list(reversed(played)))
    if difference is None:
        return Finding("past", "ok", "a reset begins anew, whatever was played before")
    what = f"what was played before a reset changes the episode after it: {difference.what}"
    return Finding("past", "wrong", what, difference.where)


def _again(copy: Copy, played: Sequence[Transcript]) -> _Difference | None:
    """Play them once more, in this order; the first thing that is not the same."""
    for one in played:
        now = Transcript(one.seed)
        moment = None
        try:
            for step in range(len(one.lines)):
                moment = (
                    copy.step(deepcopy(one.actions[step - 1])) if step else copy.reset(one.seed)
                )
                now.add(moment)
                if now.lines[-1] != one.lines[step]:
                    return _Difference(_other(one.lines[step], now.lines[-1]), moment.where)
                if moment.over:
                    break
        except EnvBroken as broken:
            where = copy.where
            copy.renew()
            return _Difference(broken.what, where)
    return None


def _within(played: Sequence[Transcript], steps: int) -> list[Transcript]:
    """So many of them, the last perhaps in part."""
    chosen: list[Transcript] = []
    for one in played:
        chosen.append(one.first(steps))
        steps -= len(one.actions)
        if steps <= 0:
            break
    return chosen


def _other(before: Line, now: Line) -> str:
    if before[0] != now[0]:
        return "the observation is another"
    if before[1] != now[1]:
        return f"the reward is {now[1]}, was {before[1]}"
    return "it ends otherwise"


def _own_generator(env: Any) -> str:
    """An attribute that draws numbers, other than Gymnasium's own."""
    kinds = np.random.Generator | np.random.RandomState | random.Random
    own = {name: value for name, value in vars(env).items() if name != "_np_random"}
    return next((f"its {name}" for name, value in own.items() if isinstance(value, kinds)), "")


def _shared_generators() -> dict[str, str]:
    """Where the generators stand that everybody shares."""
    _, keys, position, *_ = np.random.get_state(legacy=True)
    ours: Any = keys
    return {
        "numpy.random": f"{ours.tobytes()}{position}",
        "random": repr(random.getstate()),
    }
