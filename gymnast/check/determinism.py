"""Checks that the seed and the actions determine an episode, and nothing else does.

Recorded episodes are repeated with the same actions: in a fresh copy, in a copy that has played other
episodes before, and with other seeds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from gymnast.check.checked_env import CheckedEnv, EnvBroken, Timestep, fingerprint
from gymnast.check.finding import Finding
from gymnast.config.facts import Facts
from gymnast.seeds import episode_seed

StepFingerprint = tuple[bytes, str, bool, bool]
"""Fingerprint of one reset or step: observation hash, reward, terminated, truncated."""
_PREFIX = 100
"""Number of steps of an episode that are repeated with other seeds."""
_SEEDS = 3
"""Number of other seeds."""


@dataclass
class Transcript:
    """A recorded episode: its actions and the fingerprints of its results."""

    seed: int
    actions: list[object] = field(default_factory=list[object])
    fingerprints: list[StepFingerprint] = field(default_factory=list[StepFingerprint])

    def add(self, timestep: Timestep) -> None:
        """Appends the result of a reset or step. Hashes instead of observations keep it small."""
        if timestep.step:
            self.actions.append(deepcopy(timestep.action))
        ends = timestep.terminated, timestep.truncated
        self.fingerprints.append((fingerprint(timestep.obs), repr(timestep.reward), *ends))

    def prefix(self, steps: int) -> Transcript:
        """Returns the first `steps` steps of the episode."""
        return Transcript(self.seed, self.actions[:steps], self.fingerprints[: steps + 1])


@dataclass(frozen=True)
class _Difference:
    """The first difference between an episode and its repetition."""

    what: str
    where: str


def check_determinism(
    make_copy: Callable[[], CheckedEnv], transcripts: Sequence[Transcript], facts: Facts, steps: int
) -> Iterator[Finding]:
    """Yields the findings. `make_copy` creates a new copy; `transcripts`: episodes played before, to be
    repeated; `steps`: how many steps to repeat at most."""
    transcripts = [transcript for transcript in transcripts if transcript.fingerprints]
    if not transcripts:
        return
    with closing(make_copy()) as copy:
        # 1. Does a new copy repeat what the first one played? Meanwhile the global random generators must
        # not move: an environment that draws from them depends on everything else in the process.
        shared = _shared_generators()
        difference = _repeat(copy, _within(transcripts, steps))
        global_draws = [
            name for name, state in _shared_generators().items() if state != shared[name]
        ]
        yield _deterministic(difference, facts, global_draws)
        if difference is not None:
            return
        # 2. Do other seeds give other episodes?
        seed = _seeds_matter(make_copy, transcripts[0].prefix(_PREFIX))
        yield seed
        # 3. Do earlier episodes of a copy influence later ones? An unseeded generator would, and was
        # reported already.
        if seed.verdict != "wrong":
            yield _independent_of_history(copy, _within(transcripts[:3], steps))


def _deterministic(
    difference: _Difference | None, facts: Facts, global_draws: Sequence[str]
) -> Finding:
    """Judges the difference between two copies, if any, by what the facts declare. `global_draws`: names of
    the global generators that the environment has drawn from."""
    declared = facts.deterministic
    if difference is None:
        if declared == "no":
            what = "facts.deterministic is no, but the same seed and actions gave the same episode each time"
            return Finding("deterministic", "note", what)
        return Finding("deterministic", "ok", "the same seed and actions give the same episode")
    if declared == "no":
        what = f"as declared: {difference.what}"
        return Finding("deterministic", "note", what, difference.where)
    what = f"the same seed and actions give a different episode: {difference.what}"
    if declared == "yes":
        what = f"{what}; facts.deterministic is yes"
    if global_draws:
        drawn = " and ".join(global_draws)
        what = f"{what}; it draws from the global {drawn}: use self.np_random instead"
    return Finding("deterministic", "wrong", what, difference.where)


def _seeds_matter(make_copy: Callable[[], CheckedEnv], episode: Transcript) -> Finding:
    """Repeats an episode with other seeds in fresh copies. If that changes nothing but later episodes of one
    copy differ, the environment uses a generator that reset() does not seed."""
    others = [episode_seed(episode.seed, "another", i) for i in range(_SEEDS)]
    for seed in others:
        with closing(make_copy()) as copy:
            reseeded = [
                Transcript(s, episode.actions, episode.fingerprints) for s in (seed, *others)
            ]
            if _repeat(copy, reseeded[:1]) is not None:
                return Finding("seed", "ok", "different seeds give different episodes")
            later = _repeat(copy, reseeded[1:])
            generator = _own_generator(copy.env.unwrapped)
            # Both are needed: an attribute alone may be unused, and a difference alone is a matter of the
            # episodes before it.
            if later is not None and generator:
                what = (
                    f"seeds change nothing: it draws from {generator}, which reset() does not seed"
                )
                fix = "call super().reset(seed=seed) and draw from self.np_random"
                return Finding("seed", "wrong", f"{what} ({fix})", later.where)
    what = "every seed gives the same episode: env copies differ by their actions alone"
    return Finding("seed", "note", what)


def _independent_of_history(copy: CheckedEnv, played: Sequence[Transcript]) -> Finding:
    """Repeats episodes in reverse order, in a copy that has left an episode unfinished."""
    # An unfinished episode is what a reset most easily fails to clean up.
    try:
        copy.reset(played[-1].seed)
        for action in played[-1].actions[:3]:
            if copy.step(deepcopy(action)).over:
                break
    except EnvBroken:
        copy.recreate()
    difference = _repeat(copy, list(reversed(played)))
    if difference is None:
        return Finding("past", "ok", "reset() is independent of the episodes before it")
    what = f"episodes before a reset change the episode after it: {difference.what}"
    return Finding("past", "wrong", what, difference.where)


def _repeat(copy: CheckedEnv, played: Sequence[Transcript]) -> _Difference | None:
    """Repeats these episodes in this order, with their seeds and actions. Returns the first difference from
    the recorded results, or None."""
    for recorded in played:
        now = Transcript(recorded.seed)
        timestep = None
        try:
            for step, expected in enumerate(recorded.fingerprints):
                action = deepcopy(recorded.actions[step - 1]) if step else None
                timestep = copy.step(action) if step else copy.reset(recorded.seed)
                now.add(timestep)
                if (actual := now.fingerprints[-1]) != expected:
                    return _Difference(_difference(expected, actual), timestep.location)
                if timestep.over:
                    break
        except EnvBroken as broken:
            where = copy.location
            copy.recreate()
            return _Difference(broken.message, where)
    return None


def _within(played: Sequence[Transcript], steps: int) -> list[Transcript]:
    """Returns the first episodes up to `steps` steps in total, the last one possibly cut short."""
    chosen: list[Transcript] = []
    for transcript in played:
        chosen.append(transcript.prefix(steps))
        steps -= len(transcript.actions)
        if steps <= 0:
            break
    return chosen


def _difference(before: StepFingerprint, now: StepFingerprint) -> str:
    """Describes the first part in which two fingerprints differ."""
    if before[0] != now[0]:
        return "the observation differs"
    if before[1] != now[1]:
        return f"the reward is {now[1]}, was {before[1]}"
    return "terminated or truncated differs"


def _own_generator(env: object) -> str:
    """Returns an attribute that is a random generator other than Gymnasium's `np_random`; empty if none."""
    kinds = np.random.Generator | np.random.RandomState | random.Random
    own = {name: value for name, value in vars(env).items() if name != "_np_random"}
    return next((f"its {name}" for name, value in own.items() if isinstance(value, kinds)), "")


def _shared_generators() -> dict[str, str]:
    """Returns the states of the global random generators."""
    _, keys, position, *_ = np.random.get_state(legacy=True)
    return {
        "numpy.random": f"{np.asarray(keys).tobytes()}{position}",
        "random": repr(random.getstate()),
    }
