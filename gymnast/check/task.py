"""The checks of environments and presets as tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.check import environment, presets
from gymnast.check.environment import check_environment
from gymnast.check.finding import CheckReport, PresetOutcome, PresetsReport
from gymnast.check.matches.matches import check_matches
from gymnast.config.families import is_multi_agent
from gymnast.envs.build.defaults import resolve_for_spaces
from gymnast.progress import ProgressCallback


def check(
    target: str,
    *,
    steps: int | None,
    seed: int,
    overrides: Mapping[str, object],
    allow: Sequence[str],
    progress: ProgressCallback,
) -> CheckReport:
    """Checks one environment, see `api.check`."""
    resolved = resolve_for_spaces(target, overrides)
    run_checks = check_matches if is_multi_agent(resolved.config.env.id) else check_environment
    report = run_checks(
        resolved.preset,
        resolved.config,
        steps=steps or environment.STEPS,
        seed=seed,
        on_progress=progress,
    )
    return report.with_allowed(allow)  # changes the verdict, not which checks run


def check_all(
    targets: Sequence[str],
    *,
    steps: int | None,
    seed: int,
    allow: Sequence[str],
    progress: ProgressCallback,
) -> PresetsReport:
    """Tests presets, see `api.check_all`. The text of the progress is the outcome of the latest preset."""
    names = presets.preset_targets(targets)
    width = max(map(len, names))
    outcomes: list[PresetOutcome] = []
    progress(0, len(names))
    for outcome in presets.check_presets(
        names, steps=steps or presets.STEPS, seed=seed, allow=allow
    ):
        outcomes.append(outcome)
        progress(len(outcomes), len(names), outcome.line(width))
    return PresetsReport.of(outcomes)
