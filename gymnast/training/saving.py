"""Writing checkpoints: the training state, the row of that very step and its rollout, as one whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict

from gymnast.collect.collector import ROLE, Collected
from gymnast.metrics.alerts import Alerts
from gymnast.policy.shown import facts_as_shown
from gymnast.runs import checkpoint
from gymnast.runs.match_trace import write_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import write_traces
from gymnast.runs.trace_budget import trim
from gymnast.steps import step_table, to_csv
from gymnast.training.learning import Update
from gymnast.training.session import Session


def save(
    run: Run,
    session: Session,
    alerts: Alerts,
    *,
    row: Mapping[str, float],
    collected: Collected | None,
    made: Mapping[str, Update],
    reason: str,
) -> None:
    """On the disk when this returns; then older ones go, save the best and the one being scored."""
    step = session.clock.env_steps
    if session.traces:
        file = run.traces / f"train-{step:012d}.safetensors"
        write_traces(file, session.traces, {"kind": "train", "version": step})
        session.traces.clear()
    if session.match_traces:
        file = run.matches / f"train-{step:012d}.safetensors"
        write_matches(file, session.match_traces, {"kind": "train", "version": step})
        session.match_traces.clear()
    checkpoint.write(
        run.checkpoints,
        step,
        tensors=session.tensors(),
        documents={
            "state": session.document(alerts),
            "policy": session.policy_specs(),
            "metrics": dict(row),
        },
        texts=_tables(session, collected, made),
        reason=reason,
    )
    scores = session.scores
    best = scores.best["env_steps"] if scores.best else None
    run.update(
        clocks=session.clock.counters(),
        checkpoints={"best": best, "latest": step},
        score=scores.best,
        alerts=[asdict(alert) for alert in alerts.all()],
    )
    pending = scores.pending.version if scores.pending else None
    protect = {version for version in (best, pending) if version is not None}
    checkpoint.prune(run.path, session.cfg.checkpoint.keep, protect)
    trim_traces(run, session, protect)


def trim_traces(run: Run, session: Session, protect: Collection[int]) -> None:
    """`protect`: versions whose evaluations stay whole."""
    most = session.cfg.traces.disk
    if most is not None:
        trim(run.matches if session.league is not None else run.traces, most, protect)


TABLE_STEPS = 4096
"""Lines of the CSV beside a checkpoint, at most: the first copies of a larger rollout."""


def _tables(
    session: Session, collected: Collected | None, made: Mapping[str, Update]
) -> dict[str, str]:
    """One CSV per role: of the rollout that its last update learned from; where there was none, of
    the last one, without the columns of learning."""
    tables: dict[str, str] = {}
    for role, newest in (collected.rollouts if collected else {}).items():
        learner, update = session.learners[role], made.get(role)
        rollout = update.collected if update else newest
        lesson = learner.lesson(update.given, update.values) if update else None
        facts = facts_as_shown(session.cfg.facts, session.cfg.env, learner.policy.obs)
        name = "rollout.csv" if role == ROLE else f"rollout-{role}.csv"
        tables[name] = to_csv(step_table(rollout, learner.policy.head, facts, lesson), TABLE_STEPS)
    return tables
