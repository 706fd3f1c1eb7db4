"""An algorithm in a module of the user's own: named by its import path, then an algorithm like any other.

The algorithm is the one that docs/guide.md shows.
"""

from __future__ import annotations

import inspect
import pickle
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymnast.algos.algorithm import Algorithm
from gymnast.config.algorithms import REQUIRED_METHODS, config_type
from gymnast.config.config import CONFIGS
from gymnast.config.resolve import load, resolve, save
from gymnast.config.sections import ALGORITHMS
from gymnast.config.target import split_target
from gymnast.errors import ConfigError
from gymnast.import_object import ALLOW_VARIABLE
from tests.small_runs import checkpoint_arrays, resume_run, same_arrays, train_small

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
NAME = "py:my_awr:AWR"
TINY = {
    "env.n_envs": 4,
    "policy.hidden": [16],
    "eval.mode": "inline",
    "eval.episodes": 2,
    "eval.confirm_episodes": 2,
    "eval.max_episode_steps": 50,
}


@pytest.fixture(autouse=True)
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Writes the guide's module into the working directory and unregisters its algorithm afterwards."""
    (text,) = re.findall(r"```python\n# my_awr\.py\n(.*?)```", GUIDE.read_text(), re.S)
    (tmp_path / "my_awr.py").write_text(text)
    monkeypatch.setenv(ALLOW_VARIABLE, "1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    known = set(ALGORITHMS)
    yield
    for name in [name for name in ALGORITHMS if name not in known]:
        del ALGORITHMS[name], CONFIGS[name]
    for module in ("my_awr", "broken"):
        sys.modules.pop(module, None)


def test_the_required_methods_match_the_protocol():
    declared = [n for n, _ in inspect.getmembers(Algorithm, inspect.isfunction) if n[0] != "_"]
    assert sorted(REQUIRED_METHODS) == sorted(declared)


def test_its_settings_are_validated_stored_and_loaded_like_those_of_built_in_algorithms():
    config = resolve("CartPole-v1", {"algo.temperature": "1 -> 0.1"}, algo=NAME).config
    assert config.algo.name == NAME
    assert config.algo.gae_lambda == 0.95
    assert load(save(config)) == config
    assert pickle.loads(pickle.dumps(config)) == config
    with pytest.raises(ConfigError, match=r"algo\.temprature.*did you mean algo\.temperature"):
        resolve("CartPole-v1", {"algo.temprature": 1}, algo=NAME)
    with pytest.raises(ConfigError, match=r"algo\.name"):
        resolve("CartPole-v1", {"algo.name": "ppo"}, algo=NAME)


def test_a_preset_may_extend_it(tmp_path: Path):
    (tmp_path / "presets").mkdir()
    preset = (
        f"env: {{id: CartPole-v1}}\nvariants:\n  mine: {{extends: '{NAME}', algo: {{epochs: 3}}}}\n"
    )
    (tmp_path / "presets" / "Mine.yaml").write_text(preset)
    config = resolve("Mine:mine").config
    assert (config.algo.name, config.algo.epochs) == (NAME, 3)


def test_it_can_be_requested_as_a_variant():
    assert split_target(f"CartPole-v1:{NAME}") == ("CartPole-v1", NAME)
    assert split_target(f"py:my_env.env:MyEnv:{NAME}") == ("py:my_env.env:MyEnv", NAME)
    assert split_target("py:my_env.env:MyEnv:ppo") == ("py:my_env.env:MyEnv", "ppo")
    assert resolve(f"CartPole-v1:{NAME}").config.algo.name == NAME


def test_a_run_with_it_resumes_exactly():
    whole = train_small("CartPole-v1", {**TINY, "stop.env_steps": 1024}, algo=NAME)
    stopped = train_small("CartPole-v1", {**TINY, "stop.env_steps": 512}, algo=NAME)
    continued = resume_run(stopped, {"stop.env_steps": 1024})
    assert "policy/awr_weight_max" in whole.rows()
    assert same_arrays(checkpoint_arrays(whole), checkpoint_arrays(continued))
    assert same_arrays(checkpoint_arrays(whole, "learner"), checkpoint_arrays(continued, "learner"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "cannot be imported: ModuleNotFoundError"),
        ("def (:", "cannot be imported: SyntaxError"),
        ("1 / 0", "cannot be imported: ZeroDivisionError"),
        ("x = 1", "cannot be imported: AttributeError"),
        ("class Algo: pass", "does not declare its hyperparameters"),
        (
            "from gymnast.config.sections.gradient import GradientSection as G\n"
            "class Algo:\n    settings = G\n    update = state = load = print",
            "has no method memory",
        ),
        (
            "from gymnast.config.section import AlgoSection\n"
            "class Bare(AlgoSection):\n    gamma: float = 0.9\n"
            "class Algo:\n    settings = Bare\n    update = state = load = memory = print",
            "has no setting n_steps",
        ),
    ],
)
def test_a_mistake_in_the_class_gives_one_clear_error(
    text: str | None, problem: str, tmp_path: Path
):
    if text is not None:
        (tmp_path / "broken.py").write_text(text)
    with pytest.raises(ConfigError, match=problem):
        config_type("py:broken:Algo")


def test_an_unknown_algorithm_suggests_the_closest_name():
    with pytest.raises(ConfigError, match=r"unknown algorithm pppo .*did you mean ppo"):
        resolve("CartPole-v1", algo="pppo")
