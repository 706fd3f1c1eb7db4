"""`gymnast play` on the command line: policies and random actions, into films and step by step."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from gymnast.cli import main
from gymnast.evaluation.rescore import load_policy
from gymnast.play.request import PlayRequest
from gymnast.play.session import play
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from tests.film.film_envs import decode_film
from tests.small_runs import traces
from tests.waiting import PATIENCE, size_of_files, wait_for

HEADLESS = {
    name: value
    for name, value in os.environ.items()
    if name not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
} | {"NO_COLOR": "1"}


def typed(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Runs `gymnast play ...` without a display; `given` is its stdin."""
    command = [sys.executable, "-m", "gymnast", "play", *words]
    return subprocess.run(command, capture_output=True, text=True, env=HEADLESS, input=given)


def hide_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.setenv(name, "")  # set, so that monkeypatch restores it whatever play does


def test_random_play_is_recorded_without_a_display(tmp_path: Path):
    film = tmp_path / "random.mp4"
    words = ["FrozenLake-v1", "--record", str(film), "--seed", "3", "--episodes", "2"]
    done = typed(*words, "--fps", "10")
    assert done.returncode == 0, done.stderr
    first, second, path = done.stdout.splitlines()
    assert path == str(film)
    steps = [int(line.split(" in ")[1].split()[0]) for line in (first, second)]
    assert "(seed 3)" in first
    assert "(seed 4)" in second
    frames, about = decode_film(film)
    assert about["fps"] == 10
    assert len(frames) == sum(n + 1 + 10 for n in steps)
    assert np.abs(frames[0].astype(int) - frames[steps[0]]).max() > 50


@pytest.fixture(scope="module")
def scored(cartpole: Run) -> Trace:
    """Returns the first episode of the last evaluation, whose policy has a checkpoint."""
    newest, episodes = max(traces(cartpole, "eval").items())
    assert newest in {int(p.name) for p in cartpole.checkpoints.iterdir() if p.name.isdigit()}
    return episodes[0]


def test_a_policy_plays_as_it_was_evaluated(cartpole: Run, scored: Trace, tmp_path: Path):
    target = f"{cartpole.path}:{scored.version}"
    film = tmp_path / "policy.mp4"
    done = typed(target, "--seed", str(scored.seed), "--record", str(film), "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["player"] == "policy"
    (episode,) = answer["episodes"]
    assert (episode["raw_return"], episode["length"]) == (scored.raw_return, len(scored))
    frames, _ = decode_film(film)
    assert len(frames) == len(scored) + 1 + 50


def test_step_by_step_prints_observation_action_reward_and_value(cartpole: Run, scored: Trace):
    target = f"{cartpole.path}:{scored.version}"
    done = typed(target, "--step", "--seed", str(scored.seed), given="\n\n")
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    obs, _ = gym.make("CartPole-v1").reset(seed=scored.seed)
    assert f"step 0\n  cart position {obs[0]:.4g} m, cart velocity {obs[1]:.4g} m/s" in printed
    assert ["push left", "push right"][scored.action[0]] in printed.splitlines()[2]
    assert f"value {scored.value[0]:.2f}" in printed.splitlines()[2]
    assert "reward +1, return 1" in printed
    assert "step 2\n" in printed  # the third waits for a line that never comes
    assert "return 2 in 2 steps, interrupted" in printed


def test_a_human_without_a_display_types_the_keys():
    given = "left\nup\nright\nright\nq\n"
    done = typed("CartPole-v1", "--human", "--step", "--seed", "1", given=given)
    assert done.returncode == 0, done.stderr
    assert "keys  left: push left, right: push right" in done.stdout
    actions = [line.split(": ")[-1].strip() for line in done.stdout.splitlines() if "push" in line]
    assert actions[1:] == ["push left", "push right", "push right"]
    assert "return 3 in 3 steps, interrupted (seed 1)" in done.stdout


def test_sampled_actions_repeat_with_their_seed_and_differ_between_seeds(
    cartpole: Run, monkeypatch: pytest.MonkeyPatch
):
    cfg, policy = cartpole.config(), load_policy(checkpoint.find(cartpole.path, "latest"))
    hide_display(monkeypatch)

    def printed_text(seed: int) -> list[str]:
        text: list[str] = []
        options = PlayRequest("", "policy", sampled=True, seed=seed, step_by_step=True)
        ended = lambda outcome: text.append(str(outcome))  # noqa: E731
        play(cfg, policy, options, echo=text.append, ask=lambda _: "", on_episode_end=ended)
        return text

    first = printed_text(1)
    assert first == printed_text(1)
    assert first != printed_text(2)
    assert "terminated" in first[-1] or "truncated" in first[-1]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["CartPole-v1"], 2, "no display"),
        (["CartPole-v1"], 2, "--record out.mp4"),
        (["CartPole-v1", "--human"], 2, "--human --step"),
        (["CartPole-v1", "--human", "--random", "--step"], 2, "exclude each other"),
        (["CartPole-v1", "--sample", "--step"], 2, "policy of a run"),
        (["CartPole-v1", "--record", "film.gif"], 2, "must end in .mp4"),
        (["CartPole-v1", "--checkpoint", "best"], 2, "is not a run"),
        (["CartPole-v9", "--step"], 1, "CartPole-v1"),
        (["@last"], 1, "no runs"),
        (["py:tests.scripted:Script", "--record", "a.mp4"], 1, "no render mode"),
        (["Pendulum-v1", "--human", "--step", "--fps", "0"], 2, "--fps"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_invalid_arguments_raise_a_clear_error(
    words: list[str],
    code: int,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    hide_display(monkeypatch)
    monkeypatch.setattr(sys, "argv", ["gymnast", "play", *words])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == code
    assert text in capsys.readouterr().err


def test_ctrl_c_ends_the_game_and_keeps_a_valid_film(tmp_path: Path):
    film = tmp_path / "long.mp4"
    kwargs = "py:tests.play.test_playing:Endless"
    command = [sys.executable, "-m", "gymnast", "play", kwargs, "--record", str(film)]
    child = subprocess.Popen(command, env=HEADLESS, stdout=subprocess.PIPE, text=True)
    wait_for(lambda: child.poll() is not None or size_of_files(tmp_path) >= 50_000)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    text, _ = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0
    assert "interrupted" in text
    frames, _ = decode_film(film)
    assert len(frames) > 10
    assert os.listdir(tmp_path) == ["long.mp4"]


class Endless(gym.Env):
    """Renders noise and never ends."""

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = gym.spaces.Box(0, 1, (1,), np.float32)
        self.action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), 0.0, False, False, {}

    def render(self):
        return self.np_random.integers(0, 255, (80, 100, 3), np.uint8)
