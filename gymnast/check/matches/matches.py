"""Play matches between several agents with random actions and hold them against their contract."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gymnast.check.ending import NO_LIMIT
from gymnast.check.environment import STEPS, Beat
from gymnast.check.finding import Finding, Report, in_order
from gymnast.check.live import own_traceback
from gymnast.check.matches.repeating import Make, Played, drawn, line, repeats
from gymnast.check.witness import FirstViolation
from gymnast.collect.casting import random_player
from gymnast.config.config import Config
from gymnast.envs.matches.matches import UNKNOWN, ByRole, Matches, MatchStep
from gymnast.envs.matches.open import open_matches
from gymnast.errors import EnvError
from gymnast.policy.actions import head_for
from gymnast.seeds import episode_seed, stream
from gymnast.spaces.spaces import BoxObs, space_text

Array = np.ndarray
AT_ONCE = 3
"""Matches that are played side by side."""
_ROUNDING = 1e-5
"""By how much a number may lie beyond a bound, as a share of it or of 1."""
_CONTRACT = ("reset", "step", "observation", "finite", "ends", "time limit", "facts.reward")


def check_matches(
    target: str,
    cfg: Config[Any],
    *,
    steps: int = STEPS,
    seed: int = 0,
    beat: Beat = lambda *_: None,
    make: Make | None = None,
) -> Report:
    """A name that is nobody's, or a package that is missing, is an error as ever."""
    make = make or partial(open_matches, cfg)
    try:
        matches = make(AT_ONCE)
    except EnvError as problem:
        if problem.__cause__ is None:
            raise
        text = own_traceback(problem.__cause__)
        return Report(target, 0, 0, (Finding("made", "wrong", problem.message, "", text),))
    with closing(matches):
        examined = _Examination(cfg, matches, seed)
        examined.play(steps, beat)
        found = [*examined.findings(), *repeats(make, matches, examined.played, cfg.facts)]
        return Report(target, examined.steps, examined.begun, in_order(found))


class _Examination:
    def __init__(self, cfg: Config[Any], matches: Matches, seed: int) -> None:
        self.cfg, self.matches, self.seed = cfg, matches, seed
        self.steps = self.begun = 0
        self.played: list[Played] = []
        self._now: dict[int, Played] = {}
        self._in_play = {
            role: np.zeros((matches.n_matches, kind.seats), bool)
            for role, kind in matches.roles.items()
        }
        self._wrong = {check: FirstViolation(check) for check in _CONTRACT}
        self._outcomes: Counter[str] = Counter()
        self._numbers: set[str] | None = None
        self._both, self._traceback = 0, ""
        self._seconds = 0.0

    def play(self, steps: int, beat: Beat) -> None:
        """Until so many steps of single matches are taken, or nothing can be begun."""
        matches, draws = self.matches, stream(self.seed, "check")
        heads = {role: head_for(kind.action) for role, kind in matches.roles.items()}
        players = {role: random_player(kind) for role, kind in matches.roles.items()}
        self._begin(range(matches.n_matches))
        while self._now and self.steps < steps:
            actions: dict[str, Array] = {}
            for role, kind in matches.roles.items():
                n = matches.n_matches * kind.seats
                noise, even = heads[role].noise(draws, (n,)), draws.random(n)
                shown = matches.obs[role].reshape(n, *matches.obs[role].shape[2:])
                given = players[role](shown, noise, even)
                actions[role] = given.reshape(matches.n_matches, kind.seats, *given.shape[1:])
            began = time.perf_counter()
            step = matches.step(actions, sorted(self._now))
            self._seconds += time.perf_counter() - began
            self.steps += len(self._now)
            self._look(actions, step)
            beat(min(self.steps, steps), steps)
            self._begin([m for m in range(matches.n_matches) if m not in self._now])

    def _begin(self, places: Iterable[int]) -> None:
        for place in places:
            if self._wrong["reset"] or self._wrong["step"]:
                return  # what is wrong will be wrong again
            match = Played(self.begun, episode_seed(self.seed, "check", self.begun))
            self.begun += 1
            faults = self.matches.reset([place], [match.seed])
            if faults:
                self._wrong["reset"].at(match.moment, faults[0].what)
                return
            self._now[place] = match
            self.played.append(match)
            for role in self.matches.roles:
                self._in_play[role][place] = True
            self._see(place, match)
            match.lines.append(line(self.matches.obs, place, self._playing(place)))

    def _look(self, actions: ByRole, step: MatchStep) -> None:
        broken = {fault.copy: fault for fault in step.faults}
        for place, match in list(self._now.items()):
            match.actions.append({role: actions[role][place].copy() for role in actions})
            if place in broken:
                self._wrong["step"].at(match.moment, broken[place].what)
                self._traceback = self._traceback or broken[place].traceback
                del self._now[place]
                continue
            before = self._playing(place)
            self._parts(place, match, step)
            match.lines.append(line(step.obs, place, before, step))
            self._see(place, match, before)
            if step.over[place]:
                self._end(place, match, step)
            if step.over[place] or not any(mask.any() for mask in self._playing(place).values()):
                del self._now[place]

    def _playing(self, place: int) -> dict[str, Array]:
        return {role: mask[place].copy() for role, mask in self._in_play.items()}

    def _parts(self, place: int, match: Played, step: MatchStep) -> None:
        """What every agent got, and whose part ended."""
        limits = self.cfg.facts.reward
        for role, mask in self._in_play.items():
            playing = mask[place]
            reward = step.reward[role][place]
            terminated, truncated = step.terminated[role][place], step.truncated[role][place]
            for seat in range(len(playing)):
                who, paid = f"{role} {seat}", float(reward[seat])
                ended = bool(terminated[seat] or truncated[seat])
                self._both += bool(terminated[seat] and truncated[seat])
                if not playing[seat] and (ended or paid):
                    got = "ends once more" if ended else f"is paid {paid:g}"
                    self._wrong["ends"].at(match.moment, f"{who} is out of play and {got}")
                elif playing[seat] and not np.isfinite(paid):
                    self._wrong["finite"].at(match.moment, f"the reward of {who} is {paid}")
                elif playing[seat] and limits and not limits[0] <= paid <= limits[1]:
                    what = f"the reward of {who} is {paid:g}, declared is {list(limits)}"
                    self._wrong["facts.reward"].at(match.moment, what)
            mask[place] = playing & ~(terminated | truncated)
        left = [
            f"{role} {seat}"
            for role, mask in self._in_play.items()
            for seat in np.flatnonzero(mask[place]).tolist()
        ]
        if bool(step.over[place]) == bool(left):
            what = (
                f"the match is over, and {left[0]} is in play"
                if left
                else "nobody is in play, and it goes on"
            )
            self._wrong["ends"].at(match.moment, what)
        limit = self.matches.time_limit
        if limit is not None and len(match.actions) > limit:
            what = f"the match goes on beyond its limit of {limit} steps"
            self._wrong["time limit"].at(match.moment, what)

    def _see(self, place: int, match: Played, who: Mapping[str, Array] | None = None) -> None:
        """What those see who were in play before the step."""
        for role, kind in self.matches.roles.items():
            mask = self._in_play[role][place] if who is None else who[role]
            rows = self.matches.obs[role][place][mask]
            bad = kind.obs.not_finite(rows) if len(rows) else None
            if bad is not None:
                where = kind.obs.where_not_finite(rows[int(np.flatnonzero(bad)[0])])
                what = f"the observation of a {role} is not finite at {where}"
                self._wrong["finite"].at(match.moment, what)
            elif isinstance(kind.obs, BoxObs) and (problem := _outside(kind.obs, rows)):
                self._wrong["observation"].at(match.moment, f"of a {role}: {problem}")

    def _end(self, place: int, match: Played, step: MatchStep) -> None:
        told, names = int(step.outcome[place]), list(self.matches.outcomes)
        if told != UNKNOWN and not 0 <= told < len(names):
            what = f"outcome {told} of {len(names)} ({', '.join(names) or 'none'})"
            self._wrong["ends"].at(match.moment, what)
        else:
            self._outcomes["unknown" if told == UNKNOWN else names[told]] += 1
        self._numbers = set(step.numbers)

    # ---- what was found ------------------------------------------------------------------------

    def findings(self) -> Iterator[Finding]:
        matches, wrong = self.matches, self._wrong
        yield Finding("made", "ok")
        shown = (
            f"{r.seats} {n} {space_text(r.obs)} -> {space_text(r.action)}"
            for n, r in matches.roles.items()
        )
        yield Finding("spaces", "ok", ", ".join(shown))
        yield wrong["reset"].or_ok()
        yield replace(wrong["step"].or_ok(), traceback=self._traceback)
        yield wrong["observation"].or_ok("inside their spaces, at every reset and step")
        yield wrong["finite"].or_ok("no NaN and no infinity in observations and rewards")
        yield self._ends()
        found = wrong["time limit"].or_ok(f"{matches.time_limit or 0:,} steps")
        missing = matches.has_default_limit or matches.time_limit is None
        yield NO_LIMIT if missing and found.verdict == "ok" else found
        if self.cfg.facts.reward:
            yield wrong["facts.reward"].or_ok("inside the declared range")
        yield from self._metrics()
        if self.steps:
            yield Finding(
                "speed", "ok", f"{self.steps / max(self._seconds, 1e-9):,.0f} steps per second"
            )
        if self.played and not wrong["step"]:
            yield drawn(matches)

    def _ends(self) -> Finding:
        if self._wrong["ends"]:
            return self._wrong["ends"].finding()
        if not self._outcomes:
            return Finding("ends", "note", f"no match was over within {self.steps:,} steps")
        told = ", ".join(f"{name} {count}" for name, count in self._outcomes.most_common())
        if self._both:
            return Finding("ends", "note", f"{told}; terminated and truncated counts as terminated")
        if set(self._outcomes) == {"unknown"} and self.matches.outcomes:
            return Finding("ends", "note", "nobody ever told how a match ended: no win rates")
        return Finding("ends", "ok", f"matches that are over: {told}")

    def _metrics(self) -> Iterator[Finding]:
        wanted = {metric.source for metric in self.cfg.metrics.values()}
        if not wanted or self._numbers is None:
            return
        missing = sorted(wanted - self._numbers)
        known = ", ".join(sorted(self._numbers)) or "nothing"
        if missing:
            what = f"a match that is over tells {known}, and not {', '.join(missing)}"
            yield Finding("metrics", "wrong", what)
        else:
            yield Finding("metrics", "ok", ", ".join(sorted(wanted)))


def _outside(space: BoxObs, rows: Array) -> str | None:
    low, high = (np.array(end).reshape(space.shape) for end in (space.low, space.high))
    room = [
        _ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(e), e, 0))) for e in (low, high)
    ]
    beyond = (rows < low - room[0]) | (rows > high + room[1])
    if not beyond.any():
        return None
    _, *at = (int(index[0]) for index in beyond.nonzero())
    value, bounds = float(rows[beyond][0]), [float(end[tuple(at)]) for end in (low, high)]
    return f"{value:g} at index {at}, its space says [{bounds[0]:g}, {bounds[1]:g}]"
