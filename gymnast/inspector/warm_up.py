"""Imports and builds what the first episode needs, before it is asked for.

A worker does this as soon as it starts. Most of the time is for imports; the validators of configs, which
pydantic builds on first use, take as long as opening an episode.
"""

from __future__ import annotations

from importlib import import_module

from gymnast.config.resolve import resolve, save
from gymnast.config.serialize import load

MODULES = ("gymnast.inspector.frames", "gymnast.inspector.inspection", "safetensors.numpy")
EXAMPLE = "CartPole-v1"
"""The preset whose config is built; most others have the same algorithm."""


def warm_up() -> None:
    for module in MODULES:
        import_module(module)
    load(save(resolve(EXAMPLE).config), at=EXAMPLE)
