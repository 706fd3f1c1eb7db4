"""One Atari game as a Gymnasium environment, for every backend but the game's own vector.

A step holds an action for `env.frames_per_step` frames. Nothing depends on what was played before:
an episode begins from one stored state of the console, waits as long as its seed says, and repeats
actions (`repeat_action_probability`) where its seed says, so that seed and actions give it again.
Loading the game anew with another seed, as ALE does at a reset, would take a third of a short episode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX
from gymnast.envs.build.strip_wrappers import strip_wrappers
from gymnast.errors import EnvError
from gymnast.seeds import stream

Array = np.ndarray
OURS = {"frameskip": "env.frames_per_step", "obs_type": "env.view"}
"""Keyword arguments that say what a key of the config says -> that key."""
_UNSUPPORTED = ("continuous", "sound_obs")
_VECTOR_TAKES = ("repeat_action_probability", "full_action_space", "max_num_frames_per_episode")
_DRAWS = 1024
"""Random numbers drawn at a time."""
_first_states: dict[str, Any] = {}
"""Game and its settings -> the console when it has just been switched on."""


def make_game(cfg: EnvConfig) -> gym.Env[Any, Any]:
    import ale_py  # it registers a hundred games

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # it greets everyone else
    kwargs = dict[str, Any](cfg.kwargs)
    refuse_ours(cfg)
    for name in _UNSUPPORTED:
        if kwargs.get(name):
            raise EnvError(f"{cfg.id}: {name} is not supported", at=f"env.kwargs.{name}")
    ours = {"frameskip": 1, "obs_type": _shown(cfg), "repeat_action_probability": 0.0}
    made = gym.make(cfg.id, disable_env_checker=True, **kwargs | ours)
    return AtariGame(strip_wrappers(made)[0], cfg)


def refuse_ours(cfg: EnvConfig) -> None:
    for name, key in OURS.items():
        if name in cfg.kwargs:
            raise EnvError(f"{cfg.id}: env.kwargs.{name} is not for you to set", fix=f"set {key}")


def vector_settings(cfg: EnvConfig, limit: int | None) -> dict[str, Any]:
    """Keyword arguments by which ALE's own vector does the same. What it cannot do is refused."""
    refuse_ours(cfg)
    for key, beyond in (
        ("env.view", cfg.view != "image"),
        ("env.image.colour", cfg.image.colour != "gray"),
        ("env.image.crop", any(cfg.image.crop)),
        ("env.atari.fire", cfg.atari.fire == "life"),
        *((f"env.kwargs.{name}", name not in _VECTOR_TAKES) for name in cfg.kwargs),
    ):
        if beyond:
            what = f"{cfg.id}'s own vector implementation cannot do that"
            raise EnvError(what, at=key, fix=OTHER_BACKEND_FIX)
    settings: dict[str, Any] = {
        "img_height": cfg.image.size[0],
        "img_width": cfg.image.size[1],
        "maxpool": cfg.image.max_pool,
        "stack_num": cfg.stack,
        "frameskip": cfg.frames_per_step,
        "noop_max": cfg.atari.noop_starts,
        "use_fire_reset": cfg.atari.fire == "start",
        "episodic_life": cfg.atari.life_loss_ends,
        "reward_clipping": False,  # scores are of the raw return
        "num_threads": cfg.workers or 0,
        **cfg.kwargs,
    }
    if limit is not None:
        settings["max_num_frames_per_episode"] = limit * cfg.frames_per_step
    return settings


class SeededCopies(VectorWrapper):
    """ALE's vector with resets of ours, so that now and then a copy can be seeded and be replayed from
    there. ALE would reset a copy by itself, unseeded, in the step after its end."""

    seed_every = 20_000
    """Steps of a copy between two seeds: what a resumed run replays. ALE loads the game again for a
    seed, which takes as long as 25 to 30 steps of the vector."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.DISABLED}

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        given: Any = seed
        if isinstance(seed, list):  # one per copy; ALE takes one per copy that is reset
            named = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
            each = [-1 if one is None else one for one in seed]
            given = np.array(each, dtype=np.int64)[named]
        return self.env.reset(seed=given, options=options)


def sticky(cfg: EnvConfig) -> float:
    """How likely a frame repeats the last action instead of the one chosen."""
    spec = gym.spec(cfg.id)
    given = cfg.kwargs.get("repeat_action_probability", spec.kwargs["repeat_action_probability"])
    return float(given)  # type: ignore[arg-type]


class AtariGame(gym.Wrapper[Any, Any, Any, Any]):
    def __init__(self, env: gym.Env[Any, Any], cfg: EnvConfig) -> None:
        super().__init__(env)
        game: Any = env.unwrapped
        self._ale: Any = game.ale
        self._look = _look(self._ale, _shown(cfg))
        self._frames, self._rules = cfg.frames_per_step, cfg.atari
        self._pools = cfg.view == "image" and cfg.image.max_pool and cfg.frames_per_step > 1
        meanings = game.get_action_meanings()
        self._actions = [game._action_set[i] for i in range(len(meanings))]
        self._noop = self._actions[meanings.index("NOOP")]
        fires = cfg.atari.fire != "off" and "FIRE" in meanings
        self._fire = self._actions[meanings.index("FIRE")] if fires else None
        self._sticky = sticky(cfg)
        self._first = _first_state(game, cfg)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        self._rng = stream(chosen, "atari")
        self._draws: list[float] = []
        self._ale.restoreState(self._first)
        wait = int(self._rng.integers(self._rules.noop_starts)) + 1
        for _ in range(wait - 1):
            self._ale.act(self._noop)
        self._ale.act(self._noop if self._fire is None else self._fire)
        self._held = self._noop
        self._lives = self._ale.lives()
        return self._look(), self._told()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        ale, wanted = self._ale, self._actions[action]
        reward, over, before = 0.0, False, None
        for left in range(self._frames - 1, -1, -1):
            if not (self._sticky and self._repeats()):
                self._held = wanted
            reward += ale.act(self._held)
            lives = ale.lives()
            lost, self._lives = lives < self._lives, lives
            over = ale.game_over() or (lost and self._rules.life_loss_ends)
            if over:
                break
            if lost and self._fire is not None and self._rules.fire == "life":
                ale.act(self._fire)
            if left == 1 and self._pools:
                before = self._look()
        obs = self._look()
        if before is not None:
            np.maximum(obs, before, out=obs)
        truncated = over and ale.game_truncated()
        return obs, reward, over and not truncated, truncated, self._told()

    def _repeats(self) -> bool:
        if not self._draws:
            self._draws = self._rng.random(_DRAWS).tolist()
        return self._draws.pop() < self._sticky

    def _told(self) -> dict[str, Any]:
        return {"lives": self._lives, "episode_frame_number": self._ale.getEpisodeFrameNumber()}


def _shown(cfg: EnvConfig) -> str:
    """What ALE is to show."""
    if cfg.view in ("objects", "ram"):
        return "ram"
    return "grayscale" if cfg.view == "image" and cfg.image.colour == "gray" else "rgb"


def _look(ale: Any, shown: str) -> Callable[[], Array]:
    looks = {"ram": ale.getRAM, "grayscale": ale.getScreenGrayscale, "rgb": ale.getScreenRGB}
    return looks[shown]


def _first_state(game: Any, cfg: EnvConfig) -> Any:
    """The same in every process: of a console whose own randomness has a fixed seed."""
    key = repr((cfg.id, sorted(cfg.kwargs.items())))
    if key not in _first_states:
        game.reset(seed=0)
        _first_states[key] = game.ale.cloneState(include_rng=True)
    return _first_states[key]
