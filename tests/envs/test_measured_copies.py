"""What `auto` means is a table that ships: of environments and backends that there are."""

from __future__ import annotations

import gymnasium as gym
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.measured import MEASURED, UNKNOWN, measured
from gymnast.config.presets import SHIPPED, Preset
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.inprocess import InProcess
from gymnast.envs.process import Process

BACKENDS = {"inprocess": InProcess, "process": Process}


@pytest.mark.parametrize("begin", MEASURED)
def test_an_entry_names_environments_and_a_backend_that_restores_their_episodes(begin: str):
    if begin.startswith("ALE/"):
        pytest.importorskip("ale_py")
    ids = [id for id in gym.registry if id.startswith(begin)]
    assert ids, f"no environment's id begins with {begin}"
    backend, n_envs = MEASURED[begin]
    assert BACKENDS[backend].restore == "replay"
    assert EnvConfig(id=ids[0], backend=backend, n_envs=n_envs)


def test_the_longest_beginning_that_fits_counts():
    assert measured("MountainCarContinuous-v0") == MEASURED["MountainCarContinuous-"]
    assert measured("MountainCar-v0") == MEASURED["MountainCar-"]
    assert measured("py:my.module:Env") == UNKNOWN
    overlapping = [a for a in MEASURED for b in MEASURED if a != b and a.startswith(b)]
    assert all(measured(f"{begin}v0") == MEASURED[begin] for begin in overlapping)


def test_each_backend_of_the_table_opens_and_restores():
    from gymnast.envs.open import open_envs

    for backend in {copies.backend for copies in (UNKNOWN, *MEASURED.values())}:
        cfg = EnvConfig(id="CartPole-v1", n_envs=2, backend=backend, workers=1)
        envs = open_envs(cfg, limit=EpisodeLimit(), tell=print)
        assert envs.restore == "replay"
        envs.close()


def test_presets_say_how_many_copies_they_were_tuned_for():
    """So that a new entry of the table changes no stored result."""
    for preset in (Preset(p.stem.replace("__", "/"), p) for p in SHIPPED.glob("*.yaml")):
        shared = preset.source.data.get("env", {})
        for name in preset.own:
            chain = [preset.own.get(one, {}) for one in preset.chain(name)]
            said = [shared, *(layer.get("env", {}) for layer in chain)]
            assert any("n_envs" in env for env in said), f"{preset.name}:{name}"
