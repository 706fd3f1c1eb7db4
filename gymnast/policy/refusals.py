"""Refuses settings of a policy that its network or its algorithm cannot have."""

from __future__ import annotations

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.errors import ConfigError


def refuse_popart_without_its_layer(
    cfg: PolicyConfig, normalize: NormalizeConfig, has_critic: bool
) -> None:
    """Raises ConfigError if PopArt is on but the critic has no last layer that it could rescale."""
    if normalize.value == "popart" and (cfg.module is not None or not has_critic):
        subject = (
            "policy.module has no such layer" if has_critic else "this algorithm has no critic"
        )
        what = f"normalize.value: popart rescales the critic's last layer, but {subject}"
        raise ConfigError(what, fix="set normalize.value=off")


def refuse_memory_without_support(cfg: PolicyConfig, has_critic: bool) -> None:
    """Raises ConfigError if memory is on where no recurrent layer can be built or trained."""
    if cfg.memory is None:
        return
    if cfg.module is not None:
        what = "policy.memory: a module of your own (policy.module) has no memory"
        raise ConfigError(what, fix="set policy.memory=off, or remove policy.module")
    if not has_critic:
        what = "policy.memory: this algorithm replays single steps, without the states before them"
        raise ConfigError(what, fix="use ppo or a2c, or env.stack instead of memory")
