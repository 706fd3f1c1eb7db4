"""The native engine never imports torch, in none of its processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import small_settings

pytestmark = pytest.mark.slow

POISON = """
import os, traceback
with open(os.environ["TORCH_IMPORTED"], "a") as log:
    log.write("".join(traceback.format_stack()))
raise RuntimeError("torch was imported")
"""


class WithoutTorch:
    """An environment in which importing torch fails and is recorded."""

    def __init__(self, path: Path) -> None:
        self.runs, self.log = path / "runs", path / "imported.txt"
        (path / "poison" / "torch").mkdir(parents=True)
        (path / "poison" / "torch" / "__init__.py").write_text(POISON)
        found = os.pathsep.join([str(path / "poison"), *sys.path])
        self.env = {**os.environ, "PYTHONPATH": found, "TORCH_IMPORTED": str(self.log)}
        self.env |= {"NO_COLOR": "1", "GYMNAST_RUNS": str(self.runs)}

    def type(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gymnast", *words]
        return subprocess.run(command, capture_output=True, text=True, env={**self.env, **more})

    def succeed(self, *words: str) -> str:
        done = self.type(*words)
        assert done.returncode == 0, f"gymnast {' '.join(words)}\n{done.stdout}\n{done.stderr}"
        assert not self.log.exists(), self.log.read_text()
        return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> WithoutTorch:
    """Returns such an environment with a trained run, which was evaluated in its own process."""
    place = WithoutTorch(tmp_path_factory.mktemp("place"))
    printed = place.succeed("train", "CartPole-v1", "--env-steps", "512", *small_settings())
    assert "native: compiled kernels" in printed
    return place


def test_if_torch_is_needed_but_cannot_be_imported_no_run_is_created(place: WithoutTorch):
    tried = place.log.with_name("tried.txt")
    words = (
        "train",
        "CartPole-v1",
        "--set",
        "engine=torch",
        "--env-steps",
        "512",
        *small_settings(),
    )
    runs = place.runs.with_name("no-runs")
    done = place.type(*words, "--runs", str(runs), TORCH_IMPORTED=str(tried))
    assert done.returncode != 0
    assert tried.exists()
    assert not list(runs.glob("*/run.json"))
    assert "error: engine: torch cannot be loaded: torch was imported" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_is_resumed_without_torch(place: WithoutTorch):
    place.succeed("resume", "@last", "--set", "stop.env_steps=1024")
    run = json.loads(place.succeed("show", "@last", "--json"))
    assert run["clocks"]["env_steps"] == 1024
    assert run["engine"].startswith("native")


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "@last", "--episodes", "2", "--json"),
        ("net", "@last", "--json"),
    ],
    ids=lambda words: words[0],
)
def test_eval_and_net_work_without_torch(place: WithoutTorch, words: tuple[str, ...]):
    place.succeed(*words)


def test_eval_without_compiled_kernels_gives_nearly_the_same_score(place: WithoutTorch):
    words = ("eval", "@last", "--episodes", "2", "--json")
    done = place.type(*words, GYMNAST_NATIVE="off")
    assert done.returncode == 0, done.stderr
    assert not place.log.exists()
    built = json.loads(place.succeed(*words))
    assert json.loads(done.stdout)["mean"] == pytest.approx(built["mean"], rel=0.1)


def test_play_and_record_work_without_torch(place: WithoutTorch, tmp_path: Path):
    film = tmp_path / "play.mp4"
    place.succeed("play", "@last", "--record", str(film), "--seed", "0")
    assert film.stat().st_size > 0


def test_the_python_api_loads_and_acts_without_torch(place: WithoutTorch):
    code = (
        "import sys, gymnast, numpy as np; policy = gymnast.load('@last');"
        "policy.act(np.zeros(4, np.float32)); assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=place.env
    )
    assert done.returncode == 0, done.stderr
    assert not place.log.exists()


def test_training_on_images_works_without_torch(place: WithoutTorch):
    settings = ("algo.n_steps=8", "algo.batch_size=8", "env.n_envs=2", "env.max_episode_steps=20")
    few = ("eval.episodes=1", "eval.confirm_episodes=1", "eval.n_envs=1")
    given = [word for setting in (*settings, *few) for word in ("--set", setting)]
    place.succeed("train", "ALE/Pong-v5:pixels", "--rollouts", "2", *given)


def test_another_algorithm_trains_without_torch(place: WithoutTorch):
    settings = ("eval.episodes=2", "eval.confirm_episodes=2", "env.n_envs=2")
    given = [word for setting in settings for word in ("--set", setting)]
    words = ("train", "Pendulum-v1", "--algo", "reinforce", "--rollouts", "2")
    place.succeed(*words, *given, "--set", "env.max_episode_steps=20")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--algo", "dqn"), "dqn is computed by torch"),
        (("--set", "device=cuda"), "device=cuda"),
    ],
    ids=["dqn", "cuda"],
)
def test_engine_native_is_rejected_for_features_that_need_torch(
    place: WithoutTorch, words: tuple[str, ...], why: str
):
    done = place.type("train", "CartPole-v1", "--set", "engine=native", *words)
    assert done.returncode != 0
    assert done.stderr.splitlines() == [
        f"error: engine: native cannot run this: {why}",
        "  fix: set engine=auto",
    ]
