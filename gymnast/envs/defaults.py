"""Settings for an environment that has no preset, by what it shows and what it takes."""

from __future__ import annotations

from typing import Any

from gymnast.config.sections import ALGORITHMS
from gymnast.policy.observations import leaves_of, vector_of
from gymnast.policy.spaces import Action, Amounts, Category, Image, Observation


def suggested(obs: Observation, action: Action, algo: str) -> dict[str, Any]:
    """Config keys that serve most environments of this kind well."""
    images = any(isinstance(leaf, Image) for leaf in leaves_of(obs).values())
    settings: dict[str, Any] = {"policy": {"hidden": [] if images else [64, 64]}}
    if not isinstance(obs, Category):
        settings["normalize"] = {"obs": "running"} if vector_of(obs) else {}
        if ALGORITHMS[algo][0].acts == "sample":
            settings["normalize"]["reward"] = "running"
    if algo == "ppo":
        settings["algo"] = dict(_CONTINUOUS if isinstance(action, Amounts) else _DISCRETE)
        if images:
            settings["algo"]["lr"] = "2.5e-4 -> 0"
    return settings


_CONTINUOUS = {"n_steps": 256, "epochs": 10, "batch_size": "3.125%", "lr": "3e-4 -> 0"}
_DISCRETE = {
    "n_steps": 128,
    "epochs": 4,
    "batch_size": "25%",
    "lr": "1e-3 -> 0",
    "entropy_coef": 0.01,
}
