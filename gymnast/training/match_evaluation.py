"""Score the policies of several roles: each against scripted opponents it never trained with, on fixed
seeds; where the environment has none, all of them together.

The score of a run is that of the role that does worst. A mean over the roles of a game in which one
wins what the other loses would say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.collect.casting import LEARNER, Player, by_rules, decided, sampling
from gymnast.collect.matches import MatchEnd
from gymnast.config.config import Config
from gymnast.envs.backend import refuse
from gymnast.envs.open_matches import open_matches
from gymnast.errors import RunError
from gymnast.league.results import Results, score
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import Interval, interquartile_mean, mean_interval, wilson_interval
from gymnast.runs.match_trace import MatchTrace
from gymnast.seeds import episode_seed
from gymnast.training.match_play import Played, play_matches
from gymnast.training.match_rows import match_row
from gymnast.training.players import SCRIPTED, by_name, scripted
from gymnast.training.playing import Plan, Watch
from gymnast.training.shortfall import COMPLETE, Shortfall
from gymnast.training.snapshots import Snapshots

KEPT = 4
"""Matches of each pair that are stored."""


@dataclass(frozen=True)
class Met:
    """One role's matches against one opponent."""

    role: str
    opponent: str
    """Empty where all roles were played by those who learn."""
    ends: tuple[MatchEnd, ...]
    returns: tuple[float, ...]
    """Of the role's agents, their mean in each match."""

    @property
    def worth(self) -> tuple[float, ...]:
        """Of each match that tells who has won, what it was worth to the role."""
        told = (score(self.role, end.winner) for end in self.ends)
        return tuple(worth for worth in told if worth is not None)


@dataclass(frozen=True)
class MatchEvaluation:
    version: int
    """Env steps the policies had learned from when they were scored."""
    met: tuple[Met, ...]
    outcomes: dict[str, str]
    numbers: dict[str, str]
    shortfall: Shortfall = COMPLETE
    """Matches of the plan that are not part of the score."""
    seconds: float = 0.0

    @property
    def has_score(self) -> bool:
        """False where not every pair finished a match in time."""
        return bool(self.met)

    @property
    def roles(self) -> list[str]:
        return list(dict.fromkeys(met.role for met in self.met))

    @property
    def tells_winners(self) -> bool:
        """Of every role: win rates and returns cannot be compared."""
        return all(any(met.worth for met in self._of(role)) for role in self.roles)

    def score(self) -> dict[str, Any]:
        """Of the role that does worst."""
        scores = {role: self.score_of(role) for role in self.roles}
        worst = min(scores, key=lambda role: (scores[role]["mean"], role))
        more = {"role": worst, "env_steps": self.version, **self.shortfall.told()}
        return scores[worst] | more

    def score_of(self, role: str) -> dict[str, Any]:
        """Its win rate where matches tell who has won, else its return."""
        of, told = self._of(role), self.tells_winners
        values = [value for met in of for value in (met.worth if told else met.returns)]
        interval = wins_of(values) if told else mean_interval(np.array(values), exact=False)
        return {
            "mean": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "iqm": interquartile_mean(np.array(values)),
            "episodes": len(values),
        }

    def row(self) -> dict[str, float]:
        score, ends = self.score(), [end for met in self.met for end in met.ends]
        row: dict[str, float] = {
            "eval:clock/env_steps": self.version,
            "eval:episode/return": score["mean"],
            "eval:episode/low": score["low"],
            "eval:episode/high": score["high"],
            "eval:episode/iqm": score["iqm"],
            "eval:episode/count": score["episodes"],
            "eval:episode/length": float(np.mean([end.length for end in ends])),
            "eval:rollout/faults": self.shortfall.left_out,
        }
        for role in self.roles:
            of = list(self._of(role))
            row[f"eval/{role}:episode/return"] = float(np.mean([r for m in of for r in m.returns]))
            every = [end for met in of for end in met.ends]
            told = match_row(every, self.outcomes, self.numbers)
            row |= {f"eval/{role}:{key}": value for key, value in told.items()}
            if self.outcomes:
                row |= _win_row(f"eval/{role}", [w for met in of for w in met.worth])
                for met in of:
                    if met.opponent:
                        row |= _win_row(f"eval/{role}/{met.opponent}", met.worth)
        return row

    def results(self, row: str, column: str) -> Results:
        """As a table of who played whom: learners are named by their version."""
        table = Results(row, column)
        for met in self.met:
            for end in met.ends if met.opponent else ():
                names = {role: str(self.version) for role in (row, column)}
                names |= {role: name for role, name in end.cast.items() if name != LEARNER}
                table.add(names[row], names[column], end.winner)
        return table

    def _of(self, role: str) -> Sequence[Met]:
        return [met for met in self.met if met.role == role]


class MatchEvaluator:
    def __init__(self, cfg: Config[Any]) -> None:
        self.cfg = cfg
        self.matches = open_matches(cfg, cfg.eval.n_envs)
        self.learners = learning_roles(cfg, list(self.matches.roles))

    def plan(self, which: str, episodes: int | None = None) -> Plan:
        cfg = self.cfg.eval
        count = episodes or (cfg.confirm_episodes if which == "confirm" else cfg.episodes)
        seeds = tuple(episode_seed(cfg.seed, which, i) for i in range(count))
        return Plan(seeds, deterministic=cfg.deterministic, timeout=cfg.timeout)

    def evaluate(
        self,
        policies: Mapping[str, Policy],
        version: int,
        plan: Plan,
        watch: Watch | None = None,
        run: Path | None = None,
    ) -> tuple[MatchEvaluation, list[MatchTrace]]:
        """Every learner against every scripted opponent, `plan` matches each. `run`: its directory, where
        players from other runs are kept."""
        learners = {role: self.learner(policies[role], plan) for role in self.learners}
        pairs, watch = self._pairs(learners, run), watch or Watch()
        watch.total = len(pairs) * len(plan.seeds)
        played: list[list[Played]] = [[] for _ in pairs]
        for seeds in self._rounds(plan):  # pairs have equally many matches, whenever time is up
            for (_, _, players, names), of in zip(pairs, played, strict=True):
                of += self._play(players, names, replace(plan, seeds=seeds), version, watch)
            if watch.late or watch.passed(plan.seconds):
                break
        met: list[Met] = []
        for (role, opponent, _, _), of in zip(pairs, played, strict=True):
            returns = tuple(float(np.mean(p.returns[role])) for p in of)
            met.append(Met(role, opponent, tuple(p.end for p in of), returns))
        if not all(one.ends for one in met):
            refuse(self.matches.name, watch.left_out)
            met = []  # the timeout came before every pair had finished a match
        every = replace(plan, seeds=plan.seeds * len(pairs))
        evaluation = MatchEvaluation(
            version,
            tuple(met),
            dict(self.matches.outcomes),
            self.cfg.numbers(),
            Shortfall.of(every, watch, sum(map(len, played)), ()),
        )
        return evaluation, [p.trace for of in played for p in of[:KEPT]]

    def _rounds(self, plan: Plan) -> list[tuple[int, ...]]:
        """The seeds in portions, after each of which a plan with limited time may end."""
        if plan.seconds is None:
            return [plan.seeds]
        size = max(plan.at_least, self.matches.n_matches)
        return [plan.seeds[at : at + size] for at in range(0, len(plan.seeds), size)]

    def learner(self, policy: Policy, plan: Plan) -> Player:
        return decided(policy) if plan.deterministic else sampling(policy)

    def _pairs(
        self, learners: Mapping[str, Player], run: Path | None
    ) -> list[tuple[str, str, dict[str, Player], dict[str, str]]]:
        """(role, opponent's name, players, their names)."""
        roles, found = list(self.matches.roles), list[Any]()
        for role, player in learners.items():
            others = [other for other in roles if other != role]
            rivals = [n for n in self.cfg.league.opponents if others and self._scripted(others)]
            for name in rivals:
                theirs = {o: by_rules(scripted(self.matches, o, name)) for o in others}
                names = {role: LEARNER, **dict.fromkeys(others, f"{SCRIPTED}{name}")}
                found.append((role, name, {role: player, **theirs}, names))
            if not rivals:
                given = {
                    other: self.cfg.roles[other].plays[-1]
                    for other in roles
                    if other not in learners
                }
                theirs = {other: self._given(other, name, run) for other, name in given.items()}
                names = dict.fromkeys(roles, LEARNER) | given
                found.append((role, "", {**learners, **theirs}, names))
        return found

    def _given(self, role: str, name: str, run: Path | None) -> Player:
        """Who plays a role that is not learned: the last of its ladder."""
        if (found := by_name(self.matches, role, name)) is not None:
            return found
        if run is None:
            raise RunError(f"{name}, who plays {role}, is kept in a run that is not named")
        guest = Snapshots.guest(role, len(self.cfg.roles[role].plays) - 1)
        return sampling(Snapshots(run).read(guest, role))

    def _scripted(self, roles: Sequence[str]) -> bool:
        return all(self.matches.scripted.get(role) for role in roles)

    def _play(
        self,
        players: Mapping[str, Player],
        names: Mapping[str, str],
        plan: Plan,
        version: int,
        watch: Watch,
    ) -> list[Played]:
        bears = self.cfg.env.on_fault == "restart"
        played = play_matches(
            self.matches,
            players,
            names,
            plan.seeds,
            version=version,
            attempts=self.cfg.env.max_faults if bears else 1,
            watch=watch,
            timeout=plan.timeout,
        )
        if not bears:
            refuse(self.matches.name, watch.left_out)
        return played

    def close(self) -> None:
        self.matches.close()


def learning_roles(cfg: Config[Any], roles: Sequence[str]) -> list[str]:
    """Those that the config does not give to somebody else."""
    return [role for role in roles if role not in cfg.roles or cfg.roles[role].learns]


def wins_of(worth: Sequence[float]) -> Interval:
    return wilson_interval(sum(worth), len(worth))


def _win_row(scope: str, worth: Sequence[float]) -> dict[str, float]:
    if not worth:
        return {}
    rate = wins_of(worth)
    return {
        f"{scope}:match/win_rate": rate.mean,
        f"{scope}:match/win_low": rate.low,
        f"{scope}:match/win_high": rate.high,
    }
