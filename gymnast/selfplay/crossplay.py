"""Matches between players of any runs on fixed seeds: a chosen cast, or everyone against everyone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from gymnast.collect.matchmaking import LEARNER, Player
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.config.resolve import apply_overrides
from gymnast.envs.backends.backend import raise_fault
from gymnast.errors import RunError, UsageError
from gymnast.evaluation.episodes import EpisodePlan, EvaluationProgress
from gymnast.evaluation.progress import ProgressCallback, ThrottledReport
from gymnast.evaluation.record import MatchScore, RoleScore
from gymnast.evaluation.rescore import find_checkpoint, load_policy
from gymnast.league import stored_cross_play
from gymnast.league.results import STEP, Results, match_score
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import wilson_interval
from gymnast.runs import layout
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.run import Run
from gymnast.selfplay.evaluation import MatchEvaluator
from gymnast.selfplay.play import PlayedMatch, play_matches
from gymnast.selfplay.players import SCRIPTED, builtin_player
from gymnast.selfplay.rows import match_row
from gymnast.selfplay.snapshots import Snapshots


class Tournament:
    """Plays matches in the environment of one run."""

    def __init__(
        self,
        run: Run,
        saved: Checkpoint,
        cfg: Config,
        runs_dir: Path | None,
        report: ProgressCallback = lambda *_: None,
    ) -> None:
        """`saved`: the checkpoint of `run` that plays as `learner`; `cfg`: the run's config with changes for
        these matches; `runs_dir`: where other runs are looked up (None: the default); `report` is called with
        the progress of the matches between one set of players. Raises RunError if the environment has a
        single agent."""
        if not is_multi_agent(cfg.env.id):
            what = f"the environment of {run.id}, {cfg.env.id}, has a single agent and no roles"
            raise RunError(what, fix="use gymnast eval without roles")
        self.run, self.saved, self.cfg, self.runs_dir = run, saved, cfg, runs_dir
        self.report = report
        self.evaluator = MatchEvaluator(cfg)
        self.matches = self.evaluator.matches
        self.roles = list(self.matches.roles)

    def player(self, role: str, name: str, plan: EpisodePlan) -> Player:
        """Returns the player with this name: `learner` (the run's checkpoint), `scripted:NAME`, `random`,
        `step:N` (a past self), or `RUN[:CHECKPOINT]` (a policy of another run). `plan` decides whether
        policies play their mode or sample. Raises RunError or ConfigError if there is no such player."""
        if (builtin := builtin_player(self.matches, role, name)) is not None:
            return builtin
        return self.evaluator.learner_player(self._policy(role, name), plan)

    def _policy(self, role: str, name: str) -> Policy:
        """Returns the policy of `role` that `name` refers to: `step:N`, `learner` or `RUN[:CHECKPOINT]`.
        Raises RunError if that has no policy for the role."""
        if name.startswith(STEP):
            return Snapshots(self.run.path).read(int(name.removeprefix(STEP)), role)
        run, saved = (
            (self.run, self.saved) if name == LEARNER else find_checkpoint(name, self.runs_dir)
        )
        if role not in saved.document("policy"):
            roles = ", ".join(saved.document("policy"))
            what = f"{run.id} has no policy for {role} (it has: {roles})"
            raise RunError(what, fix=f"name another run, or {role}=scripted:medium")
        return load_policy(saved, role)

    def learners_cast(self) -> dict[str, str]:
        """Returns role -> name of its player, for matches between the policies of the checkpoint. A role that
        does not learn is played by the last player that the config names for it."""
        learned = self.saved.document("policy")
        return {
            role: LEARNER if role in learned else self.cfg.roles[role].plays[-1]
            for role in self.roles
        }

    def play(
        self,
        cast: Mapping[str, str],
        plan: EpisodePlan,
        progress: EvaluationProgress | None = None,
    ) -> list[PlayedMatch]:
        """Plays the matches of a plan between the players of `cast` (role -> name, for all roles) and returns
        the ones that finish in time. If none does, raises EnvError for a fault of the environment, else
        RunError. `progress`: instead of one that calls `report`."""
        players = {role: self.player(role, name, plan) for role, name in cast.items()}
        progress = progress or EvaluationProgress(
            on_step=ThrottledReport(self.report), total=len(plan.seeds)
        )
        played = play_matches(
            self.matches,
            players,
            cast,
            plan.seeds,
            version=self.saved.step,
            progress=progress,
            timeout=plan.timeout,
            max_length=plan.max_length,
        )
        if not played:
            raise_fault(self.matches.name, progress.left_out)
            late = ", ".join(progress.timed_out[:1])
            raise RunError(f"no match finished within eval.timeout: {late}")
        return played

    def close(self) -> None:
        self.matches.close()


def open_tournament(
    ref: str,
    *,
    seed: int | None = None,
    sampled: bool = False,
    n_matches: int | None = None,
    runs_dir: str | Path | None = None,
    report: ProgressCallback = lambda *_: None,
) -> Tournament:
    """Opens the environment of a run's checkpoint (see `find_checkpoint`). `seed`: instead of the run's
    `eval.seed`; `sampled` makes policies sample their actions; `n_matches` is the number of matches that are
    played at the same time, by default the run's `eval.n_envs`."""
    run, saved = find_checkpoint(ref, runs_dir)
    cfg = run.trusted_config()
    changes: dict[str, object] = {"eval.deterministic": False} if sampled else {}
    changes |= {} if seed is None else {"eval.seed": seed}
    changes |= {} if n_matches is None else {"eval.n_envs": n_matches}
    cfg = apply_overrides(cfg, changes)[0] if changes else cfg
    return Tournament(run, saved, cfg, Path(runs_dir) if runs_dir else None, report)


def play_cast(tournament: Tournament, cast: Mapping[str, str], episodes: int | None) -> MatchScore:
    """Plays matches between the players of `cast` (role -> name) and returns a summary; the run's own
    policies play roles that `cast` does not name. `episodes`: the number of matches; None for the config's.
    Raises UsageError for an unknown role."""
    unknown = [role for role in cast if role not in tournament.roles]
    if unknown:
        known = ", ".join(tournament.roles)
        raise UsageError(f"{tournament.cfg.env.id} has no role {unknown[0]} (known: {known})")
    full = {role: cast.get(role, LEARNER) for role in tournament.roles}
    plan = tournament.evaluator.plan("confirm", episodes)
    played = tournament.play(full, plan)
    return _summary(tournament, full, played, plan)


def play_opponents(tournament: Tournament, episodes: int | None) -> list[MatchScore]:
    """Plays each learned role against each scripted opponent, or, if there are none, all roles together.
    Returns a summary per pairing. `episodes`: the number of matches of each; None for the config's."""
    summaries: list[MatchScore] = []
    learned = [role for role in tournament.roles if role in tournament.saved.document("policy")]
    for role in learned:
        others = [other for other in tournament.roles if other != role]
        for name in tournament.cfg.league.opponents:
            if others and all(tournament.matches.scripted.get(other) for other in others):
                cast = dict.fromkeys(others, f"{SCRIPTED}{name}")
                summaries.append(play_cast(tournament, cast, episodes))
    return summaries or [play_cast(tournament, {}, episodes)]


def _summary(
    tournament: Tournament,
    cast: Mapping[str, str],
    played: Sequence[PlayedMatch],
    plan: EpisodePlan,
) -> MatchScore:
    """Returns the summary of the matches of one cast (role -> player's name). `played`: the finished ones of
    the matches in `plan`."""
    roles: dict[str, RoleScore] = {}
    for role in tournament.roles:
        scores = [match_score(role, match.end.winner) for match in played]
        known = [points for points in scores if points is not None]
        returns = [float(np.mean(match.returns[role])) for match in played]
        has_outcomes = bool(tournament.matches.outcomes)
        rate = wilson_interval(sum(known), len(known))
        roles[role] = RoleScore(
            plays=cast[role],
            mean_return=float(np.mean(returns)),
            win_rate=rate.mean if has_outcomes else None,
            low=rate.low if has_outcomes else None,
            high=rate.high if has_outcomes else None,
        )
    ends = [match.end for match in played]
    row = match_row(ends, tournament.matches.outcomes, tournament.cfg.info_keys())
    missing = len(plan.seeds) - len(played)
    why = f"{missing} had a fault or did not finish within eval.timeout"
    return MatchScore(
        run=tournament.run.id,
        env=tournament.cfg.env.id,
        checkpoint=tournament.saved.step,
        episodes=len(played),
        planned=len(plan.seeds),
        missing=why if missing else "",
        deterministic=plan.deterministic,
        roles=roles,
        numbers=row,
        outcomes=tuple(end.outcome for end in ends),
        seeds=tuple(match.seed for match in played),
    )


def cross_play(
    tournament: Tournament,
    *,
    max_snapshots: int,
    episodes: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Results:
    """Plays the past selves (at most `max_snapshots`) and scripted players of one role against those of the
    other, `episodes` matches per pair, and returns the table of results. `progress` is called with (pairs
    done, all pairs).

    Results are stored in the run's directory, and pairs that were played before are not played again. The
    environment must have two roles.
    """
    row, column = tournament.roles
    layout.LEAGUE.path(tournament.run.path).mkdir(exist_ok=True)
    entrants = {role: _entrants(tournament, role, max_snapshots) for role in (row, column)}
    plan = tournament.evaluator.plan("confirm", episodes)
    # Results depend on these settings, so each combination has results of its own.
    key = f"{tournament.cfg.eval.seed}, {episodes}, {'greedy' if plan.deterministic else 'sampled'}"
    stored = stored_cross_play.load_cells(tournament.run.path)
    cells = stored.setdefault(key, {})
    pairs = [(a, b) for a in entrants[row] for b in entrants[column]]
    results = Results(row, column)
    for done, (a, b) in enumerate(pairs):
        progress(done, len(pairs))
        if f"{a} {b}" not in cells:
            winners = [p.end.winner for p in tournament.play({row: a, column: b}, plan)]
            cells[f"{a} {b}"] = [(w, winners.count(w)) for w in dict.fromkeys(winners)]
            # Written after every pair: a long cross-play can be interrupted and continued.
            stored_cross_play.save_cells(tournament.run.path, stored)
        for winner, count in cells[f"{a} {b}"]:
            results.add(a, b, winner, count)
    progress(len(pairs), len(pairs))
    return results


def _entrants(tournament: Tournament, role: str, max_snapshots: int) -> list[str]:
    """Returns at most `max_snapshots` past selves, evenly spread over the run with the first and the last
    included, and then the scripted players."""
    names = [f"{SCRIPTED}{name}" for name in tournament.matches.scripted.get(role, {})]
    if role in tournament.saved.document("policy"):
        steps = Snapshots(tournament.run.path).steps()
        count = min(max_snapshots, len(steps))
        chosen = np.unique(np.linspace(0, len(steps) - 1, count).round().astype(int))
        names = [f"{STEP}{steps[i]}" for i in chosen] + names
    return names
