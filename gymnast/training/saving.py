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
from gymnast.training.session import Session


def save(
    run: Run,
    session: Session,
    alerts: Alerts,
    *,
    row: Mapping[str, float],
    collected: Collected | None,
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
        texts=_tables(session, collected),
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


def _tables(session: Session, collected: Collected | None) -> dict[str, str]:
    """The rollout of this step, one CSV per role."""
    if collected is None:
        return {}
    algo, cfg = session.control.values(session.clock), session.cfg
    discount = {"gamma": getattr(algo, "gamma", 1.0), "lam": getattr(algo, "gae_lambda", 1.0)}
    tables: dict[str, str] = {}
    for role, rollout in collected.rollouts.items():
        policy = session.learners[role].policy
        facts = facts_as_shown(cfg.facts, cfg.env, policy.obs)
        name = "rollout.csv" if role == ROLE else f"rollout-{role}.csv"
        tables[name] = to_csv(step_table(rollout, policy.head, facts, **discount), TABLE_STEPS)
    return tables
