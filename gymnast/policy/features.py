"""Preprocesses observations into the features that a network reads: always one array, [B, ...].

Vectors are flattened and normalized, categories are counted from 0, and images stay bytes (the network
scales them). A record of several of these is passed to the network as its bytes.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from gymnast.images import Images, ObsArray
from gymnast.policy.normalize import ObsNormalizer
from gymnast.spaces.observations import (
    BoxObs,
    CompositeObs,
    DiscreteObs,
    ImageObs,
    MultiDiscreteObs,
    Observation,
)

Array = np.ndarray


class Features:
    """A function from observations [B, ...] of one space to the features that the network reads."""

    def __init__(self, space: Observation, normalizer: ObsNormalizer | None) -> None:
        self.space, self.normalizer = space, normalizer

    @overload
    def __call__(self, obs: Array) -> Array: ...
    @overload
    def __call__(self, obs: ObsArray) -> ObsArray: ...
    def __call__(self, obs: ObsArray) -> ObsArray:
        """Returns the features of observations [B, ...]: [B, n] for vectors, indices for categories, bytes
        for images and for records. `Images` are returned as they are."""
        if isinstance(obs, Images):  # only images are stored this way, and they stay bytes
            return obs
        match self.space:
            case BoxObs():
                flat = obs.reshape(len(obs), -1)
                return flat if self.normalizer is None else self.normalizer(flat)
            case CompositeObs():
                return self._record(obs, self.space)
            case _:
                return _indices(self.space, obs)

    def concat_vectors(self, obs: Array) -> Array:
        """Returns all vector entries of observations [B, ...], concatenated to [B, n], for the normalizer."""
        if not isinstance(self.space, CompositeObs):
            return obs.reshape(len(obs), -1)
        parts = [obs[name].reshape(len(obs), -1) for name in self._vectors(self.space)]
        return np.concatenate(parts, -1)

    def _record(self, obs: Array, space: CompositeObs) -> Array:
        """Returns records with every entry preprocessed, as bytes [B, size of a record]."""
        rows = np.array(obs)  # a copy: the observations themselves stay raw
        for name, leaf in space.leaves.items():
            if not isinstance(leaf, BoxObs):
                rows[name] = _indices(leaf, obs[name]).reshape(rows[name].shape)
        if self.normalizer is not None:
            flat, start = self.normalizer(self.concat_vectors(obs)), 0
            for name, leaf in self._vectors(space).items():
                part = flat[:, start : start + leaf.size]
                rows[name] = part.reshape(rows[name].shape)
                start += leaf.size
        return rows.view(np.uint8).reshape(len(rows), rows.dtype.itemsize)

    def _vectors(self, space: CompositeObs) -> dict[str, BoxObs]:
        return {name: leaf for name, leaf in space.leaves.items() if isinstance(leaf, BoxObs)}


def _indices(space: DiscreteObs | MultiDiscreteObs | ImageObs, obs: Array) -> Array:
    """Returns categories as rows of their embedding table, counted from 0; images unchanged."""
    match space:
        case DiscreteObs():
            return obs - space.first
        case MultiDiscreteObs():
            return space.embedding_rows(obs)
        case ImageObs():
            return obs
