"""Monitored runs that tests make up, without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.monitor.monitored_run import MatchTable, MonitoredRun


def made_run(
    env_steps: Sequence[float],
    columns: Mapping[str, Sequence[float]],
    *,
    run: str = "run-1",
    approach: str = "selfplay",
    roles: tuple[str, ...] = ("seeker", "hider"),
    env: str = "tag",
    matches: MatchTable | None = None,
) -> MonitoredRun:
    """Returns a run with these columns, which have one value per row."""
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    steps = np.asarray(env_steps, dtype=np.float64)
    return MonitoredRun(
        approach=approach,
        run=run,
        name="",
        env=env,
        algo="ppo",
        seed=0,
        status="finished",
        roles=roles,
        sources=(f"{run}/metrics.db", f"{run}/matches/eval-000000000100.safetensors"),
        env_steps=steps,
        columns={"clock/env_steps": steps, **arrays},
        matches=matches,
    )
