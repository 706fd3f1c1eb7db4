"""The results of `gymnast tune envs` and `tune scale`, as records. Needs neither torch nor gymnasium."""

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
    longer_rollouts: dict[str, dict[str, int | str]]
    """The same with rollouts that are long enough to contain rewards, which changes what is learned; empty if
    they are."""
    advice: tuple[str, ...]
    """Sentences about the measurements."""


@dataclass(frozen=True)
class HostsPrediction:
    """The predicted speed of a run on several hosts, each with a core of its own."""

    hosts: int
    """Number of hosts."""
    sync: float
    """Env steps per second with collect.mode=sync."""
    overlap: float | None
    """Env steps per second with collect.mode=overlap; None if the algorithm does not support it."""


@dataclass(frozen=True)
class ScaleResult:
    """The parts of the time of a run, and its predicted speed on more hosts."""

    target: str
    """The preset, as `ENV:VARIANT`."""
    cores: int
    """Number of cores that can be used."""
    env_steps: int
    """Env steps of a rollout."""
    env_seconds: float
    """Seconds of a rollout in the environments, in one process."""
    inference_seconds: float
    """Seconds of a rollout in the policy, in one process."""
    update_seconds: float
    """Seconds of an update."""
    message_seconds: float
    """Seconds per rollout and host: sending parameters, receiving and joining steps."""
    bytes_per_step: float
    """Bytes that a host sends per env step."""
    speed_here: float
    """Env steps per second in one process, updates included."""
    speed_central: float | None
    """Env steps per second of collecting with central inference on one local host; None if it cannot be
    used."""
    unevenness: float
    """The time of the slowest host divided by that of the median host."""
    predictions: tuple[HostsPrediction, ...]
    """Predicted speeds, by number of hosts."""
    patch: dict[str, dict[str, int | str]]
    """Recommended settings: section -> key -> value. Empty if one process is enough."""
    advice: tuple[str, ...]
    """Sentences about the measurements."""
