"""The measurements of `gymnast tune` as tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.config.families import is_multi_agent
from gymnast.config.resolve import resolve
from gymnast.errors import UsageError
from gymnast.progress import ProgressCallback
from gymnast.training.lifecycle.prepare import prepare
from gymnast.tune.copies import BACKENDS, COPIES, tune_copies
from gymnast.tune.record import ScaleResult, TuningResult
from gymnast.tune.scale import tune_scale as measure_scale


def tune_envs(
    target: str,
    *,
    backends: Sequence[str],
    copies: Sequence[int],
    seconds: float,
    overrides: Mapping[str, object],
    progress: ProgressCallback,
) -> TuningResult:
    """Measures backends and numbers of copies, see `api.tune_envs`."""
    if unknown := [name for name in backends if name not in BACKENDS]:
        raise UsageError(
            f"unknown backend {unknown[0]}", fix=f"the backends are {', '.join(BACKENDS)}"
        )
    if is_multi_agent(resolve(target).config.env.id):
        problem = f"{target} has several roles, and matches have only one backend"
        fix = "compare speed/env_steps of short runs: gymnast train --set env.n_envs=N"
        raise UsageError(problem, fix=fix)
    prepared = prepare(target, overrides)
    prepared.collector.close()  # only its config is needed; every sample opens its own environments
    resolved = prepared.resolved
    return tune_copies(
        resolved.preset,
        resolved.config,
        backends=backends or BACKENDS,
        copies=copies or COPIES,
        seconds=seconds,
        on_progress=progress,
    )


def tune_scale(
    target: str, *, seconds: float, overrides: Mapping[str, object], progress: ProgressCallback
) -> ScaleResult:
    """Measures what more hosts would change, see `api.tune_scale`."""
    if is_multi_agent(resolve(target).config.env.id):
        raise UsageError(f"{target} has several roles, and matches are collected in one process")
    prepared = prepare(target, overrides)
    prepared.collector.close()  # only its config is needed
    resolved = prepared.resolved
    return measure_scale(resolved.preset, resolved.config, seconds, progress)
