"""Attribution: finds the parts of an observation that a decision was based on.

- Numbers: integrated gradients from the mean observation of the episode to the observation.
- Categories, which have no values in between: Shapley values. The baseline is the most frequent value of the
  episode (for numbers in the same observation, the mean).
- Images: perturbation saliency.
- Earlier steps, for a policy with memory: occlusion of one observation of the past.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np

from gymnast.images import ObsArray
from gymnast.inspector.contributions import integrated_gradients, shapley_values
from gymnast.inspector.decision_record import Attribution, SaliencyMap, Target
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.lines import require_policy
from gymnast.inspector.obs_parts import (
    Place,
    component_places,
    image_part,
    mask_at,
    obs_at,
)
from gymnast.inspector.saliency import saliency
from gymnast.inspector.step_policy import Explained, StepPolicy, past_contributions

Array = np.ndarray
Function = Callable[[Array], Array]
MAX_BASELINE_STEPS = 256
"""Number of observations of an episode, evenly spread, that its mean is taken of."""


def attribution(episode: OpenEpisode, *, step: int, target: Target = "action") -> Attribution:
    """Returns the contributions to the decision at a step. `target`: explain the action that was played (at
    the end of the episode: the most likely one), or the value. Raises UsageError if the policy is gone."""
    policy = require_policy(episode)
    obs, mask = obs_at(episode, step), mask_at(episode, step)
    places = component_places(episode, policy.obs_space)
    baseline = _baseline(episode.obs, obs, places) if places else obs.copy()
    asked = StepPolicy(policy, mask, episode.states_before(step, step + 1))
    explained, text = _target(episode, asked, obs, baseline, step, target)
    function = partial(explained, asked)
    components, method = None, ""
    if places:
        values, method = _components(function, obs, baseline, places)
        components = dict(zip(places, values.tolist(), strict=True))
    image = _image(asked, obs, target)
    if image is not None:
        blur = "saliency: half the squared change of the outputs if a part of the image is blurred"
        method = f"{method}; image: {blur}" if method else blur
    states, past = episode.states_before(0, step + 1), None
    if states is not None:
        past = past_contributions(explained, asked, episode.obs[: step + 1], states, baseline)
        method = f"{method}; past: occlusion of one earlier observation by the baseline"
    output, before = function(np.concatenate([obs, baseline])).tolist()
    return Attribution(components, image, output, before, text, method.lstrip("; "), past)


def _baseline(seen: ObsArray, obs: Array, places: dict[str, Place]) -> Array:
    """Returns the observation [1, ...] with every number replaced by its mean over the episode, and every
    category by the most frequent one. An image stays."""
    chosen = np.unique(np.linspace(0, len(seen) - 1, MAX_BASELINE_STEPS).astype(int))
    rows = np.concatenate([np.asarray(seen[i : i + 1]) for i in chosen.tolist()])
    baseline = obs.copy()
    for place in places.values():
        values = place.values(rows)
        if place.is_category:
            options, counts = np.unique(values, return_counts=True)
            place.put(baseline, options[counts.argmax()])
        else:
            place.put(baseline, values.mean(dtype=np.float64))
    return baseline


def _target(
    episode: OpenEpisode,
    asked: StepPolicy,
    obs: Array,
    baseline: Array,
    step: int,
    target: Target,
) -> tuple[Explained, str]:
    """Returns the function of the policy and observations [B, ...] that gives the explained number [B], and
    its name."""
    head = asked.policy.head
    if target == "value":
        return StepPolicy.value, "the value, in learned reward"
    played = step < len(episode.trace)
    action = head.mode(asked.dist(obs))
    if played:
        action = head.from_env(np.asarray(episode.trace.action[step : step + 1]))
    if head.has_q_values:

        def q_value(policy: StepPolicy, rows: Array) -> Array:
            return policy.outputs(rows)[:, int(action[0])]

        return q_value, "the Q-value of the action"
    if not head.space.options:
        # The log-probability of a mean has no gradient, so the mean itself is explained: its movement from
        # the baseline, along the direction in which it moved.
        means = head.mode(asked.dist(np.concatenate([baseline, obs])))
        ends = means.reshape(2, -1).astype(np.float64)
        moved = ends[1] - ends[0]
        direction = moved / max(float(np.linalg.norm(moved)), 1e-12)

        def mean(policy: StepPolicy, rows: Array) -> Array:
            return head.mode(policy.dist(rows)).reshape(len(rows), -1) @ direction

        return mean, "the mean action along its change from the baseline, in units of the policy"

    def logprob(policy: StepPolicy, rows: Array) -> Array:
        return head.logprob(policy.dist(rows), np.repeat(action, len(rows), axis=0))

    which = "that was played" if played else "that is most likely"
    return logprob, f"the log-probability of the action {which}"


def _components(
    function: Function, obs: Array, baseline: Array, places: dict[str, Place]
) -> tuple[Array, str]:
    """Returns the contribution of each component, and the method."""
    parts = list(places.values())
    if any(part.is_category for part in parts):

        def with_present(present: Array) -> Array:
            rows = np.repeat(baseline, len(present), axis=0)
            for i, part in enumerate(parts):
                part.put(rows, np.where(present[:, i], part.values(obs), part.values(baseline)))
            return function(rows)

        values = shapley_values(with_present, len(parts))
        return values, "Shapley values, from the most frequent observation of the episode"

    def at(vectors: Array) -> Array:
        rows = np.repeat(obs, len(vectors), axis=0)
        for i, part in enumerate(parts):
            part.put(rows, vectors[:, i])
        return function(rows)

    x, start = (
        np.array([part.values(rows)[0] for part in parts], np.float64) for rows in (obs, baseline)
    )
    values = integrated_gradients(at, x, start)
    return values, "integrated gradients, from the mean observation of the episode"


def _image(policy: StepPolicy, obs: Array, target: Target) -> SaliencyMap | None:
    """Returns the saliency of the image in an observation [1, ...]; None if there is none."""
    part = image_part(policy.policy.obs_space)
    if part is None:
        return None

    def outputs(images: Array) -> Array:
        rows = np.repeat(obs, len(images), axis=0)
        part.pixels(rows)[...] = images
        if target == "value":
            return policy.value(rows)[:, None]
        return policy.outputs(rows) if policy.policy.head.has_q_values else policy.dist(rows)

    pixels = part.pixels(obs)[0]
    values = saliency(outputs, pixels)
    height, width = cast("tuple[int, int]", values.shape)
    return SaliencyMap(width, height, values.ravel().tolist(), pixels.shape[1], pixels.shape[0])
