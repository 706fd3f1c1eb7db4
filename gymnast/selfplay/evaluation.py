"""Evaluates the policies of a multi-role run on fixed seeds: each role against scripted opponents that it
never trained with, or, if the environment has none, all roles together.

The score of a run is the score of its worst role: a run is only as good as its weaker policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gymnast.collect.matches import MatchEnd
from gymnast.collect.matchmaking import (
    LEARNER,
    Player,
    greedy_player,
    sampling_player,
    scripted_player,
)
from gymnast.config.config import Config
from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.matches.open import open_matches
from gymnast.errors import RunError
from gymnast.evaluation.episodes import EpisodePlan, EvaluationProgress
from gymnast.evaluation.shortfall import COMPLETE, Shortfall
from gymnast.league.results import Results, match_score
from gymnast.metrics.score import MeanScore, Score
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import (
    Interval,
    finite_bounds,
    interquartile_mean,
    mean_interval,
    wilson_interval,
)
from gymnast.runs.match_trace import MatchTrace
from gymnast.seeds import episode_seed
from gymnast.selfplay.play import PlayedMatch, play_matches
from gymnast.selfplay.players import SCRIPTED, builtin_player, find_scripted
from gymnast.selfplay.rows import match_row
from gymnast.selfplay.snapshots import Snapshots

TRACES_PER_PAIRING = 4
"""Number of matches per pairing whose traces are stored, unless `traces.trajectories` needs all of them."""


@dataclass(frozen=True)
class Pairing:
    """The matches of one role against one opponent."""

    role: str
    opponent: str
    """Name of the scripted opponent; empty if the learners play all learned roles."""
    ends: tuple[MatchEnd, ...]
    returns: tuple[float, ...]
    """Return of each match, averaged over the role's agents."""

    @property
    def scores(self) -> tuple[float, ...]:
        """Score of the role (1 won, 1/2 drawn, 0 lost) in each match with a known winner."""
        scores = (match_score(self.role, end.winner) for end in self.ends)
        return tuple(points for points in scores if points is not None)


@dataclass(frozen=True)
class MatchEvaluation:
    """The result of an evaluation: all matches, from which scores and metrics are computed."""

    version: int
    """Number of env steps after which the policies were evaluated."""
    pairings: tuple[Pairing, ...]
    outcomes: dict[str, str]
    """Every possible outcome and the role that wins with it."""
    metric_keys: dict[str, str]
    """Metric names and the keys of the match metrics they report."""
    shortfall: Shortfall = COMPLETE
    """Planned matches that are missing from the score."""
    seconds: float = 0.0
    possible_returns: tuple[float, float] | None = None
    """The range that no return can leave, if it is known."""

    @property
    def has_score(self) -> bool:
        """False if a pairing finished no match in time."""
        return bool(self.pairings)

    @property
    def roles(self) -> list[str]:
        return list(dict.fromkeys(pairing.role for pairing in self.pairings))

    @property
    def has_winners(self) -> bool:
        """Whether every role has matches with a known winner. Only then are scores win rates; the scores
        of all roles must be in the same unit."""
        return all(any(p.scores for p in self._pairings(role)) for role in self.roles)

    def score(self) -> Score:
        """Returns the score of the worst role, with the fields of `score_of`, its `role`, the `env_steps` of
        the policies and what is missing."""
        scores = {role: self.score_of(role) for role in self.roles}
        worst = min(scores, key=lambda role: (scores[role]["mean"], role))  # ties: by name
        return {
            **scores[worst],
            "role": worst,
            "env_steps": self.version,
            "kind": "evaluated",
            **self.shortfall.score_fields(),
        }

    def score_of(self, role: str) -> MeanScore:
        """Returns the mean score of a role with its 95 % interval: its win rate if the winners are known
        (`has_winners`), else its mean return."""
        pairings, won = self._pairings(role), self.has_winners
        values = [value for p in pairings for value in (p.scores if won else p.returns)]
        interval = (
            win_interval(values)
            if won
            else mean_interval(np.array(values), within=self.possible_returns)
        )
        return {
            "mean": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "iqm": interquartile_mean(np.array(values)),
            "episodes": len(values),
        }

    def row(self) -> dict[str, float]:
        """Returns the row of metrics for the metric store."""
        score, ends = self.score(), [end for pairing in self.pairings for end in pairing.ends]
        low, high = finite_bounds(score["mean"], score["low"], score["high"])
        row: dict[str, float] = {
            "eval:clock/env_steps": self.version,
            "eval:episode/return": score["mean"],
            "eval:episode/low": low,
            "eval:episode/high": high,
            "eval:episode/iqm": score["iqm"],
            "eval:episode/count": score["episodes"],
            "eval:episode/length": float(np.mean([end.length for end in ends])),
            "eval:rollout/faults": self.shortfall.left_out,
        }
        for role in self.roles:
            pairings = self._pairings(role)
            returns = [value for pairing in pairings for value in pairing.returns]
            row[f"eval/{role}:episode/return"] = float(np.mean(returns))
            role_ends = [end for pairing in pairings for end in pairing.ends]
            metrics = match_row(role_ends, self.outcomes, self.metric_keys)
            row |= {f"eval/{role}:{key}": value for key, value in metrics.items()}
            if self.outcomes:
                row |= _win_row(f"eval/{role}", [s for p in pairings for s in p.scores])
                for pairing in pairings:
                    if pairing.opponent:
                        row |= _win_row(f"eval/{role}/{pairing.opponent}", pairing.scores)
        return row

    def results(self, row: str, column: str) -> Results:
        """Returns the table of the matches against scripted opponents between the roles `row` and `column`;
        learners are named by their version."""
        table = Results(row, column)
        # Only matches against scripted opponents: these connect the versions of a run, and anchor them.
        for pairing in self.pairings:
            for end in pairing.ends if pairing.opponent else ():
                names = {role: str(self.version) for role in (row, column)}
                names |= {role: name for role, name in end.cast.items() if name != LEARNER}
                table.add(names[row], names[column], end.winner)
        return table

    def _pairings(self, role: str) -> Sequence[Pairing]:
        return [pairing for pairing in self.pairings if pairing.role == role]


class MatchEvaluator:
    def __init__(self, cfg: Config) -> None:
        self.cfg = cfg
        self.matches = open_matches(cfg, cfg.eval.n_envs)
        self.learners = learning_roles(cfg, list(self.matches.roles))

    def plan(self, seed_list: str, episodes: int | None = None) -> EpisodePlan:
        """Returns the matches of one evaluation, by seed. `seed_list`: `eval` or `confirm` (held out);
        `episodes` replaces the config's number."""
        cfg = self.cfg.eval
        count = episodes or (cfg.confirm_episodes if seed_list == "confirm" else cfg.episodes)
        seeds = tuple(episode_seed(cfg.seed, seed_list, i) for i in range(count))
        return EpisodePlan(seeds, deterministic=cfg.deterministic, timeout=cfg.timeout)

    def evaluate(
        self,
        policies: Mapping[str, Policy],
        version: int,
        plan: EpisodePlan,
        progress: EvaluationProgress | None = None,
        run_dir: Path | None = None,
    ) -> tuple[MatchEvaluation, list[MatchTrace]]:
        """Plays every learner (`policies`: role -> policy) against every scripted opponent, on the seeds of
        `plan` each. Returns the result, and the traces of the first TRACES_PER_PAIRING matches of each
        pairing, or of all matches if `traces.trajectories` is on.

        `version`: env steps of the policies. `run_dir` is the run's directory, which stores the players from
        other runs. The result has no pairings if some pairing finished no match in time; EnvError is raised
        if faults were the cause.
        """
        learners = {role: self.learner_player(policies[role], plan) for role in self.learners}
        pairs, progress = self._pairs(learners, run_dir), progress or EvaluationProgress()
        progress.total = len(pairs) * len(plan.seeds)
        played: list[list[PlayedMatch]] = [[] for _ in pairs]
        # In rounds over all pairings, so that they have equally many matches whenever time is up.
        for seeds in self._rounds(plan):
            for (_, _, players, names), finished in zip(pairs, played, strict=True):
                finished += self._play(
                    players, names, replace(plan, seeds=seeds), version, progress
                )
            if progress.timed_out or progress.exceeds(plan.max_seconds):
                break
        pairings: list[Pairing] = []
        for (role, opponent, _, _), finished in zip(pairs, played, strict=True):
            returns = tuple(float(np.mean(match.returns[role])) for match in finished)
            ends = tuple(match.end for match in finished)
            pairings.append(Pairing(role, opponent, ends, returns))
        if not all(pairing.ends for pairing in pairings):
            raise_fault(self.matches.name, progress.left_out)
            pairings = []  # the timeout came before every pairing had finished a match
        # For the shortfall, every pairing has the seeds of the plan.
        whole_plan = replace(plan, seeds=plan.seeds * len(pairs))
        evaluation = MatchEvaluation(
            version,
            tuple(pairings),
            dict(self.matches.outcomes),
            self.cfg.info_keys(),
            Shortfall.from_plan(whole_plan, progress, sum(map(len, played)), ()),
            possible_returns=self.cfg.possible_returns(),
        )
        kept = None if self.cfg.traces.trajectories else TRACES_PER_PAIRING
        return evaluation, [match.trace for finished in played for match in finished[:kept]]

    def _rounds(self, plan: EpisodePlan) -> list[tuple[int, ...]]:
        """Splits the seeds into rounds, after each of which a plan with a time limit may end. Without a time
        limit there is one."""
        if plan.max_seconds is None:
            return [plan.seeds]
        size = max(plan.min_episodes, self.matches.n_matches)
        return [plan.seeds[at : at + size] for at in range(0, len(plan.seeds), size)]

    def learner_player(self, policy: Policy, plan: EpisodePlan) -> Player:
        """Returns a player that acts by the policy: its mode, or a sample, as the plan asks."""
        return greedy_player(policy) if plan.deterministic else sampling_player(policy)

    def _pairs(
        self, learners: Mapping[str, Player], run_dir: Path | None
    ) -> list[tuple[str, str, dict[str, Player], dict[str, str]]]:
        """Returns a tuple (role, opponent's name, players by role, their names by role) per pairing.
        `learners`: role -> player; `run_dir`: see `evaluate`. The opponent's name is empty if the learners
        play each other."""
        roles = list(self.matches.roles)
        pairs: list[tuple[str, str, dict[str, Player], dict[str, str]]] = []
        for role, player in learners.items():
            others = [other for other in roles if other != role]
            playable = others and self._have_scripts(others)
            scripts = self.cfg.league.opponents if playable else ()
            for name in scripts:
                opponents = {
                    other: scripted_player(find_scripted(self.matches, other, name))
                    for other in others
                }
                names = {role: LEARNER, **dict.fromkeys(others, f"{SCRIPTED}{name}")}
                pairs.append((role, name, {role: player, **opponents}, names))
            if not scripts:
                # A role that does not learn is played by the last opponent of its ladder.
                fixed = {
                    other: self.cfg.roles[other].plays[-1]
                    for other in roles
                    if other not in learners
                }
                opponents = {
                    other: self._fixed_player(other, name, run_dir) for other, name in fixed.items()
                }
                names = dict.fromkeys(roles, LEARNER) | fixed
                pairs.append((role, "", {**learners, **opponents}, names))
        return pairs

    def _fixed_player(self, role: str, name: str, run_dir: Path | None) -> Player:
        """Returns the player `name` of a role that does not learn. Raises RunError if it is a policy of
        another run, whose copy is in `run_dir`, and that is None."""
        if (builtin := builtin_player(self.matches, role, name)) is not None:
            return builtin
        if run_dir is None:
            raise RunError(f"{name}, which plays {role}, is stored in a run, but no run was given")
        guest = Snapshots.guest_name(role, len(self.cfg.roles[role].plays) - 1)
        return sampling_player(Snapshots(run_dir).read(guest, role))

    def _have_scripts(self, roles: Sequence[str]) -> bool:
        """True if the environment has scripted players for all of these roles."""
        return all(self.matches.scripted.get(role) for role in roles)

    def _play(
        self,
        players: Mapping[str, Player],
        names: Mapping[str, str],
        plan: EpisodePlan,
        version: int,
        progress: EvaluationProgress,
    ) -> list[PlayedMatch]:
        """Plays the seeds of `plan` between these players (`names`: role -> name) and returns the finished
        matches. Matches with a fault are retried or, unless `env.on_fault` is `restart`, raise EnvError."""
        retries = self.cfg.env.on_fault == "restart"
        played = play_matches(
            self.matches,
            players,
            names,
            plan.seeds,
            version=version,
            attempts=self.cfg.env.max_faults if retries else 1,
            progress=progress,
            timeout=plan.timeout,
        )
        if not retries:
            raise_fault(self.matches.name, progress.left_out)
        return played

    def close(self) -> None:
        self.matches.close()


def learning_roles(cfg: Config, roles: Sequence[str]) -> list[str]:
    """Returns the roles that learn: those for which the config names no other player."""
    return [role for role in roles if role not in cfg.roles or cfg.roles[role].is_learner]


def win_interval(scores: Sequence[float]) -> Interval:
    """Returns the win rate with its 95 % Wilson interval, which is accurate also near 0 and 1. `scores`: 1
    won, 1/2 drawn, 0 lost, one per match."""
    return wilson_interval(sum(scores), len(scores))


def _win_row(scope: str, scores: Sequence[float]) -> dict[str, float]:
    """Returns the metrics of a win rate and its interval, named `SCOPE:match/...`; none without scores (1
    won, 1/2 drawn, 0 lost, one per match with a known winner)."""
    if not scores:
        return {}
    rate = win_interval(scores)
    return {
        f"{scope}:match/win_rate": rate.mean,
        f"{scope}:match/win_low": rate.low,
        f"{scope}:match/win_high": rate.high,
    }
