"""The reference that the settings of a run are compared with: its preset, and the stored results of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gymnast.errors import GymnastError
from gymnast.insight import results
from gymnast.metrics.checks.allowed_changes import concerns_learning, size

COMPARED = ("algo", "policy", "normalize", "shaping", "env", "collect")
"""Config sections that affect learning; how a run is scored, saved and stopped is not compared."""
IGNORED = (
    *("env.backend", "env.workers", "env.timeout", "env.on_fault", "env.max_faults"),
    *("collect.on", "collect.hosts", "collect.address", "collect.inference"),
    *("collect.timeout", "collect.wait"),
)
"""Settings of environments and hosts that do not affect learning."""
FAR = 1.0
"""Distance from the preset, in powers of ten, at which a setting is grossly wrong."""
UNRELATED = 0.9
"""Distance of two values that have no ratio, in powers of ten."""


@dataclass(frozen=True)
class Reference:
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    """Dotted config key -> plain value of the preset."""
    solved_env_steps: Sequence[int] = ()
    """Env steps of the stored runs of the preset that solved the task."""
    name: str = "preset"
    """`preset`, or `default` if there is no preset."""

    @property
    def has_solved_runs(self) -> bool:
        """Whether stored runs with these settings solved the task."""
        return bool(self.solved_env_steps)

    def differences(self, settings: Mapping[str, object]) -> list[Difference]:
        """Returns the settings that differ from the preset, the largest difference first.

        Without a preset, runs usually differ from the defaults a little: only settings that are at least ten
        times as large or small are returned.
        """
        if not self.settings:
            return []
        min_distance = 0.0 if self.name == "preset" else FAR
        compared = [
            key for key in settings if key.partition(".")[0] in COMPARED and key not in IGNORED
        ]
        differences = [
            Difference(key, settings[key], self.settings.get(key, "unset"), self.name)
            for key in compared
            if settings[key] != self.settings.get(key, "unset")
        ]
        differences = [one for one in differences if one.distance >= min_distance]
        return sorted(differences, key=lambda one: -one.distance)


@dataclass(frozen=True)
class Difference:
    key: str
    value: object
    reference_value: object
    """The value of the preset, or the default."""
    name: str
    """`preset` or `default`."""

    @property
    def concerns_learning(self) -> bool:
        return concerns_learning(self.key)

    @property
    def distance(self) -> float:
        """Distance in powers of ten if both are numbers or schedules above 0, else UNRELATED."""
        value, reference = size(self.value), size(self.reference_value)
        if value is None or reference is None or value[0] <= 0 or reference[0] <= 0:
            return UNRELATED
        return abs(math.log10(_horizon(self.key, value[0]) / _horizon(self.key, reference[0])))

    def __str__(self) -> str:
        return f"{self.key} is {self.value} ({self.name}: {self.reference_value})"


def reference_for(preset: str) -> Reference:
    """Returns the reference of a preset; empty if the preset no longer exists."""
    from gymnast.config.resolve import resolve_without_code
    from gymnast.config.serialize import flat_values

    try:
        resolved = resolve_without_code(preset)
    except GymnastError:
        return Reference()
    if not resolved.has_preset:
        return Reference(flat_values(resolved.config), name="default")
    return Reference(flat_values(resolved.config), _solved_after(preset))


def _solved_after(preset: str) -> list[int]:
    try:
        stored = results.load_result(preset)
    except GymnastError:
        return []
    return [seed["env_steps"] for seed in stored["seeds"] if seed["solved"]]


def _horizon(key: str, value: float) -> float:
    """Converts a discount factor to its horizon in steps, so that values near 1 compare well. Other values
    are returned as they are."""
    # 0.99 and 0.999 differ by 1 %, but their horizons (100 and 1,000 steps) by a factor of 10.
    discounts = ("algo.gamma", "algo.gae_lambda")
    return 1 / max(1 - value, 1e-4) if key in discounts and value <= 1 else value
