"""The sections of a config, one file each, and the registry of algorithms."""

from __future__ import annotations

from gymnast.config.section import AlgoSection
from gymnast.config.sections.a2c import A2CConfig
from gymnast.config.sections.dqn import DQNConfig
from gymnast.config.sections.ppo import PPOConfig
from gymnast.config.sections.reinforce import ReinforceConfig

ALGORITHMS: dict[str, tuple[type[AlgoSection], str]] = {
    "ppo": (PPOConfig, "gymnast.algos.ppo:PPO"),
    "a2c": (A2CConfig, "gymnast.algos.a2c:A2C"),
    "dqn": (DQNConfig, "gymnast.algos.dqn:DQN"),
    "reinforce": (ReinforceConfig, "gymnast.algos.reinforce:Reinforce"),
}
"""Name -> (section of its hyperparameters, `module:Class` of its implementation). The first is the
default."""
