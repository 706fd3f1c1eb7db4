"""Writing a checkpoint: the training state, the metrics row of its rollout, and the rollout as CSV."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict

from gymnast.collect.collector import ROLE, CollectResult
from gymnast.metrics.alerts import Alerts
from gymnast.runs import checkpoint
from gymnast.runs.match_trace import write_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import write_traces
from gymnast.runs.trace_budget import trim_to_budget
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.step_table import step_table, to_csv
from gymnast.training.session import Session
from gymnast.training.update import AcceptedUpdate


def save(
    run: Run,
    session: Session,
    alerts: Alerts,
    *,
    row: Mapping[str, float],
    collected: CollectResult | None,
    updates: Mapping[str, AcceptedUpdate],
    reason: str,
    progress: Mapping[str, object],
) -> None:
    """Writes a checkpoint durably, then prunes old checkpoints and traces. The best version and the one being
    evaluated are never pruned. `row`, `collected` and `updates` (role -> update) are those of the last
    rollout; `reason`: why it is saved, for the checkpoint; `progress`: the fields of
    `RunWriter.progress` for run.json."""
    step = session.clock.env_steps
    # Traces go first: after the checkpoint is written, resume deletes only traces of later versions.
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
        texts=_tables(session, collected, updates),
        reason=reason,
    )
    # run.json names a checkpoint only after it exists.
    scores = session.scores
    best = scores.best["env_steps"] if scores.best else None
    run.update(
        **progress,
        checkpoints={"best": best, "latest": step},
        score=scores.best,
        start_score=scores.start,
        alerts=[asdict(alert) for alert in alerts.all()],
    )
    # The pending version may turn out to be the best one (docs/decisions/0003).
    pending = scores.pending.version if scores.pending else None
    protect = {version for version in (best, pending) if version is not None}
    protect = {version for version in protect if scores.counts(version)}
    checkpoint.prune(run.path, session.cfg.checkpoint.keep, protect)
    trim_traces(run, session, protect)


def trim_traces(run: Run, session: Session, protect: Collection[int]) -> None:
    """Prunes traces to `traces.disk` bytes. The evaluations of `protect`ed versions stay complete."""
    limit = session.cfg.traces.disk
    if limit is not None:
        trim_to_budget(run.matches if session.league is not None else run.traces, limit, protect)


TABLE_STEPS = 4096
"""Maximum number of lines of the CSV in a checkpoint. A larger rollout is cut to its first copies."""


def _tables(
    session: Session, collected: CollectResult | None, updates: Mapping[str, AcceptedUpdate]
) -> dict[str, str]:
    """Returns file name -> CSV text, one per role: the rollout that the last update used, with
    advantages and returns. A role without an update gets the last rollout without those columns."""
    tables: dict[str, str] = {}
    for role, newest in (collected.rollouts if collected else {}).items():
        learner, update = session.learners[role], updates.get(role)
        rollout, targets = (update.rollout, update.targets) if update else (newest, None)
        facts = facts_for_policy_obs(session.cfg.facts, session.cfg.env, learner.policy.obs_space)
        name = "rollout.csv" if role == ROLE else f"rollout-{role}.csv"
        table = step_table(rollout, learner.policy.head, facts, targets, TABLE_STEPS)
        tables[name] = to_csv(table, TABLE_STEPS)
    return tables
