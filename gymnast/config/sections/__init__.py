"""One file per section, and the registry of algorithms."""

from __future__ import annotations

from gymnast.config.section import AlgoSection
from gymnast.config.sections.ppo import PPOConfig

ALGORITHMS: dict[str, tuple[type[AlgoSection], str]] = {
    "ppo": (PPOConfig, "gymnast.algos.ppo:PPO"),
}
"""Name -> (what can be set, where it learns). The first is the default."""
