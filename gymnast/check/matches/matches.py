"""Plays matches of multi-agent environments with random actions and checks them against the Matches API."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial

import numpy as np

from gymnast.check.environment import STEPS, creation_failure
from gymnast.check.episode_ends import undeclared_limit
from gymnast.check.finding import CheckReport, Finding
from gymnast.check.matches.determinism import (
    MakeMatches,
    MatchTranscript,
    check_determinism,
    check_rendering,
    step_fingerprint,
)
from gymnast.check.observer import FirstViolation
from gymnast.collect.matchmaking import random_player
from gymnast.config.config import Config
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, ByRole, Matches, MatchStep
from gymnast.envs.matches.open import open_matches
from gymnast.errors import EnvError
from gymnast.policy.actions import head_for
from gymnast.progress import ProgressCallback, no_progress
from gymnast.seeds import episode_seed, stream
from gymnast.spaces.spaces import BoxObs, space_text

Array = np.ndarray
N_PARALLEL = 3
"""Number of matches that are played in parallel."""
_ROUNDING = 1e-5
"""Tolerance beyond a bound, relative to max(1, |bound|)."""
_CHECKS = ("reset", "step", "observation", "finite", "ends", "time limit", "facts.reward")


def check_matches(
    target: str,
    cfg: Config,
    *,
    steps: int = STEPS,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
    make: MakeMatches | None = None,
) -> CheckReport:
    """Returns the findings of all checks. `target`: name of the environment in the report; `steps`: number of
    random steps of single matches; `make` creates matches, by default those of the config. Raises EnvError
    for an unknown name or a missing package."""
    make = make or partial(open_matches, cfg)
    try:
        matches = make(N_PARALLEL)
    except EnvError as problem:
        return creation_failure(target, problem)
    with closing(matches):
        check = _MatchCheck(cfg, matches, seed)
        check.play(steps, on_progress)
        determinism = check_determinism(make, matches, check.played, cfg.facts)
        findings = [*check.findings(), *determinism]
        return CheckReport.of(target, check.steps, check.started, findings)


class _MatchCheck:
    """Plays random matches and keeps the first violation of each check."""

    def __init__(self, cfg: Config, matches: Matches, seed: int) -> None:
        self.cfg, self.matches, self.seed = cfg, matches, seed
        self.steps = self.started = 0
        self.played: list[MatchTranscript] = []
        self._running: dict[int, MatchTranscript] = {}
        self._in_play = {
            role: np.zeros((matches.n_matches, kind.seats), bool)
            for role, kind in matches.roles.items()
        }
        """Agents in play, [matches, seats] for each role, as their ends imply it: the environment is checked
        against this."""
        self._wrong = {check: FirstViolation(check) for check in _CHECKS}
        self._outcomes: Counter[str] = Counter()
        self._numbers: set[str] | None = None
        self._both, self._traceback = 0, ""
        self._truncated: list[int] = []
        """Steps at which agents were truncated."""
        self._seconds = 0.0

    def play(self, steps: int, on_progress: ProgressCallback) -> None:
        """Plays until `steps` steps of single matches are taken, or no match can be started."""
        matches, draws = self.matches, stream(self.seed, "check")
        heads = {role: head_for(kind.action) for role, kind in matches.roles.items()}
        players = {role: random_player(kind) for role, kind in matches.roles.items()}
        self._start_matches(range(matches.n_matches))
        while self._running and self.steps < steps:
            actions: dict[str, Array] = {}
            for role, kind in matches.roles.items():
                n = matches.n_matches * kind.seats
                noise, uniform = heads[role].noise(draws, (n,)), draws.random(n)
                obs = matches.obs[role].reshape(n, *matches.obs[role].shape[2:])
                action = players[role](obs, noise, uniform)
                actions[role] = action.reshape(matches.n_matches, kind.seats, *action.shape[1:])
            began = time.perf_counter()
            step = matches.step(actions, sorted(self._running))
            self._seconds += time.perf_counter() - began
            self.steps += len(self._running)
            self._record(actions, step)
            on_progress(min(self.steps, steps), steps)
            self._start_matches([m for m in range(matches.n_matches) if m not in self._running])

    def _start_matches(self, slots: Iterable[int]) -> None:
        """Starts a new match in each of these slots, unless a reset or step has failed before."""
        for slot in slots:
            if self._wrong["reset"] or self._wrong["step"]:
                return  # it would fail again
            match = MatchTranscript(self.started, episode_seed(self.seed, "check", self.started))
            self.started += 1
            faults = self.matches.reset([slot], [match.seed])
            if faults:
                self._wrong["reset"].record(match.last_timestep, faults[0].message)
                return
            self._running[slot] = match
            self.played.append(match)
            for role in self.matches.roles:
                self._in_play[role][slot] = True
            self._check_obs(slot, match)
            match.fingerprints.append(step_fingerprint(self.matches.obs, slot, self._playing(slot)))

    def _record(self, actions: ByRole, step: MatchStep) -> None:
        """Records one step of every running match and checks its result."""
        broken = {fault.copy: fault for fault in step.faults}
        for slot, match in list(self._running.items()):
            match.actions.append({role: actions[role][slot].copy() for role in actions})
            if slot in broken:
                self._wrong["step"].record(match.last_timestep, broken[slot].message)
                self._traceback = self._traceback or broken[slot].traceback
                del self._running[slot]
                continue
            # Agents that end with this step still get its reward and observation, hence `before`.
            before = self._playing(slot)
            self._check_rewards_and_ends(slot, match, step)
            match.fingerprints.append(step_fingerprint(step.obs, slot, before, step))
            self._check_obs(slot, match, before)
            if step.over[slot]:
                self._end(slot, match, step)
            if step.over[slot] or not any(mask.any() for mask in self._playing(slot).values()):
                del self._running[slot]

    def _playing(self, slot: int) -> dict[str, Array]:
        return {role: mask[slot].copy() for role, mask in self._in_play.items()}

    def _check_rewards_and_ends(self, slot: int, match: MatchTranscript, step: MatchStep) -> None:
        """Checks the rewards and ends of every agent, and whether the match is over when all agents are
        done."""
        limits = self.cfg.facts.reward
        for role, mask in self._in_play.items():
            playing = mask[slot]
            reward = step.reward[role][slot]
            terminated, truncated = step.terminated[role][slot], step.truncated[role][slot]
            for seat in range(len(playing)):
                agent, value = f"{role} {seat}", float(reward[seat])
                ended = bool(terminated[seat] or truncated[seat])
                self._both += bool(terminated[seat] and truncated[seat])
                if playing[seat] and truncated[seat]:
                    self._truncated.append(len(match.actions))
                if not playing[seat] and (ended or value):
                    what = "ends again" if ended else f"receives the reward {value:g}"
                    self._wrong["ends"].record(match.last_timestep, f"{agent} is done and {what}")
                elif playing[seat] and not np.isfinite(value):
                    self._wrong["finite"].record(
                        match.last_timestep, f"the reward of {agent} is {value}"
                    )
                elif playing[seat] and limits and not limits[0] <= value <= limits[1]:
                    what = f"the reward of {agent} is {value:g}, declared is {list(limits)}"
                    self._wrong["facts.reward"].record(match.last_timestep, what)
            mask[slot] = playing & ~(terminated | truncated)
        left = [
            f"{role} {seat}"
            for role, mask in self._in_play.items()
            for seat in np.flatnonzero(mask[slot]).tolist()
        ]
        # `over` must be true exactly when nobody is left.
        if bool(step.over[slot]) == bool(left):
            what = (
                f"the match is over, but {left[0]} is not done"
                if left
                else "all agents are done, but the match is not over"
            )
            self._wrong["ends"].record(match.last_timestep, what)
        limit = self.matches.time_limit
        if limit is not None and len(match.actions) > limit:
            what = f"the match continues beyond its limit of {limit} steps"
            self._wrong["time limit"].record(match.last_timestep, what)

    def _check_obs(
        self, slot: int, match: MatchTranscript, in_play: Mapping[str, Array] | None = None
    ) -> None:
        """Checks the observations of the agents in play in this slot. `in_play`: role -> mask [seats] of the
        agents to check instead, those in play before the step."""
        for role, kind in self.matches.roles.items():
            mask = self._in_play[role][slot] if in_play is None else in_play[role]
            rows = self.matches.obs[role][slot][mask]
            bad = kind.obs.not_finite(rows) if len(rows) else None
            if bad is not None:
                where = kind.obs.where_not_finite(rows[int(np.flatnonzero(bad)[0])])
                what = f"the observation of a {role} is not finite at {where}"
                self._wrong["finite"].record(match.last_timestep, what)
            elif isinstance(kind.obs, BoxObs) and (problem := _outside(kind.obs, rows)):
                self._wrong["observation"].record(match.last_timestep, f"of a {role}: {problem}")

    def _end(self, slot: int, match: MatchTranscript, step: MatchStep) -> None:
        """Checks and counts the outcome of a match that is over."""
        outcome, names = int(step.outcome[slot]), list(self.matches.outcomes)
        if outcome != UNKNOWN_OUTCOME and not 0 <= outcome < len(names):
            what = f"outcome {outcome} of {len(names)} ({', '.join(names) or 'none'})"
            self._wrong["ends"].record(match.last_timestep, what)
        else:
            self._outcomes["unknown" if outcome == UNKNOWN_OUTCOME else names[outcome]] += 1
        self._numbers = set(step.metrics)

    # ---- findings ------------------------------------------------------------------------

    def findings(self) -> Iterator[Finding]:
        """Yields the findings about the matches played so far."""
        matches, wrong = self.matches, self._wrong
        yield Finding("made", "ok")
        spaces = (
            f"{r.seats} {n} {space_text(r.obs)} -> {space_text(r.action)}"
            for n, r in matches.roles.items()
        )
        yield Finding("spaces", "ok", ", ".join(spaces))
        yield wrong["reset"].finding_or_ok()
        yield replace(wrong["step"].finding_or_ok(), traceback=self._traceback)
        yield wrong["observation"].finding_or_ok("inside their spaces, at every reset and step")
        yield wrong["finite"].finding_or_ok("no NaN and no infinity in observations and rewards")
        yield self._ends()
        limit = wrong["time limit"].finding_or_ok(f"{matches.time_limit or 0:,} steps")
        if limit.verdict == "ok" and (matches.has_default_limit or matches.time_limit is None):
            own = [step for step in self._truncated if step != matches.time_limit]
            limit = undeclared_limit(own, max(len(match.actions) for match in self.played))
        yield limit
        if self.cfg.facts.reward:
            yield wrong["facts.reward"].finding_or_ok("inside the declared range")
        yield from self._metrics()
        if self.steps:
            yield Finding(
                "speed", "ok", f"{self.steps / max(self._seconds, 1e-9):,.0f} steps per second"
            )
        if self.played and not wrong["step"]:
            yield check_rendering(matches)

    def _ends(self) -> Finding:
        """Returns the finding about ends and outcomes."""
        if self._wrong["ends"]:
            return self._wrong["ends"].finding()
        if not self._outcomes:
            return Finding("ends", "note", f"no match was over within {self.steps:,} steps")
        counts = ", ".join(f"{name} {count}" for name, count in self._outcomes.most_common())
        if self._both:
            what = f"{counts}; terminated and truncated at once counts as terminated"
            return Finding("ends", "note", what)
        if set(self._outcomes) == {"unknown"} and self.matches.outcomes:
            return Finding(
                "ends", "note", "no outcome was ever reported: there will be no win rates"
            )
        return Finding("ends", "ok", f"outcomes: {counts}")

    def _metrics(self) -> Iterator[Finding]:
        """Checks that finished matches report the metrics of the preset."""
        wanted = {metric.source for metric in self.cfg.metrics.values()}
        if not wanted or self._numbers is None:
            return
        missing = sorted(wanted - self._numbers)
        known = ", ".join(sorted(self._numbers)) or "nothing"
        if missing:
            what = f"finished matches report {known}, but not {', '.join(missing)}"
            yield Finding("metrics", "wrong", what)
        else:
            yield Finding("metrics", "ok", ", ".join(sorted(wanted)))


def _outside(space: BoxObs, rows: Array) -> str | None:
    """Returns a message for the first number of `rows` [k, ...] outside of the space, or None."""
    low, high = (np.array(end).reshape(space.shape) for end in (space.low, space.high))
    tolerance = [
        _ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(e), e, 0))) for e in (low, high)
    ]
    beyond = (rows < low - tolerance[0]) | (rows > high + tolerance[1])
    if not beyond.any():
        return None
    _, *at = (int(index[0]) for index in beyond.nonzero())  # row and index of the first one
    value, bounds = float(rows[beyond][0]), [float(end[tuple(at)]) for end in (low, high)]
    return f"{value:g} at index {at}, its space says [{bounds[0]:g}, {bounds[1]:g}]"
