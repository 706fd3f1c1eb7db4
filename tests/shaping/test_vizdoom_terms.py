"""VizDoom's terms match the game's own counters, read step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import vizdoom

from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.shaping import TermConfig
from gymnast.envs.build.make import make_env
from gymnast.errors import ConfigError
from gymnast.shaping.shaping import build_term, term_values
from gymnast.shaping.steps import ObsBatch, Steps, TermContext
from gymnast.spaces.spaces import convert_obs_space
from tests.small_runs import rows, train_small

SHOWN = ["HITCOUNT", "HEALTH", "KILLCOUNT", "AMMO2"]
SETTINGS: dict[str, Any] = {
    "id": "VizdoomDefendCenter-v1",
    "keep": ["screen", "gamevariables"],
    "view": "image",
    "image": {"size": [30, 40]},
    "stack": 1,
    "kwargs": {
        "frame_skip": 4,
        "screen_format": "GRAY8",
        "screen_resolution": "RES_160X120",
        "available_game_variables": SHOWN,
        "doom_skill": 5,
    },
}
SHOOT, TURN = 1, 2


def scene(**changes: Any) -> TermContext:
    cfg = EnvConfig.model_validate(SETTINGS | changes)
    env = make_env(cfg)
    env.close()
    return TermContext(cfg, convert_obs_space(env.observation_space), ())


def test_vizdoom_terms_match_the_games_own_counters():
    """Plays a complete episode of turning and shooting."""
    where = scene()
    env = make_env(where.env)
    game: Any = env.unwrapped
    seen, counted, ended = [env.reset(seed=2)[0]], [], False
    names = [getattr(vizdoom.GameVariable, name) for name in SHOWN]
    counted.append([game.game.get_game_variable(name) for name in names])
    while not ended:
        action = SHOOT if len(seen) % 3 else TURN
        obs, _, ended, _, _ = env.step(np.int64(action))
        seen.append(obs)
        counted.append([game.game.get_game_variable(name) for name in names])
    env.close()
    observations = np.zeros((len(seen), 1), where.obs.dtype)
    for row, obs in zip(observations[:, 0], seen, strict=True):
        row["screen"], row["gamevariables"] = obs["screen"], obs["gamevariables"]
    none = np.zeros((len(seen) - 1, 1), dtype=bool)
    over = none.copy()
    over[-1] = True
    before, after = (ObsBatch(part, where.names) for part in (observations[:-1], observations[1:]))
    zero = np.zeros(none.shape)
    steps = Steps(before, after, zero, zero, over, none, over, ~none, zero.astype(int), 0.99)

    hits, health, kills, ammunition = np.diff(np.array(counted), axis=0).T
    found = {
        name: term_values(name, build_term(name, TermConfig(), where), steps)[:, 0]
        for name in ("missed", "kills", "hurt")
    }
    assert found["kills"].tolist() == kills.tolist()
    assert found["hurt"].tolist() == [min(x, 0.0) for x in health]
    expected = [-max(-a - h, 0.0) for a, h in zip(ammunition, hits, strict=True)]
    assert found["missed"].tolist() == expected
    assert kills.sum() > 0
    assert found["hurt"].sum() < 0
    assert -found["missed"].sum() < -ammunition.sum()  # some rounds hit


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        (
            "missed",
            {"kwargs": {}},
            r"has the variables AMMO2, HEALTH, but not HITCOUNT\n.*AMMO2, HEALTH, HITC",
        ),
        ("kills", {"keep": ["screen"]}, r"has no entry gamevariables\n.*env.keep=\[screen, game"),
        (
            "hurt",
            {"id": "CartPole-v1", "keep": [], "view": "raw", "kwargs": {}},
            "not a VizDoom scenario",
        ),
        ("hurt", {"tasks": {"near": {}, "far": {}}}, "a single task"),
    ],
)
def test_missing_game_variables_are_refused_with_the_setting_that_adds_them(
    name: str, changes: dict[str, Any], message: str
):
    with pytest.raises(ConfigError, match=message):
        build_term(name, TermConfig(), scene(**changes))


def test_a_policy_trains_on_screen_and_variables_and_records_the_terms():
    target = SETTINGS["id"]
    settings = {f"env.{key}": value for key, value in SETTINGS.items() if key != "id"}
    run = train_small(
        target,
        settings
        | {"env.n_envs": 2, "algo.n_steps": 32, "stop.rollouts": 2, "eval.every": "off"}
        | {"eval.confirm_episodes": 2, "eval.max_episode_steps": 10, "normalize.obs": "running"}
        | {"shaping.missed.weight": 0.1, "shaping.hurt.weight": 0.01},
    )
    last = [row for row in rows(run) if "shaping/total" in row][-1]
    assert last["shaping/missed"] < 0
    assert np.isfinite(last["policy/loss"])
