"""Settings that were given and have no effect on this environment, algorithm and network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gymnast.collect.collector import Collector
from gymnast.config.applies import Context, without_effect
from gymnast.config.config import Config
from gymnast.policy.action_spaces import Action, Amounts
from gymnast.policy.observations import (
    Categories,
    Category,
    Image,
    Observation,
    Vector,
    leaves_of,
)
from gymnast.training.control import Settings

if TYPE_CHECKING:
    from gymnast.training.loop import Loop


def settings_without_effect(
    keys: Iterable[str], cfg: Config[Any], collector: Collector
) -> list[tuple[str, str]]:
    """Of these settings those that have no effect: dotted key, and where they would have one. A role's
    own settings are judged by the spaces of that role."""
    given, spaces = list(keys), collector.spaces
    found = without_effect(given, _context(cfg, spaces.values()))
    for role in cfg.roles.keys() & spaces.keys():
        start = f"roles.{role}.set."
        own = [key.removeprefix(start) for key in given if key.startswith(start)]
        context = _context(Settings(cfg).of(role), [spaces[role]])
        found += [(f"{start}{key}", why) for key, why in without_effect(own, context)]
    return found


def note_settings_without_effect(loop: Loop, keys: Iterable[str]) -> None:
    """Records one event for each of these settings that changes nothing in this run."""
    session = loop.session
    for key, why in settings_without_effect(keys, session.cfg, session.collector):
        loop.event("setting without effect", key=key, why=why)


def _context(cfg: Config[Any], spaces: Iterable[tuple[Observation, Action]]) -> Context:
    """Of all these spaces together: what applies to one of them has an effect."""
    observed, acted = zip(*spaces, strict=True)
    seen = [kind for obs in observed for kind in leaves_of(obs).values()]
    images, vectors = (any(isinstance(x, kind) for x in seen) for kind in (Image, Vector))
    categories = any(isinstance(x, Category | Categories) for x in seen)
    return Context(
        config=cfg,
        has_images=images,
        has_vectors=vectors,
        has_embeddings=categories or (images and vectors),
        has_continuous_actions=any(isinstance(x, Amounts) for x in acted),
    )
