"""Atari games as Gymnasium environments whose episodes are a function of seed and actions.

A step repeats an action for `env.frames_per_step` frames. Every episode starts from the same stored
state of the console; its seed decides the number of no-op frames and when an action is repeated
(`repeat_action_probability`). ALE itself reloads the ROM to seed an episode, which takes as long as a
third of a short episode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorWrapper

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX
from gymnast.envs.build.env_ids import make_registered
from gymnast.envs.build.strip_wrappers import strip_wrappers
from gymnast.envs.env_types import Env, EnvWrapper, Info, Options, ResetResult, VectorEnv
from gymnast.errors import EnvError
from gymnast.seeds import stream

if TYPE_CHECKING:
    from ale_py import ALEInterface, ALEState
    from ale_py.env import AtariEnv

Array = np.ndarray
REPLACED_KWARGS = {"frameskip": "env.frames_per_step", "obs_type": "env.view"}
"""Keyword arguments of ALE that a config key replaces -> that key."""
_UNSUPPORTED = ("continuous", "sound_obs")
_VECTOR_KWARGS = ("repeat_action_probability", "full_action_space", "max_num_frames_per_episode")
_DRAWS = 1024
"""Number of random numbers drawn at a time, since single draws are slow."""
_first_states: dict[str, ALEState] = {}
"""Game and its settings -> state of the console right after power-on."""


def make_game(cfg: EnvConfig) -> Env:
    """Returns one game with the action repeat, no-op starts and life rules of the config."""
    import ale_py  # imported here because it registers more than a hundred environments

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # else it prints a banner
    kwargs = cfg.kwargs
    reject_replaced_kwargs(cfg)
    for name in _UNSUPPORTED:
        if kwargs.get(name):
            raise EnvError(f"{cfg.id}: {name} is not supported", at=f"env.kwargs.{name}")
    # AtariGame skips frames and repeats actions itself, with the episode's own random stream
    ours = {"frameskip": 1, "obs_type": _obs_type(cfg), "repeat_action_probability": 0.0}
    made = make_registered(cfg.id, {**kwargs, **ours})
    return AtariGame(strip_wrappers(made)[0], cfg)


def reject_replaced_kwargs(cfg: EnvConfig) -> None:
    """Raises EnvError for keyword arguments that a config key replaces."""
    for name, key in REPLACED_KWARGS.items():
        if name in cfg.kwargs:
            raise EnvError(f"{cfg.id}: env.kwargs.{name} is replaced by {key}", fix=f"set {key}")


def vector_settings(cfg: EnvConfig, limit: int | None) -> dict[str, object]:
    """Returns the keyword arguments that make ALE's vectorized implementation apply the same settings.
    `limit`: maximum steps per episode, or None. Raises EnvError for a setting that it does not support."""
    reject_replaced_kwargs(cfg)
    for key, unsupported in (
        ("env.view", cfg.view != "image"),
        ("env.image.color", cfg.image.color != "gray"),
        ("env.image.crop", any(cfg.image.crop)),
        ("env.atari.fire", cfg.atari.fire == "life"),
        *((f"env.kwargs.{name}", name not in _VECTOR_KWARGS) for name in cfg.kwargs),
    ):
        if unsupported:
            what = f"{cfg.id}'s own vector implementation does not support this setting"
            raise EnvError(what, at=key, fix=OTHER_BACKEND_FIX)
    settings: dict[str, object] = {
        "img_height": cfg.image.size[0],
        "img_width": cfg.image.size[1],
        "maxpool": cfg.image.max_pool,
        "stack_num": cfg.stack,
        "frameskip": cfg.frames_per_step,
        "noop_max": cfg.atari.noop_starts,
        "use_fire_reset": cfg.atari.fire == "start",
        "episodic_life": cfg.atari.life_loss_ends,
        "reward_clipping": False,  # scores use the raw return
        "num_threads": cfg.workers or 0,
        **cfg.kwargs,
    }
    if limit is not None:
        settings["max_num_frames_per_episode"] = limit * cfg.frames_per_step
    return settings


class SeededCopies(VectorWrapper[object, object, object, object, Array]):
    """ALE's vectorized games without autoreset, so that a copy can be seeded now and then and replayed from
    there. ALE itself would reset a copy without a seed in the step after its episode ended."""

    seed_every = 20_000
    """Number of steps of a copy between two seedings, which is what a resumed run has to replay. ALE reloads
    the ROM for a seed, which takes as long as 25 to 30 steps of the vector."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.DISABLED}

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: Options = None
    ) -> ResetResult:
        """Resets the copies in `options["reset_mask"]`, by default all, and returns the observations and
        infos. `seed`: one for all, or one per copy, of which None leaves a copy unseeded."""
        ale_seed: Any = seed  # Gymnasium declares only int | None
        if isinstance(seed, list):
            # Gymnasium passes one seed per copy; ALE takes one per copy that is reset, -1 for none.
            chosen = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, bool)))
            each = [-1 if one is None else one for one in seed]
            ale_seed = np.array(each, dtype=np.int64)[chosen]
        return self.env.reset(seed=ale_seed, options=options)


def sticky_probability(cfg: EnvConfig) -> float:
    """Returns the probability that a frame repeats the previous action (Machado et al. 2018)."""
    spec = gym.spec(cfg.id)
    default = spec.kwargs["repeat_action_probability"]
    return float(cfg.kwargs.get("repeat_action_probability", default))  # type: ignore[arg-type]


class AtariGame(EnvWrapper):
    """One game, played directly on ALE: frame skip, sticky actions, no-op starts and life rules, with all
    randomness from the seed of the episode."""

    def __init__(self, env: Env, cfg: EnvConfig) -> None:
        super().__init__(env)
        game = cast("AtariEnv", env.unwrapped)
        self._ale = game.ale
        self._read_obs = _obs_reader(self._ale, _obs_type(cfg))
        self._frames, self._rules = cfg.frames_per_step, cfg.atari
        # Some games draw objects in every other frame only; the maximum of two frames shows them all.
        self._pools = cfg.view == "image" and cfg.image.max_pool and cfg.frames_per_step > 1
        meanings = game.get_action_meanings()
        self._actions = [game._action_set[i] for i in range(len(meanings))]
        self._noop = self._actions[meanings.index("NOOP")]
        fires = cfg.atari.fire != "off" and "FIRE" in meanings
        self._fire = self._actions[meanings.index("FIRE")] if fires else None
        self._sticky = sticky_probability(cfg)
        self._first = _first_state(game, cfg)

    def reset(self, *, seed: int | None = None, options: Options = None) -> tuple[Array, Info]:
        """Restores the power-on state, plays a random number of no-op frames and returns the first
        observation and info. Without a seed, one is drawn."""
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        self._rng = stream(chosen, "atari")
        self._draws: list[float] = []
        self._ale.restoreState(self._first)
        # Random no-ops at the start (Mnih et al. 2015); the last is FIRE if the config asks for it.
        n_noops = int(self._rng.integers(self._rules.noop_starts)) + 1
        for _ in range(n_noops - 1):
            self._ale.act(self._noop)
        self._ale.act(self._noop if self._fire is None else self._fire)
        self._applied = self._noop
        self._lives = self._ale.lives()
        return self._read_obs(), self._info()

    def step(self, action: object) -> tuple[Array, float, bool, bool, Info]:
        """Plays the action for `env.frames_per_step` frames, or until the episode ends, and returns
        observation, summed reward, terminated, truncated and info."""
        ale, wanted = self._ale, self._actions[cast("SupportsIndex", action)]
        reward, over, before_last = 0.0, False, None
        for left in range(self._frames - 1, -1, -1):
            # Sticky actions are decided per frame, not per step, as in ALE itself.
            if not (self._sticky and self._repeats()):
                self._applied = wanted
            reward += ale.act(self._applied)
            lives = ale.lives()
            lost, self._lives = lives < self._lives, lives
            over = ale.game_over() or (lost and self._rules.life_loss_ends)
            if over:
                break
            if lost and self._fire is not None and self._rules.fire == "life":
                ale.act(self._fire)
            if left == 1 and self._pools:
                before_last = self._read_obs()  # for max pooling over the last two frames
        obs = self._read_obs()
        if before_last is not None:
            np.maximum(obs, before_last, out=obs)
        truncated = over and ale.game_truncated()
        return obs, reward, over and not truncated, truncated, self._info()

    def _repeats(self) -> bool:
        """Draws whether this frame repeats the previous action."""
        if not self._draws:
            self._draws = self._rng.random(_DRAWS).tolist()
        return self._draws.pop() < self._sticky

    def _info(self) -> Info:
        return {"lives": self._lives, "episode_frame_number": self._ale.getEpisodeFrameNumber()}


def _obs_type(cfg: EnvConfig) -> str:
    """Returns ALE's `obs_type` for the view of the config."""
    if cfg.view in ("objects", "ram"):
        return "ram"
    return "grayscale" if cfg.view == "image" and cfg.image.color == "gray" else "rgb"


def _obs_reader(ale: ALEInterface, obs_type: str) -> Callable[[], Array]:
    """Returns the method of ALE that reads the current observation."""
    readers = {"ram": ale.getRAM, "grayscale": ale.getScreenGrayscale, "rgb": ale.getScreenRGB}
    return readers[obs_type]


def _first_state(game: AtariEnv, cfg: EnvConfig) -> ALEState:
    """Returns the power-on state of the console. A fixed seed makes it the same in every process."""
    key = repr((cfg.id, sorted(cfg.kwargs.items())))
    if key not in _first_states:
        game.reset(seed=0)
        _first_states[key] = game.ale.cloneState(include_rng=True)
    return _first_states[key]
