"""Asks the policy what it would decide if an observation of the episode were different."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.errors import UsageError
from gymnast.inspector.action_forms import label, to_value
from gymnast.inspector.decision_record import Decision, WhatIf
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.lines import require_policy
from gymnast.inspector.obs_parts import component_places, image_part, mask_at, obs_at
from gymnast.policy.policy import Policy

Array = np.ndarray


def what_if(
    episode: OpenEpisode,
    *,
    step: int,
    changes: Mapping[str, float] | None = None,
    blank: Sequence[float] | None = None,
) -> WhatIf:
    """Returns the decision of the policy for the observation at a step, and for a changed one. `changes`:
    column of the table -> new value, in raw units; `blank`: x, y, width and height of a rectangle of the
    image, as shares of its width and height, that becomes 0 in all channels and stacked frames. Raises
    UsageError for a change that does not fit."""
    policy = require_policy(episode)
    original = obs_at(episode, step)
    changed = original.copy()
    _apply_changes(episode, policy, changed, changes or {})
    if blank is not None:
        _apply_blank(policy, changed, blank)
    mask, state = mask_at(episode, step), episode.states_before(step, step + 1)
    return WhatIf(
        original=decision(episode, policy, original, mask, state),
        changed=decision(episode, policy, changed, mask, state),
    )


def decision(
    episode: OpenEpisode,
    policy: Policy,
    obs: Array,
    mask: Array | None,
    state: Array | None = None,
) -> Decision:
    """Returns the decision of a policy for an observation, [1, ...]. `state`: the policy state before it,
    None without memory."""
    head, facts = policy.head, episode.config.facts
    dist = policy.dist(obs, mask, state)
    action = head.for_env(head.mode(dist))[0]
    std = head.std(dist)
    has_critic = "value_learned" in episode.table
    value = float(policy.value(obs, state)[0]) if has_critic else None
    factor = _raw_per_unit(episode)
    return Decision(
        action=to_value(policy.action_space, action),
        label=label(policy.action_space, action, facts),
        probabilities=head.option_probabilities(dist)[0].tolist() if head.space.options else None,
        mean=None if std is None else np.ravel(action).tolist(),
        std=None if std is None else std[0].tolist(),
        value=value,
        value_raw=None if value is None or factor is None else value * factor,
    )


def _raw_per_unit(episode: OpenEpisode) -> float | None:
    """Returns the raw reward per unit of learned reward, a constant that the table was made with; None if the
    table has no values in raw reward."""
    table = episode.table
    if "value_raw" not in table:
        return None
    learned = np.asarray(table["value_learned"], np.float64)
    largest = int(np.nan_to_num(np.abs(learned)).argmax())
    return float(table["value_raw"][largest] / learned[largest]) if learned[largest] else None


def _apply_changes(
    episode: OpenEpisode, policy: Policy, obs: Array, changes: Mapping[str, float]
) -> None:
    """Writes the changed components into an observation [1, ...]."""
    places = component_places(episode, policy.obs_space)
    for column, value in changes.items():
        if column not in places:
            known = ", ".join(places) or "none"
            what = f"the observation has no component {column}"
            raise UsageError(what, at="changes", fix=f"use one of: {known}")
        if problem := places[column].problem(value):
            raise UsageError(f"{column} cannot be {value:g}: {problem}", at="changes")
        places[column].put(obs, value)


def _apply_blank(policy: Policy, obs: Array, blank: Sequence[float]) -> None:
    """Sets a rectangle of the image of an observation [1, ...] to 0."""
    part = image_part(policy.obs_space)
    if part is None:
        raise UsageError("the observation has no image", at="blank", fix="change components")
    # The comparisons are false for NaN.
    if not (len(blank) == 4 and all(0 <= share <= 1 for share in blank) and min(blank[2:]) > 0):
        fix = "give x, y, width and height as shares of the image, from 0 to 1"
        raise UsageError(f"{list(blank)} is not a rectangle", at="blank", fix=fix)
    x, y, width, height = blank
    pixels = part.pixels(obs)
    rows, columns = pixels.shape[1:3]
    pixels[:, _pixels_of(y, height, rows), _pixels_of(x, width, columns)] = 0


def _pixels_of(start: float, size: float, n: int) -> slice:
    """Returns the pixels of a part of one axis with `n` pixels: at least one, and none outside of the image.
    `start`, `size`: shares of the axis."""
    first = min(round(start * n), n - 1)
    return slice(first, min(max(round((start + size) * n), first + 1), n))
