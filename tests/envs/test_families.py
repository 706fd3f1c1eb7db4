"""Families of environments: imported when used, named when missing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.families import FAMILIES, family_of
from gymnast.config.presets import BUILTIN_DIR, Preset
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError

ROOT = Path(__file__).parents[2]
PACKAGES = ("ale_py", "minatar", "minigrid", "mujoco", "vizdoom")


def test_no_package_is_imported_before_one_of_its_ids_is_used():
    code = (
        "import sys; from gymnast.config.sections.env import EnvConfig\n"
        "from gymnast.envs.build.make import make_env\n"
        "make_env(EnvConfig(id='CartPole-v1'))\n"
        f"print([name for name in {PACKAGES!r} if name in sys.modules])\n"
        "make_env(EnvConfig(id='MiniGrid-Empty-5x5-v0'))\n"
        f"print([name for name in {PACKAGES!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["[]", "['minigrid']"], done.stderr


@pytest.mark.parametrize(
    ("id", "package", "extra"),
    [
        ("MiniGrid-DoorKey-6x6-v0", "minigrid", "minigrid"),
        ("BabyAI-GoToRedBall-v0", "minigrid", "minigrid"),
        ("MinAtar/Breakout-v1", "minatar", "minatar"),
        ("VizdoomBasic-v1", "vizdoom", "vizdoom"),
        ("ALE/Pong-v5", "ale_py", "atari"),
        ("HalfCheetah-v5", "mujoco", "mujoco"),
        ("LunarLander-v3", "Box2D", "box2d"),
    ],
)
def test_a_missing_package_is_named_with_its_install_command(
    id: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
):
    suites = ("minatar", "minigrid", "mujoco", "vizdoom")
    ours = tuple(f"gymnast.envs.suites.{name}" for name in suites)
    users = (*ours, "gymnasium.envs.mujoco", "gymnasium.envs.box2d")
    for name in [m for m in sys.modules if m.startswith((f"{package}.", *users))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EnvError) as refused:
        make_env(EnvConfig(id=id))
    assert id in str(refused.value)
    assert f"pip install 'gymnast[{extra}]'" in str(refused.value)


def test_every_extra_of_a_family_exists_in_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {f.extra for f in FAMILIES if f.extra} <= project["optional-dependencies"].keys()


def test_the_environments_page_lists_every_family_with_its_extra_and_presets():
    page = (ROOT / "docs" / "environments.md").read_text()
    rows = dict(re.findall(r"^\| ([A-Za-z0-9 -]+) \| (`.*) \|$", page, re.M))
    presets = [Preset(p.stem.replace("__", "/"), p) for p in BUILTIN_DIR.glob("*.yaml")]
    assert rows.keys() == {family.name for family in FAMILIES}
    for family in FAMILIES:
        examples, needs, shipped = (cell.strip() for cell in rows[family.name].split(" | "))
        assert examples.startswith(tuple(f"`{start}" for start in family.ids))
        assert needs == "nothing more" if not family.extra else f"gymnast[{family.extra}]" in needs
        ours = {p.name for p in presets if family_of(p.env_id) == family}
        assert set(re.findall(r"`([^`]+)`", shipped)) == ours


def test_every_gymnasium_environment_belongs_to_a_family():
    theirs = [
        spec
        for spec in gym.registry.values()
        if str(spec.entry_point).startswith("gymnasium.envs.") and spec.namespace is None
    ]
    folder = {"classic_control": "classic control", "toy_text": "toy text"}
    folder |= {"box2d": "Box2D", "mujoco": "MuJoCo"}
    assert len(theirs) > 30
    for spec in theirs:
        family = family_of(spec.id)
        assert family is not None, spec.id
        assert family.name == folder[str(spec.entry_point).replace(":", ".").split(".")[2]], spec.id


def test_every_shipped_preset_belongs_to_a_family():
    for path in BUILTIN_DIR.glob("*.yaml"):
        assert family_of(Preset(path.stem.replace("__", "/"), path).env_id), path.name


@pytest.mark.parametrize(
    ("id", "meant"),
    [
        ("minigrid-doorkey-6x6-v0", "MiniGrid-DoorKey-6x6-v0"),
        ("VizDoomBasic-v1", "VizdoomBasic-v1"),
        ("MinAtar/Breakot-v1", "MinAtar/Breakout-v1"),
        ("Bandit-contextul-v0", "Bandit-contextual-v0"),
        ("HalfCheeta-v5", "HalfCheetah-v5"),
    ],
)
def test_a_mistyped_id_gets_a_suggestion(id: str, meant: str):
    with pytest.raises(EnvError, match=f"did you mean {meant}"):
        make_env(EnvConfig(id=id))


def test_a_minatar_episode_depends_only_on_its_seed():
    """The first action in the original package may be the last one of the previous episode."""
    fresh, used = (make_env(EnvConfig(id="MinAtar/Breakout-v1")) for _ in range(2))
    for seed in range(40):
        used.reset(seed=1000 + seed)
        used.step(2)
        here, there = fresh.reset(seed=seed)[0], used.reset(seed=seed)[0]
        assert np.array_equal(here, there)
        fresh_step, used_step = fresh.step(1), used.step(1)
        assert np.array_equal(fresh_step[0], used_step[0]), seed


def test_minatar_renders_without_plotting_libraries():
    env = make_env(EnvConfig(id="MinAtar/SpaceInvaders-v0", kwargs={"render_mode": "rgb_array"}))
    seen, _ = env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (10, 10, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture.any(axis=-1), seen.any(axis=-1))


def test_vizdoom_and_mujoco_leave_no_files_and_print_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    for id in ("VizdoomBasic-v1", "HalfCheetah-v5", "MinAtar/Breakout-v1"):
        env = make_env(EnvConfig(id=id))
        env.reset(seed=0)
        env.step(env.action_space.sample())
        env.close()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert capfd.readouterr() == ("", "")
