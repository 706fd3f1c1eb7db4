"""The head of Tuple and Dict actions: independent parts, each with a head of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.policy.discrete import sum_of
from gymnast.policy.head import Head
from gymnast.policy.layers import ExtraParameters
from gymnast.spaces.action import ActionSpec
from gymnast.spaces.composite_action import CompositeAction

Array = np.ndarray


@dataclass(frozen=True)
class Part:
    """One part of a composite head, and its columns in each array of the whole."""

    head: Head
    outputs: slice
    dist: slice
    elements: slice
    """Columns of actions and noise."""
    mask: slice
    extra: slice
    """Entries of the extra parameter; empty for a discrete part."""

    def action(self, action: Array) -> Array:
        """Returns the part's own actions from those of the whole, [..., E]."""
        spec, own = self.head.action_spec, action[..., self.elements]
        return own.astype(spec.dtype).reshape((*own.shape[:-1], *spec.shape))

    def noise(self, noise: Array) -> Array:
        """Returns the part's own noise from that of the whole, [..., E]."""
        own = noise[..., self.elements]
        return own.reshape((*own.shape[:-1], *self.head.action_spec.shape))


class Composite(Head):
    """Independent parts: log-probability, entropy and KL are sums over the parts.

    Outputs, distribution parameters, masks, noise and actions are those of the parts, concatenated. An action
    is one float32 per element, which is exact for options.
    """

    family = "composite"

    def __init__(self, space: CompositeAction, heads: Sequence[Head]) -> None:
        """`heads`: those of the leaves of the space."""
        self.space, self.parts = space, list[Part]()
        at: dict[str, int] = dict.fromkeys(("outputs", "dist", "elements", "mask", "extra"), 0)
        log_std = 0.0
        for head in heads:
            extra = sum(size for _, size, _ in head.extra_parameters)
            log_std = head.extra_parameters[0][2] if extra else log_std
            sizes = {
                "outputs": head.n_outputs,
                "dist": head.dist_size,
                "elements": len(head.space.elements),
                "mask": head.space.mask_width,
                "extra": extra,
            }
            columns = {name: slice(at[name], at[name] + size) for name, size in sizes.items()}
            self.parts.append(Part(head, **columns))
            at = {name: at[name] + size for name, size in sizes.items()}
        self.n_outputs, self.dist_size = at["outputs"], at["dist"]
        self.action_spec = ActionSpec((at["elements"],), np.dtype(np.float32))
        # one vector for the standard deviations of all Box parts
        self.extra_parameters: ExtraParameters = (
            (("log_std", at["extra"], log_std),) if at["extra"] else ()
        )
        self.has_logits = all(part.head.has_logits for part in self.parts)

    def dist_parameters(self, output: Array, extra: Array | None, mask: Array | None) -> Array:
        parameters = [
            part.head.dist_parameters(
                output[..., part.outputs],
                None if extra is None else extra[part.extra],
                None if mask is None else mask[..., part.mask],
            )
            for part in self.parts
        ]
        return np.concatenate(parameters, -1)

    def noise(self, stream: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Returns one number per element: uniform for options, normal for continuous elements."""
        return self._join(part.head.noise(stream, shape) for part in self.parts)

    def sample(self, dist: Array, noise: Array) -> Array:
        return self._join(
            part.head.sample(dist[..., part.dist], part.noise(noise)) for part in self.parts
        )

    def mode(self, dist: Array) -> Array:
        return self._join(part.head.mode(dist[..., part.dist]) for part in self.parts)

    def for_env(self, action: Array) -> Array:
        return self.measured(action)

    def measured(self, action: Array) -> Array:
        batch = action.shape[:-1]
        own = (part.head.measured(part.action(action)) for part in self.parts)
        return np.concatenate([x.reshape(*batch, -1).astype(np.float32) for x in own], -1)

    def logprob(self, dist: Array, action: Array) -> Array:
        return sum_of(
            [part.head.logprob(dist[..., part.dist], part.action(action)) for part in self.parts]
        )

    def entropy(self, dist: Array) -> Array:
        return sum_of([head.entropy(own) for head, own in self.split(dist)])

    def kl(self, old: Array, new: Array) -> Array:
        return sum_of(
            [part.head.kl(old[..., part.dist], new[..., part.dist]) for part in self.parts]
        )

    def probabilities(self, dist: Array) -> list[Array]:
        """Returns the probabilities of the options of each discrete element, [..., options]."""
        found: list[Array] = []
        for head, own in self.split(dist):
            for p in head.probabilities(own):
                # MultiBinary gives all its elements in one array
                found += [p] if p.ndim == dist.ndim else list(np.moveaxis(p, -2, 0))
        return found

    def split(self, dist: Array) -> list[tuple[Head, Array]]:
        return [(part.head, dist[..., part.dist]) for part in self.parts]

    def from_measured(self, measured: Array) -> Array:
        return self._join(part.head.from_measured(part.action(measured)) for part in self.parts)

    def continuous_columns(self, dist: Array, names: Sequence[str]) -> dict[str, Array]:
        columns: dict[str, Array] = {}
        for part in self.parts:
            columns |= part.head.continuous_columns(dist[:, part.dist], names[part.elements])
        return columns

    def _join(self, parts: Iterable[Array]) -> Array:
        """Returns actions or noise of the parts as one array [..., E]."""
        rows = [
            x.reshape(*x.shape[: x.ndim - len(part.head.action_spec.shape)], -1)
            for part, x in zip(self.parts, parts, strict=True)
        ]
        return np.concatenate(rows, -1, dtype=np.float32, casting="same_kind")
