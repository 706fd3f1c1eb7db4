"""The metrics of an evaluation, computed from trajectories alone, next to what training recorded.

The formulas are those of evaluation (`Evaluation.row`, `MatchEvaluation.row`); returns, lengths, winners,
outcomes and distances come from the steps of the trajectories.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.collect.matches import MatchEnd
from gymnast.config.config import Config
from gymnast.config.sections.league import LEARNER
from gymnast.evaluation.evaluate import Evaluation
from gymnast.runs.curve import read_evaluation_rows
from gymnast.runs.run import Run
from gymnast.selfplay.evaluation import MatchEvaluation, Pairing
from gymnast.selfplay.players import SCRIPTED
from gymnast.text.formatting import count_noun
from gymnast.trajectories.record import RebuiltEvaluation, RebuiltMetric
from gymnast.trajectories.trajectory import Trajectory

Row = Mapping[str, float]
DISTANCE = "distance"
"""Key of the match metric that is computed from the distances of a trajectory."""
METRIC_KEYS = {f"env/{DISTANCE}": DISTANCE}
"""Metric -> key, for trajectories whose run is not known."""
_INTERVAL = ("eval:episode/low", "eval:episode/high")
NOT_REBUILT = ("clock/env_steps", "rollout/faults")
"""Metrics of an evaluation that do not follow from its trajectories."""


def rebuild(trajectories: Sequence[Trajectory], run: Run | None) -> RebuiltEvaluation:
    """Returns the metrics of the trajectories of one evaluation. `run`: the run that they belong to, if it is
    known; what it recorded is added for comparison, and no value is taken from it."""
    first = trajectories[0]
    rebuilt = rebuilt_row(trajectories, run)
    recorded = {} if run is None else _recorded(run, first.kind, first.version)
    missing = _missing(rebuilt, recorded)
    comparable = {} if missing else recorded
    metrics = [
        RebuiltMetric(
            name=f"{first.kind}{name.removeprefix('eval')}",
            value=value,
            recorded=recorded.get(name),
            equal=value == comparable[name] if name in comparable else None,
        )
        for name, value in sorted(rebuilt.items())
    ]
    return RebuiltEvaluation(
        run=first.run,
        kind=first.kind,
        version=first.version,
        episodes=len(trajectories),
        stored_all=not missing if recorded else None,
        note=missing,
        metrics=tuple(metrics),
    )


def rebuilt_row(trajectories: Sequence[Trajectory], run: Run | None) -> dict[str, float]:
    """Returns the row of an evaluation with these trajectories, named as in the rows of a run. `run` only
    says how its metrics and tasks are called."""
    cfg = None if run is None else run.config()
    if trajectories[0].is_match:
        row = _matches_row(trajectories, cfg)
    else:
        evaluation = Evaluation(
            version=trajectories[0].version,
            returns=tuple(math.fsum(t.agents[0].reward) for t in trajectories),
            lengths=tuple(len(t.agents[0].reward) for t in trajectories),
            seeds=tuple(t.seed or 0 for t in trajectories),
            exact=False,
            tasks=() if cfg is None else tuple(cfg.env.tasks),
            possible_returns=cfg and cfg.possible_returns(),
            info_metrics=tuple(t.numbers for t in trajectories),
            truncated=tuple(t.outcome == "truncated" for t in trajectories),
        )
        row = evaluation.row()
        if cfg is not None and cfg.eval.starts == "all":
            # Whether every start was played once, which makes the mean exact, is not in a trajectory.
            row = {key: row[key] for key in row if key not in _INTERVAL}
    return {key: value for key, value in row.items() if not key.endswith(NOT_REBUILT)}


def _matches_row(trajectories: Sequence[Trajectory], cfg: Config | None) -> Row:
    """Returns the row of an evaluation that consists of these matches. `cfg`: the config of their run."""
    metric_keys = METRIC_KEYS if cfg is None else cfg.info_keys()
    # Without scripted opponents, the same match is played, and stored, once per learning role.
    matches = list({(t.seed, *t.cast.items()): t for t in reversed(trajectories)}.values())[::-1]
    if any(t.seed is None for t in trajectories):
        matches = list(trajectories)
    learn = {role for t in matches for role, player in t.cast.items() if player == LEARNER}
    pairs: dict[tuple[str, str], list[Trajectory]] = {}
    for one in matches:
        for role, player in one.cast.items():
            if player == LEARNER or not learn:
                pairs.setdefault((role, _opponent(one, role)), []).append(one)
    roles = [role for role in matches[0].cast if any(role == r for r, _ in pairs)]
    pairings = tuple(
        Pairing(role, opponent, tuple(map(_match_end, found)), _returns(role, found))
        for of_role in roles
        for (role, opponent), found in pairs.items()
        if role == of_role
    )
    outcomes = {t.outcome: t.winner or "" for t in matches if t.outcome is not None}
    evaluation = MatchEvaluation(
        matches[0].version,
        pairings,
        outcomes,
        dict(metric_keys),
        possible_returns=cfg and cfg.possible_returns(),
    )
    return evaluation.row()


def _returns(role: str, matches: Sequence[Trajectory]) -> tuple[float, ...]:
    """Returns the return of each match, averaged over the role's agents."""
    return tuple(float(np.mean(t.rewards(role).sum(axis=0))) for t in matches)


def _match_end(t: Trajectory) -> MatchEnd:
    numbers = dict(t.numbers)
    if t.distance is not None:
        # One after the other, as the environment adds them: another order rounds differently.
        numbers[DISTANCE] = float(np.cumsum(t.distance)[-1]) / t.length
    return MatchEnd(dict(t.cast), t.outcome or "", t.winner, t.length, numbers)


def _opponent(t: Trajectory, role: str) -> str:
    """Returns the name of the scripted player that has all other roles; empty if there is none."""
    others = {player for other, player in t.cast.items() if other != role}
    player = others.pop() if len(others) == 1 else ""
    return player.removeprefix(SCRIPTED) if player.startswith(SCRIPTED) else ""


def _recorded(run: Run, kind: str, version: int) -> Row:
    """Returns what training recorded about an evaluation, by the same names; empty if nothing."""
    if kind == "eval":
        rows = [r for r in read_evaluation_rows(run) if r.get("eval:clock/env_steps") == version]
        if rows:
            return rows[-1]
    info = run.info
    # The start of a run has a score but no row.
    scores = {
        "eval": info.get("start_score"),
        "confirm": info["score"] if info.get("confirmed") else None,
    }
    score = scores.get(kind)
    if score is None:
        return {}
    names = {"return": "mean", "low": "low", "high": "high", "iqm": "iqm", "count": "episodes"}
    fields = dict(score)
    is_same = fields["env_steps"] == version
    return {f"eval:episode/{k}": float(fields[v]) for k, v in names.items()} if is_same else {}  # pyright: ignore[reportArgumentType]


def _missing(rebuilt: Row, recorded: Row) -> str:
    """Returns a sentence about episodes that were evaluated but have no trajectory; empty if there are
    none."""
    # With roles, eval:episode/count has only the matches of the weaker role with a known winner.
    of_roles = [key for key in recorded if key.endswith(":match/count")]
    counts = of_roles or [key for key in recorded if key == "eval:episode/count"]
    parts: list[str] = []
    for key in counts:
        found, total = rebuilt.get(key, 0), recorded[key]
        if found != total and of_roles:
            role = key.partition(":")[0].partition("/")[2]
            parts.append(f"{found:,.0f} of {count_noun(total, 'match', 'matches')} of the {role}")
        elif found != total:
            parts.append(f"{found:,.0f} of {count_noun(total, 'episode')}")
    if not parts:
        return ""
    return f"only {' and '.join(parts)} were stored, so the values differ from the recorded ones"
