"""The parts of an observation at a step: its components by column of the table, and its image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gymnast.errors import UsageError
from gymnast.inspector.episode import OpenEpisode
from gymnast.spaces.observations import (
    CompositeObs,
    DiscreteObs,
    ImageObs,
    LeafObs,
    MultiDiscreteObs,
    Observation,
    leaves_of,
)
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.step_table import obs_columns

Array = np.ndarray


@dataclass(frozen=True)
class Place:
    """The place of a component in an observation."""

    field: str
    """Name of the entry of a Dict or Tuple; empty for any other observation."""
    index: int
    """Index in the flattened entry."""
    space: LeafObs
    """Space of the entry."""

    @property
    def is_category(self) -> bool:
        return isinstance(self.space, DiscreteObs | MultiDiscreteObs)

    def values(self, rows: Array) -> Array:
        """Returns this component of observations [B, ...], [B]."""
        return self._entry(rows)[:, self.index]

    def put(self, rows: Array, values: Array | float) -> None:
        """Writes this component into observations [B, ...], in place."""
        entry = rows[self.field] if self.field else rows
        entry[(slice(None), *np.unravel_index(self.index, self.space.shape))] = values

    def problem(self, value: float) -> str:
        """Returns why a value cannot be given to the policy; empty if it can."""
        if not np.isfinite(value):
            return "it is not finite"
        if isinstance(self.space, DiscreteObs | MultiDiscreteObs):
            first = np.ravel(self.space.first)[self.index]
            last = first + np.ravel(self.space.n)[self.index] - 1
            if value != int(value) or not first <= value <= last:
                return f"it is not a category from {first} to {last}"
        return ""

    def _entry(self, rows: Array) -> Array:
        return (rows[self.field] if self.field else rows).reshape(len(rows), -1)


def component_places(episode: OpenEpisode, space: Observation) -> dict[str, Place]:
    """Returns the place of each component that has a column in the table, by the name of the column. `space`:
    that of the policy's observations."""
    facts = facts_for_policy_obs(episode.config.facts, episode.config.env, space)
    labels = [component.name for component in facts.observations]
    # The columns of an observation whose components are their own indices show where each one is.
    leaves = leaves_of(space)
    found: dict[str, Place] = {}
    for name, leaf in leaves.items():
        if isinstance(leaf, ImageObs):
            continue
        indices = np.arange(int(np.prod(leaf.shape))).reshape(1, 1, *leaf.shape)
        if isinstance(space, CompositeObs):
            record = np.zeros((1, 1), [(name, indices.dtype, leaf.shape)])
            record[name] = indices
            indices = record
        columns = obs_columns("obs", indices, labels)
        found |= {column: Place(name, int(at[0]), leaf) for column, at in columns.items()}
    return found


def obs_at(episode: OpenEpisode, step: int) -> Array:
    """Returns a copy of the observation before a step, or of the final one, [1, ...]. Raises UsageError if it
    is not known."""
    if not 0 <= step <= len(episode.trace):
        what = f"there is no step {step} in an episode of {len(episode.trace)} steps"
        raise UsageError(what, at=episode.run.id, fix=f"use 0 to {len(episode.trace)}")
    if step >= len(episode.obs):
        what = f"the observation at step {step} is not known: {episode.replay.note}"
        raise UsageError(what, at=episode.run.id, fix="choose a step before the difference")
    return np.array(np.asarray(episode.obs[step : step + 1]))


def mask_at(episode: OpenEpisode, step: int) -> Array | None:
    """Returns the action mask before a step, [1, options]; None if there is none."""
    masks = episode.replay.masks
    return None if masks is None or step >= len(masks) else masks[step : step + 1]


@dataclass(frozen=True)
class ImagePart:
    """The image in an observation."""

    field: str
    """Name of the entry of a Dict or Tuple; empty if the observation is the image."""
    space: ImageObs

    def pixels(self, rows: Array) -> Array:
        """Returns the images of observations [B, ...] with channels last, a view [B, H, W, C]."""
        images = rows[self.field] if self.field else rows
        if images.ndim == 3:
            return images[..., None]
        return np.moveaxis(images, 1, -1) if self.space.channels == "first" else images


def image_part(space: Observation) -> ImagePart | None:
    """Returns the first image of an observation space; None if it has none."""
    for name, leaf in leaves_of(space).items():
        if isinstance(leaf, ImageObs):
            return ImagePart(name, leaf)
    return None
