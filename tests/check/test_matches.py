"""`gymnast check` of multi-agent environments: every planted mistake is found by its own check and by no
other."""

from __future__ import annotations

import json
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast.check.finding import CHECKS, CheckReport
from gymnast.check.matches.matches import check_matches
from gymnast.cli.check import check
from gymnast.config.resolve import resolve
from gymnast.errors import EnvError
from tests.match_games import LIMIT, Coop, RewardsInactive

STEPS = 150


def checked(game: Any, **settings: Any) -> CheckReport:
    cfg = resolve("tag", settings).config.model_copy(update={"metrics": {}})
    return check_matches("coop", cfg, steps=STEPS, make=game)


class EndsTwice(Coop):
    """Terminates hens again that were done before the match was over."""

    def step(self, actions, matches=None):
        step = super().step(actions, matches)
        step.terminated["hen"][step.over, :] = True
        return step


class NeverOver(Coop):
    def step(self, actions, matches=None):
        step = super().step(actions, matches)
        step.over[:] = False
        return step


class OverTooSoon(Coop):
    def step(self, actions, matches=None):
        step = super().step(actions, matches)
        step.over[self.t == 1] = True
        return step


class StrangeOutcome(Coop):
    def step(self, actions, matches=None):
        step = super().step(actions, matches)
        step.outcome[step.over] = 3
        return step


class NoNumber(Coop):
    def step(self, actions, matches=None):
        step = super().step(actions, matches)
        step.reward["fox"][:, 0] = np.where(self.t == 1, np.nan, step.reward["fox"][:, 0])
        return step


class SeesNothing(Coop):
    def _show(self, match: int) -> None:
        super()._show(match)
        if self.t[match] == 1:
            self.obs["hen"][match, 1, 1] = np.inf


class SeesTooFar(Coop):
    def _show(self, match: int) -> None:
        super()._show(match)
        if self.t[match] == 1:
            self.obs["fox"][match, 0, 2] = 10.0


class Slow(Coop):
    time_limit = LIMIT - 3


class Lucky(Coop):
    """Starts every match in another state, whatever its seed."""

    luck = count()

    def reset(self, matches, seeds):
        faults = super().reset(matches, seeds)
        self.memory[list(matches)] += next(Lucky.luck)
        for match in matches:
            self._show(match)
        return faults


class Remembers(Coop):
    """Changes its behavior after some matches."""

    def __init__(self, n_matches: int) -> None:
        super().__init__(n_matches)
        self.begun = 0

    def reset(self, matches, seeds):
        faults = super().reset(matches, seeds)
        self.begun += len(matches)
        self.memory[list(matches)] += self.begun > 6
        for match in matches:
            self._show(match)
        return faults


class Forgets(Coop):
    """Leaves a part of its state out of `state()`."""

    def state(self):
        return super().state() | {"memory": np.zeros_like(self.memory)}


class Undrawn(Coop):
    def render(self, match: int):
        raise RuntimeError("no brush")


PLANTED: dict[type[Coop], tuple[str, str]] = {
    RewardsInactive: ("ends", "is done and receives the reward 1e+06"),
    EndsTwice: ("ends", "is done and ends again"),
    NeverOver: ("ends", "all agents are done, but the match is not over"),
    OverTooSoon: ("ends", "the match is over, but fox 0 is not done"),
    StrangeOutcome: ("ends", "outcome 3 of 3 (eaten, fled, tired)"),
    NoNumber: ("finite", "the reward of fox 0 is nan"),
    SeesNothing: ("finite", "the observation of a hen is not finite at index"),
    SeesTooFar: ("observation", "of a fox: 10 at index [2], its space says [-9, 9]"),
    Slow: ("time limit", "beyond its limit of 6 steps"),
    Lucky: ("deterministic", "give a different match"),
    Remembers: ("past", "matches before a reset, or in parallel, change"),
    Forgets: ("past", "continues differently"),
    Undrawn: ("rendering", "RuntimeError: no brush"),
    partial(Coop, faulty=True): ("step", "the fence broke"),  # type: ignore[dict-item]
}


def test_correct_matches_pass_every_check():
    report = checked(Coop)
    assert {f.check: f.what for f in report.findings if f.verdict == "wrong"} == {}
    assert STEPS <= report.steps < STEPS + 3
    messages = {finding.check: finding.what for finding in report.findings}
    assert "eaten" in messages["ends"]
    assert messages["rendering"] == "frames of 6 x 4"
    assert messages.keys() >= {"made", "spaces", "reset", "step", "seed", "past", "speed"}


@pytest.mark.parametrize("game", PLANTED, ids=lambda game: getattr(game, "__name__", "Faulty"))
def test_a_planted_mistake_is_found_by_exactly_the_check_for_it(game: Any):
    check_name, words = PLANTED[game]
    (found,) = checked(game).errors
    assert found.check == check_name
    assert words in found.what
    assert found.means == CHECKS[check_name]


def test_matches_that_cannot_be_reset_are_reported_and_not_played():
    class Stillborn(Coop):
        def reset(self, matches, seeds):
            from gymnast.envs.backends.backend import Fault

            return (Fault(matches[0], 0, "no hens"),)

    (found,) = checked(Stillborn).errors
    assert (found.check, found.what) == ("reset", "no hens")


def test_an_environment_that_cannot_be_created_is_reported_with_the_cause():
    def unmade(_: int) -> Coop:
        raise EnvError("the coop is locked") from RuntimeError("no key")

    (found,) = checked(unmade).errors
    assert (found.check, found.what) == ("made", "the coop is locked")
    assert "no key" in found.traceback


def test_declared_facts_and_metrics_are_checked_against_the_matches():
    (found,) = checked(Coop, **{"facts.reward": [-5, 5]}).errors
    assert found.check == "facts.reward"
    metric = {"metrics.env/speed": {"source": "speed", "description": "Mean."}}
    cfg = resolve("tag", metric | {"env.kwargs": {"time_limit": 9}}).config
    (found,) = check_matches("tag", cfg, steps=60).errors
    assert found.check == "metrics"
    assert "distance, duration, seen, but not speed" in found.what


def test_the_command_checks_matches_too():
    result = CliRunner().invoke(check, ["tag", "--steps", "60", "--json"], standalone_mode=False)
    assert result.return_value == 0
    answer = json.loads(result.stdout)
    assert answer["wrong"] == 0
    assert answer["steps"] >= 60
