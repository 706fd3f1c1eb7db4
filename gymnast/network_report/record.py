"""The report on a network, as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerReport:
    """One layer: its shapes, size, and activations on the batch."""

    name: str
    """Part and index, such as `actor.0`."""
    kind: str
    """Type of the layer, or name of the activation function."""
    input: tuple[int, ...]
    """Shape of one batch element of its input."""
    output: tuple[int, ...]
    """Shape of one batch element of its output."""
    parameters: int
    """Number of parameters."""
    bytes: int
    """Size of the parameters."""
    mean: float
    """Mean of the activations over batch and units."""
    std: float
    """Standard deviation of the activations over batch and units."""
    dead: float | None
    """Share of units on the flat side of their activation function for the whole batch; None if the layer
    has no such side."""
    saturated: float | None
    """Share of tanh values close to -1 or 1; None for other layers."""


@dataclass(frozen=True)
class ParameterReport:
    """One parameter and its gradient on the batch."""

    name: str
    """Name of the parameter, such as `actor.0.weight`."""
    shape: tuple[int, ...]
    """Shape of the parameter."""
    norm: float
    """L2 norm."""
    gradient_norm: float | None
    """L2 norm of the gradient; None without a gradient."""
    gradient_max: float | None
    """Largest absolute element of the gradient; None without a gradient."""


@dataclass(frozen=True)
class UniformityReport:
    """The distance of a policy from a uniform one on the first observations of episodes."""

    uniform: bool | None
    """True if it is close enough for an untrained policy; None if the actions are unbounded."""
    entropy: float | None = None
    """Mean entropy; None for Box actions."""
    max_entropy: float | None = None
    """Entropy of the uniform distribution; None for Box actions."""
    off_center: float | None = None
    """Largest distance of the mean from the center, as a share of the range; None unless the actions are a
    bounded Box."""


@dataclass(frozen=True)
class RoleNetwork:
    """The network of one role."""

    start: UniformityReport
    """The distance of the policy from a uniform one."""
    layers: tuple[LayerReport, ...]
    """The layers of shared part, actor and critic."""
    parameters: tuple[ParameterReport, ...]
    """The parameters with their gradients."""
    n_parameters: int
    """Number of parameters in total."""
    bytes: int
    """Size of all parameters."""
    has_gradient: bool
    """False if the algorithm takes no gradient step on the batch."""


@dataclass(frozen=True)
class NetworkReport:
    """The networks of an environment or a run, on one real batch."""

    target: str
    """The preset, or the run with its checkpoint."""
    fresh: bool
    """True if the networks are newly initialized, False if they come from a run."""
    env_steps: int
    """Number of env steps in the batch."""
    n_envs: int
    """Number of environment copies in which the batch was collected."""
    roles: dict[str, RoleNetwork]
    """Role -> its network; the only role of single-agent environments is `agent`."""
