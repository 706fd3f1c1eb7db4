"""Incident bundles: everything needed to reproduce an update that was rolled back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from gymnast.collect.collector import ROLE
from gymnast.config.section import Hyperparameters
from gymnast.rollout import Rollout
from gymnast.runs import checkpoint, layout
from gymnast.runs.run import Run
from gymnast.training.session import POLICY, Session
from gymnast.training.transaction import Incident


def write_incident_bundle(
    run: Run,
    session: Session,
    role: str,
    incident: Incident,
    rollout: Rollout,
    hparams: Hyperparameters,
) -> Path:
    """Writes the rollout, the policy before the update and the hyperparameters `hparams` to a directory in
    the format of a checkpoint, under `incidents/` (`incidents/ROLE/` with several roles); returns its
    path."""
    learner, folder, before = (
        session.learners[role],
        layout.INCIDENTS.path(run.path),
        incident.before,
    )
    return checkpoint.write(
        folder if role == ROLE else folder / role,
        session.clock.env_steps,
        tensors={
            "rollout": rollout.arrays(),
            POLICY: before.policy,
            # Replay memory and shaping state are not part of the snapshot, and are stored as they are now.
            "learner": {**learner.state()[0], **before.arrays},
        },
        documents={
            "incident": {
                "role": role,
                "problem": incident.problem,
                "dropped": incident.dropped,
                "clock": session.clock.counters(),
            },
            "policy": learner.policy.spec(),
            "values": {name: str(value) for name, value in asdict(hparams).items()},
        },
        reason="update rolled back",
    )
