"""Environment ids: loads the packages that register them, finds the latest version, names successors."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from gymnast.config.families import family_of, is_multi_agent
from gymnast.config.versions import highest_version, version_of
from gymnast.envs.env_types import Env
from gymnast.errors import EnvError
from gymnast.import_object import import_user_module

_OLD_ATARI = re.compile(
    r"(?P<game>[A-Z][A-Za-z]+?)(?P<ram>-ram)?(Deterministic|NoFrameskip)?-v(?P<version>[0-4])"
)
"""Atari ids before `ALE/Pong-v5`: Pong-v4, PongNoFrameskip-v4, Pong-ramDeterministic-v0."""


def register(env_id: str) -> None:
    """Imports the package that registers this id. Only the package of its family is imported, since imports
    cost time.

    Raises EnvError for an old Atari id, although ALE registers those too: they differ in frame skipping and
    in the default observation. Raises CodeNotAllowed for a module that only a run names.
    """
    if ":" in env_id:  # Gymnasium would import the module of `module:Env-v0`
        import_user_module(env_id)
    if (successor := _atari_successor(env_id)) is not None:
        raise successor
    family = family_of(env_id)
    if family is not None and family.module:
        with warnings.catch_warnings():  # of the package itself: the user cannot fix those
            warnings.simplefilter("ignore", DeprecationWarning)
            import_module(family.module)


def make_registered(env_id: str, kwargs: Mapping[str, object]) -> Env:
    """Returns a new environment from Gymnasium's registry. `kwargs`: arguments of `gym.make` and of the
    constructor. Gymnasium's checker is left out, since backends validate every step themselves."""
    passed_on: dict[str, Any] = {**kwargs}  # the constructor decides what it accepts
    return gym.make(env_id, disable_env_checker=True, **passed_on)


def latest_version(env_id: str) -> str:
    """Returns the id itself or, if it has no version, the id of the highest registered version."""
    if env_id.startswith("py:") or is_multi_agent(env_id) or version_of(env_id) is not None:
        return env_id
    with suppress(ImportError):  # creating it reports what is missing
        register(env_id)
    return highest_version(env_id, gym.registry) or env_id


def successor_error(env_id: str) -> EnvError | None:
    """Returns the error for an id that was replaced by a successor or another version; None for others."""
    with suppress(ImportError):  # without ale-py there are no Atari games that could be suggested
        register("ALE/")
    if (atari := _atari_successor(env_id)) is not None:
        return atari
    version, newest = version_of(env_id), highest_version(env_id, gym.registry)
    if version is None or newest is None or newest == env_id:
        return None
    if version < (version_of(newest) or 0):
        newest = preset_of(newest) or newest
        return EnvError(f"{env_id} was removed; its successor is {newest}", fix=f"use {newest}")
    what = f"{env_id} does not exist; the highest version is {newest}"
    return EnvError(what, fix=f"use {newest}")


def preset_of(env_id: str) -> str | None:
    """Returns `LunarLander-v3:continuous` for `LunarLanderContinuous-v3`: a variant of the preset of another
    id that creates the same environment. None if there is none, or if the id has a preset itself."""
    from gymnast.config import presets  # only for ids that Gymnasium has renamed

    spec, known = gym.registry.get(env_id), presets.all_presets()
    if spec is None or env_id in known:
        return None
    for name, preset in known.items():
        other = gym.registry.get(name)
        if other is None or _made_by(other) != _made_by(spec):
            continue
        for variant in preset.own_variants:
            kwargs = dict(other.kwargs)
            for layer in preset.layers(variant):
                env = layer.data.get("env")
                given = env.get("kwargs") if isinstance(env, dict) else None
                kwargs |= given if isinstance(given, dict) else {}
            if kwargs == spec.kwargs:
                return f"{name}:{variant}"
    return None


def _made_by(spec: EnvSpec) -> tuple[object, int | None]:
    return spec.entry_point, spec.max_episode_steps


def _atari_successor(env_id: str) -> EnvError | None:
    """Returns the error that names the successor of an old Atari id; None for any other id. ALE must be
    imported already."""
    old = _OLD_ATARI.fullmatch(env_id)
    if old is None:
        return None
    new = f"ALE/{old['game']}-v5"
    if new not in gym.registry:
        return None
    settings = ["env.view=ram"] if old["ram"] else []
    if old["version"] == "4":  # unlike v0 and v5, v4 had no sticky actions
        settings.append("env.kwargs.repeat_action_probability=0")
    what = f"{env_id} is now {new}, which repeats each action for env.frames_per_step=4 frames"
    options = "".join(f" --set {setting}" for setting in settings)
    return EnvError(what, fix=f"gymnast train {new}{options}")
