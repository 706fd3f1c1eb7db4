"""The shipped table that resolves `auto` names existing environments and backends."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import gymnasium as gym
import pytest

from gymnast.collect.open_vector import open_vector_collector
from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.presets import BUILTIN_DIR, Preset
from gymnast.config.resolve import apply_overrides, resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.config.vec_env_defaults import FALLBACK, MEASURED, vec_env_defaults
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.process import ProcessBackend
from gymnast.envs.backends.vector import VectorBackend

BACKENDS = {"inprocess": InProcessBackend, "process": ProcessBackend}


@pytest.mark.parametrize("begin", MEASURED)
def test_every_table_entry_names_existing_environments_and_a_backend_that_restores_episodes(
    begin: str,
):
    if begin.startswith("ALE/"):
        pytest.importorskip("ale_py")
    ids = [id for id in gym.registry if id.startswith(begin)]
    assert ids, f"no environment's id begins with {begin}"
    backend, n_envs = MEASURED[begin]
    assert BACKENDS[backend].restore_mode == "replay"
    assert EnvConfig(id=ids[0], backend=backend, n_envs=n_envs)


def test_the_longest_matching_prefix_wins():
    assert vec_env_defaults("MountainCarContinuous-v0") == MEASURED["MountainCarContinuous-"]
    assert vec_env_defaults("MountainCar-v0") == MEASURED["MountainCar-"]
    assert vec_env_defaults("py:my.module:Env") == FALLBACK
    overlapping = [a for a in MEASURED for b in MEASURED if a != b and a.startswith(b)]
    assert all(vec_env_defaults(f"{begin}v0") == MEASURED[begin] for begin in overlapping)


def test_every_backend_of_the_table_opens_and_can_restore_episodes():
    from gymnast.envs.build.open import open_envs

    for backend in {copies.backend for copies in (FALLBACK, *MEASURED.values())}:
        cfg = EnvConfig(id="CartPole-v1", n_envs=2, backend=backend, workers=1)
        envs = open_envs(cfg, limit=EpisodeLimit(), on_output=print)
        assert envs.restore_mode == "replay"
        envs.close()


def test_presets_state_the_number_of_copies_they_were_tuned_for():
    """A new entry of the table must not change stored results."""
    for preset in (Preset(p.stem.replace("__", "/"), p) for p in BUILTIN_DIR.glob("*.yaml")):
        shared = preset.source.data.get("env", {})
        for name in preset.own_variants:
            chain = [preset.own_variants.get(one, {}) for one in preset.extends_chain(name)]
            layers = [shared, *(layer.get("env", {}) for layer in chain)]
            assert any("n_envs" in env for env in layers), f"{preset.name}:{name}"


PIXELS = {"traces.train": "0%"}
LIVES = {"lives": {"source": "lives", "description": "Lives left."}}
FASTEST: dict[str, tuple[str, dict[str, Any], str]] = {
    "pixels": ("ALE/Seaquest-v5", PIXELS, "vector"),
    "many copies": ("CartPole-v1", {"env.n_envs": 32}, "vector"),
    "asked for": ("CartPole-v1", {"env.n_envs": 32, "env.backend": "auto"}, "vector"),
    "a schedule": ("CartPole-v1", {"env.n_envs": 32, "algo.n_steps": "64 -> 128"}, "vector"),
    "few copies": ("CartPole-v1", {"env.n_envs": 31}, "inprocess"),
    "chosen otherwise": ("CartPole-v1", {"env.n_envs": 32, "env.backend": "process"}, "process"),
    "whole episodes": ("CartPole-v1:reinforce", {"env.n_envs": 32}, "inprocess"),
    "a wrapper": ("CartPole-v1", {"env.n_envs": 32, "env.noise.obs": 0.1}, "inprocess"),
    "a setting": (
        "CartPole-v1",
        {"env.n_envs": 32, "env.kwargs.sutton_barto_reward": True},
        "inprocess",
    ),
    "numbers of info": ("ALE/Seaquest-v5", PIXELS | {"metrics": LIVES}, "inprocess"),
    "stored pictures": ("ALE/Seaquest-v5", {"traces.train": "1%"}, "inprocess"),
    "another view": ("ALE/Seaquest-v5", PIXELS | {"env.view": "ram"}, "inprocess"),
    "no vector of its own": ("LunarLander-v3", {"env.n_envs": 64}, "inprocess"),
}


@pytest.mark.parametrize("case", FASTEST)
def test_auto_uses_the_native_vector_where_it_is_fastest_and_supported(
    case: str,
):
    target, settings, backend = FASTEST[case]
    config = resolve(target, settings).config
    assert config.env.backend == backend
    assert apply_overrides(config, {"seed": 1})[0].env.backend == backend


def test_no_shipped_preset_uses_a_native_vector_without_naming_it():
    """Its stored result must stay valid."""
    for preset in (Preset(p.stem.replace("__", "/"), p) for p in BUILTIN_DIR.glob("*.yaml")):
        for name in preset.own_variants:
            found = resolve(f"{preset.name}:{name}")
            if found.config.env.backend == "vector":
                assert "variant" in found.provenance["env.backend"], f"{preset.name}:{name}"


@pytest.mark.parametrize("case", ["pixels", "many copies"])
def test_a_vector_chosen_by_auto_can_be_opened(case: str):
    target, settings, _ = FASTEST[case]
    with closing(open_vector_collector(resolve(target, settings).config)) as collector:
        collector.start_episodes()
        assert isinstance(collector.envs, VectorBackend)
