"""Chooses the engine of a run, native or torch, and states the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gymnast.compiled import kernels, missing_reason
from gymnast.config.config import Config
from gymnast.engine.native.plan import max_layer_width, unsupported_reason
from gymnast.errors import ConfigError
from gymnast.policy.layers import Network

MAX_WIDTH = 1024
"""Widest layer for which the native engine is chosen by itself. The weights of wider layers do not fit
into the CPU caches, where torch's matrix products are faster."""


@dataclass(frozen=True)
class EngineChoice:
    """The engine of a run, why it was chosen, and the instruction set of the compiled kernels it calls."""

    name: Literal["native", "torch"]
    reason: str
    instruction_set: str = ""

    @property
    def backend(self) -> str:
        """Engine and instruction set: runs give the same bits only if both are the same."""
        return f"{self.name} {self.instruction_set}".rstrip()

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def choose_engine(cfg: Config, network: Network) -> EngineChoice:
    """Returns the engine for this network: native if it can run it, unless the config says otherwise.

    Raises ConfigError if the config requires the native engine and it cannot run the network.
    """
    native: Any = kernels()
    instructions: str = "" if native is None else native.instruction_set()
    # with images, the torch engine calls compiled kernels as well (`engine/torch/fast_ops.py`)
    used_by_torch = instructions if network.is_expensive else ""
    if cfg.engine == "torch":
        return EngineChoice("torch", "engine=torch", used_by_torch)
    obstacle = _obstacle(cfg, network)
    if obstacle is None:
        return EngineChoice("native", f"compiled kernels, {instructions}", instructions)
    if cfg.engine == "native":
        raise ConfigError(f"engine: native cannot run this: {obstacle}", fix="set engine=auto")
    return EngineChoice("torch", obstacle, used_by_torch)


def splits_batch_over_threads(cfg: Config, network: Network) -> bool:
    """Returns whether each of `threads` computes its own share of a minibatch (`engine/torch/shares.py`).

    True for image networks of our own layers with an `Objective` as their loss. In all other cases
    torch parallelizes each operation over its own threads.
    """
    has_images = network.is_expensive and network.module is None
    return has_images and cfg.device == "cpu" and cfg.algo.native


def _obstacle(cfg: Config, network: Network) -> str | None:
    """Returns why the native engine is not used; None if it is."""
    if not cfg.algo.native:
        return f"{cfg.algo.name} is computed by torch"
    if cfg.device != "cpu":
        return f"device={cfg.device}"
    if problem := unsupported_reason(network):
        return problem
    # slower, but possible: engine=native may insist
    if cfg.engine == "auto" and max_layer_width(network) > MAX_WIDTH:
        return f"layers wider than {MAX_WIDTH:,} are faster there"
    # Last, so that a network which needs torch anyway is not blamed on the installation.
    return missing_reason() if kernels() is None else None
