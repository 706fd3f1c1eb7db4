"""Finds settings that have no effect with this environment, algorithm and network."""

from __future__ import annotations

from collections.abc import Iterable

from gymnast.collect.collector import Collector
from gymnast.config.applies import Context, ineffective_settings
from gymnast.config.config import Config
from gymnast.spaces.actions import Action
from gymnast.spaces.observations import (
    BoxObs,
    DiscreteObs,
    ImageObs,
    MultiDiscreteObs,
    Observation,
    leaves_of,
)
from gymnast.training.live.settings import Settings


def unused_settings(
    keys: Iterable[str], cfg: Config, collector: Collector
) -> list[tuple[str, str]]:
    """Returns (dotted key, when it would have an effect) for each of these settings that has none.
    `roles.ROLE.set.*` is checked against the spaces of that role."""
    keys, spaces = list(keys), collector.spaces
    unused = ineffective_settings(keys, _context(cfg, spaces.values()))
    for role in cfg.roles.keys() & spaces.keys():
        prefix = f"roles.{role}.set."
        own = [key.removeprefix(prefix) for key in keys if key.startswith(prefix)]
        context = _context(Settings(cfg).for_role(role), [spaces[role]])
        unused += [(f"{prefix}{key}", why) for key, why in ineffective_settings(own, context)]
    return unused


def _context(cfg: Config, spaces: Iterable[tuple[Observation, Action]]) -> Context:
    """Returns the context of all these spaces together: a setting has an effect if it applies to one
    of them."""
    observations, actions = zip(*spaces, strict=True)
    leaves = [leaf for obs in observations for leaf in leaves_of(obs).values()]
    images, vectors = (any(isinstance(x, kind) for x in leaves) for kind in (ImageObs, BoxObs))
    categories = any(isinstance(x, DiscreteObs | MultiDiscreteObs) for x in leaves)
    return Context(
        config=cfg,
        has_images=images,
        has_vectors=vectors,
        has_embeddings=categories or (images and vectors),
        has_continuous_actions=any(action.has_continuous for action in actions),
    )
