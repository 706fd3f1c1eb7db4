"""Which engine a run uses, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gymnast.compiled import kernels, why_absent
from gymnast.config.config import Config
from gymnast.engine.native.plan import why_unsupported, widest
from gymnast.errors import ConfigError
from gymnast.policy.layers import Network

MOST_WIDTH = 1024
"""Beyond this a layer's weights leave the caches, for which torch's products are made."""


@dataclass(frozen=True)
class EngineChoice:
    name: Literal["native", "torch"]
    why: str
    instructions: str = ""

    @property
    def computes(self) -> str:
        """What decides about bits."""
        return f"{self.name} {self.instructions}".rstrip()

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def choose(cfg: Config[Any], network: Network) -> EngineChoice:
    """The native engine where it can, unless the config says otherwise."""
    native: Any = kernels()
    instructions: str = "" if native is None else native.instruction_set()
    beside = instructions if network.is_expensive else ""  # `engine/torch/quick.py`
    if cfg.engine == "torch":
        return EngineChoice("torch", "engine=torch", beside)
    obstacle = _obstacle(cfg, network)
    if obstacle is None:
        return EngineChoice("native", f"compiled kernels, {instructions}", instructions)
    if cfg.engine == "native":
        raise ConfigError(f"engine: native cannot run this: {obstacle}", fix="set engine=auto")
    return EngineChoice("torch", obstacle, beside)


def splits_batch_over_threads(cfg: Config[Any], network: Network) -> bool:
    """Whether each of `threads` takes its share of the rows (`engine/torch/shares.py`): images, in
    layers of ours, and a loss that engines know. For others torch has threads of its own."""
    ours = network.is_expensive and network.module is None
    return ours and cfg.device == "cpu" and cfg.algo.native


def _obstacle(cfg: Config[Any], network: Network) -> str | None:
    if not cfg.algo.native:
        return f"{cfg.algo.name} is computed by torch"
    if cfg.device != "cpu":
        return f"device={cfg.device}"
    if problem := why_unsupported(network):
        return problem
    if cfg.engine == "auto" and widest(network) > MOST_WIDTH:
        return f"layers wider than {MOST_WIDTH:,} are faster there"
    return why_absent() if kernels() is None else None
