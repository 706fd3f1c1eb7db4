"""The result of `gymnast tune envs`, as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SpeedSample:
    """The speed of one backend with one number of copies."""

    backend: str
    """Name of the backend."""
    n_envs: int
    """Number of environment copies."""
    per_second: float = 0.0
    """Env steps per second of wall-clock time."""
    per_cpu_second: float = 0.0
    """Env steps per CPU second of this process and its workers."""
    env_share: float = 0.0
    """Fraction of the time spent in the environments; the rest is inference."""
    restores: bool = False
    """Whether a resumed run continues its unfinished episodes, however long they are."""
    seconds: float = 0.0
    """Duration of the measurement."""
    error: float = 0.0
    """Relative standard error of the speed."""
    refused: str = ""
    """Reason why this backend cannot be used; empty if it can."""


@dataclass(frozen=True)
class ProbeResult:
    """Rewards and observations under random actions."""

    between: float | None
    """Mean steps of a copy between two informative rewards; None if there was none."""
    env_steps: int
    """Number of env steps that were probed."""
    diversity: float
    """Difference between copies, from 0 (the same observations) to 1 (independent)."""


@dataclass(frozen=True)
class TuningResult:
    """The measurements, the best of them, and the advice that follows."""

    target: str
    """The preset, as `ENV:VARIANT`."""
    cores: int
    """Number of cores that can be used."""
    samples: tuple[SpeedSample, ...]
    """All measurements."""
    best: SpeedSample | None
    """The best measurement; None if no backend can be used."""
    signal: ProbeResult
    """Rewards and observations of the environment."""
    patch: dict[str, dict[str, int | str]]
    """Settings of the best measurement: section -> key -> value."""
    advice: tuple[str, ...]
    """Sentences about the measurements."""
