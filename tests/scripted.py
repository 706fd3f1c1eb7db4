"""Environments whose every number is known in advance, with the id `py:tests.scripted:Name`.

An episode of `Script` is a function of its seed alone. The pure functions `reward_of`, `obs_of`, `length_of`
and `end_of` compute it, so that tests know the expected values without stepping an environment.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

End = Literal["terminated", "truncated", "both"]
ENDS: tuple[End, ...] = ("terminated", "truncated", "both")


def reward_of(seed: int, t: int) -> float:
    """Returns the reward of step t = 1, 2, ...: a multiple of 1/8, so that sums are exact in any order."""
    return ((seed + 3 * t) % 16 - 5) / 8


def obs_of(seed: int, t: int) -> np.ndarray:
    """Returns the observation after t steps: t, and both halves of the seed, each exact in float32."""
    return np.array([t / 8, (seed >> 16) / 2**15, (seed & 0xFFFF) / 2**16], dtype=np.float32)


def seed_from_obs(obs: np.ndarray) -> int:
    """Returns the seed of the episode that an observation belongs to."""
    return (round(float(obs[1]) * 2**15) << 16) + round(float(obs[2]) * 2**16)


class Script(gym.Env[np.ndarray, Any]):
    """Rewards and observations do not depend on the actions.

    `length` and `end` apply to every episode; None derives them from its seed (length 1 to 7).
    """

    def __init__(
        self,
        length: int | None = None,
        end: End | None = None,
        n_actions: int = 3,
        box: bool = False,
        low: float = -2.0,
        high: float = 2.0,
    ) -> None:
        self.length, self.end = length, end
        self.observation_space = Box(0.0, np.inf, (3,), np.float32)
        self.action_space = Box(low, high, (2,), np.float32) if box else Discrete(n_actions)
        self.seed = self.t = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        assert seed is not None
        self.seed, self.t = seed, 0
        return obs_of(seed, 0), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), f"{action!r} is not of {self.action_space}"
        self.t += 1
        terminated = truncated = False
        if self.t == (self.length or length_of(self.seed)):
            end = self.end or end_of(self.seed)
            terminated, truncated = end != "truncated", end != "terminated"
        obs, reward = obs_of(self.seed, self.t), reward_of(self.seed, self.t)
        return obs, reward, terminated, truncated, {"steps": self.t}


def length_of(seed: int) -> int:
    return 1 + seed % 7


def end_of(seed: int) -> End:
    return ENDS[seed // 7 % 3]


class Worthless(Script):
    """Every reward is zero."""

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        obs, _, terminated, truncated, info = super().step(action)
        return obs, 0.0, terminated, truncated, info


class Pictures(Script):
    """The same episodes, with stacks of the last four 40 x 40 grayscale images as observations."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(0, 255, (4, 40, 40), np.uint8)
        self.seen = np.zeros((4, 40, 40), np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        _, info = super().reset(seed=seed, options=options)
        self.seen = np.zeros_like(self.seen)
        return self._shown(), info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return self._shown(), *super().step(action)[1:]

    def _shown(self) -> np.ndarray:
        pixels = np.arange(1600).reshape(40, 40) * (self.seed % 251 + 3 * self.t + 1) % 256
        self.seen = np.concatenate([self.seen[1:], pixels.astype(np.uint8)[None]])
        return self.seen


class Broken(Script):
    """Violates the interface of an environment in the way `how`, at step `at` (0: the reset) of the episode
    with seed `only`, or of all episodes if it is "all"."""

    def __init__(self, how: str, at: int = 3, only: int | str = 2) -> None:
        super().__init__(length=50)
        self.how, self.at, self.only = how, at, only
        if how in ("category", "fraction", "no category"):
            self.observation_space = Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict]:
        obs, info = super().reset(seed=seed, options=options)
        return self._shown(obs), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        obs, reward, *rest = super().step(action)
        if self._now():
            rewards: dict[str, Any] = {"nan reward": np.nan, "inf reward": np.inf}
            rewards["text reward"] = "a lot"
            reward = rewards.get(self.how, reward)
            if self.how == "ends":
                rest[0] = np.array([True, False])
        return self._shown(obs), reward, *rest

    def _shown(self, obs: np.ndarray) -> Any:
        fine = 1 if isinstance(self.observation_space, Discrete) else obs
        if not self._now():
            return fine
        _happen(self.how)
        match self.how:
            case "raises":
                raise ZeroDivisionError("the physics went wrong")
            case "nan obs":
                return np.array([0, np.nan, 0], dtype=np.float32)
            case "inf obs":
                return np.array([0, 0, np.inf], dtype=np.float32)
            case "shape":
                return np.zeros(4, dtype=np.float32)
            case "list":
                return [0.0, 0.0, 0.0]
            case "text obs":
                return np.array(["a", "b", "c"])
            case "category":
                return 4
            case "fraction":
                return 1.5
            case "no category":
                return None
            case _:
                return fine

    def _now(self) -> bool:
        return self.only in ("all", self.seed) and self.t == self.at


class Planned(Script):
    """The episode with a seed in `plan` raises at the step that the plan gives for it; others take 50."""

    def __init__(self, plan: dict[str, int]) -> None:
        super().__init__(length=50)
        self.plan = plan

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self.plan.get(str(self.seed)) == self.t + 1:
            raise ZeroDivisionError("the physics went wrong")
        return super().step(action)


FAULT_KINDS = (
    *(
        "",
        "raises",
        "nan reward",
        "inf reward",
        "text reward",
        "nan obs",
        "inf obs",
        "shape",
        "list",
    ),
    *("text obs", "sys.exit", "os._exit", "killed", "segfault", "hangs", "slow", "prints"),
    "ends",
)


def faulty_seeds(how: str, at: int) -> list[int]:
    """Returns seeds for four copies of `Shaky`: the copy at index 2 fails at step `at` (0: the reset)."""
    first = 1000 * FAULT_KINDS.index(how) + 10 * at
    return [first, first + 1, first + 2, first + 3]


class Shaky(Broken):
    """The seed of an episode encodes whether, when and how it fails (see `faulty_seeds`). Episodes with seeds
    below 1000 do not fail. A reset without a seed uses the next seed."""

    def __init__(self, trap: str = "") -> None:
        """The constructor raises as long as the file `trap` exists."""
        if trap and os.path.exists(trap):
            raise RuntimeError("no room for another")
        super().__init__("")

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict]:
        seed = self.seed + 1 if seed is None else seed
        self.how, self.at = FAULT_KINDS[seed // 1000], seed % 1000 // 10
        self.only = seed if seed >= 1000 and seed % 10 == 2 else -1
        self.length = 50 if seed >= 1000 else None
        return super().reset(seed=seed, options=options)


def _happen(how: str) -> None:
    match how:
        case "sys.exit":
            sys.exit("enough")
        case "os._exit":
            os._exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hangs":
            time.sleep(3600)
        case "slow":
            time.sleep(0.3)
        case "prints":
            print("hello from the environment")
            warnings.warn("the pole is loose", stacklevel=1)


class Stillborn(Script):
    def __init__(self) -> None:
        os._exit(7)


class Remembers(gym.Env[np.ndarray, np.ndarray]):
    """Returns the action before the last one as its observation. It keeps actions without copying them, so a
    caller that reuses the array of an action is noticed."""

    def __init__(self) -> None:
        self.observation_space = Box(-9.0, 9.0, (2,), np.float64)
        self.action_space = Box(-2.0, 2.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        self.kept = [np.zeros(2, np.float32)] * 2
        return self.kept[0].astype(np.float64), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert action.dtype == np.float32
        self.kept = [self.kept[1], action]
        return self.kept[0].astype(np.float64), 0.0, False, False, {}


class Masked(Script):
    """Its action mask forbids the action (seed + t) mod 3."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        obs, _ = super().reset(seed=seed, options=options)
        return obs, self._mask()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        *rest, info = super().step(action)
        return *rest, info | self._mask()

    def _mask(self) -> dict[str, Any]:
        return {"action_mask": mask_of(self.seed, self.t)}


def mask_of(seed: int, t: int) -> np.ndarray:
    return np.arange(3) != (seed + t) % 3


class Forgetful(Script):
    """Ignores the seed of a reset: every episode is different."""

    count = itertools.count(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        self.seed = next(Forgetful.count)
        return obs_of(self.seed, 0), {}


class Alarm(Script):
    """Sends its own process a signal after `Alarm.after` steps of all copies."""

    after: int | None = None
    number = signal.SIGTERM

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if Alarm.after is not None:
            Alarm.after -= 1
            if Alarm.after == 0:
                Alarm.after = None
                os.kill(os.getpid(), Alarm.number)
        return super().step(action)


class Breaks(Script):
    """Every step raises once all copies of this process together have taken `after` steps."""

    taken = 0

    def __init__(self, after: int) -> None:
        super().__init__(length=50)
        self.after = after

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        Breaks.taken += 1
        if Breaks.taken > self.after:
            raise ZeroDivisionError("the physics went wrong")
        return super().step(action)


class Drift(Script):
    """The reward is 0 in the first `steps` steps of each copy and 1 per step from then on."""

    def __init__(self, steps: int) -> None:
        super().__init__(length=4, end="terminated")
        self.lifetime, self.steps = 0, steps

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        obs, _, *ends = super().step(action)
        self.lifetime += 1
        return obs, float(self.lifetime > self.steps), *ends


class Choose(gym.Env[int, int]):
    """The observation is the correct action, which has reward 1; others have 0. Actions start at `first`."""

    def __init__(self, n: int = 4, length: int = 8, first: int = 0) -> None:
        self.observation_space, self.action_space = (Discrete(n, start=first) for _ in range(2))
        self.n, self.length, self.first = n, length, first

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict]:
        super().reset(seed=seed, options=options)
        self.t = 0
        return self._draw(), {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.t += 1
        reward = float(action == self.right)
        return self._draw(), reward, False, self.t == self.length, {}

    def _draw(self) -> int:
        self.right = self.first + int(self.np_random.integers(self.n))
        return self.right


class Hover(gym.Env[int, int]):
    """The action that equals the observation stays in the air, with reward 3; the other one lands, with
    reward 20, and terminates. It pays to stay in the air."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict]:
        super().reset(seed=seed, options=options)
        return self._draw(), {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        lands = action != self.right
        return self._draw(), 20.0 if lands else 3.0, lands, False, {}

    def _draw(self) -> int:
        self.right = int(self.np_random.integers(2))
        return self.right


class Match(gym.Env[np.ndarray, np.ndarray]):
    """The observation in -1..1 is the correct action, scaled to its range -2..6. The reward is minus the
    absolute error."""

    def __init__(self, length: int = 8) -> None:
        self.observation_space = Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = Box(-2.0, 6.0, (1,), np.float32)
        self.length = length

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        self.t = 0
        return self._draw(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.t += 1
        right = 2.0 + 4.0 * float(self.right[0])
        reward = -abs(float(action[0]) - right) / 4
        return self._draw(), reward, self.t == self.length, False, {}

    def _draw(self) -> np.ndarray:
        self.right = self.np_random.uniform(-0.9, 0.9, 1).astype(np.float32)
        return self.right


class Chain(gym.Env[int, int]):
    """Visits the states 0 to n - 1 in order, whatever the actions. The last step has reward 1 and terminates.

    V(s) = gamma ** (n - 1 - s)."""

    def __init__(self, n: int = 5) -> None:
        self.observation_space, self.action_space = Discrete(n), Discrete(2)
        self.n = n

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict]:
        super().reset(seed=seed, options=options)
        self.state = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.state += 1
        over = self.state == self.n
        return min(self.state, self.n - 1), float(over), over, False, {}


class Forever(gym.Env[int, int]):
    """One state with reward 1 per step, truncated after `length` steps. V = 1 / (1 - gamma)."""

    def __init__(self, length: int = 3) -> None:
        self.observation_space, self.action_space = Discrete(1), Discrete(2)
        self.length = length

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict]:
        super().reset(seed=seed, options=options)
        self.t = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.t += 1
        return 0, 1.0, False, self.t == self.length, {}


class Trouble(Script):
    """After `after` episodes of a copy, step `at` of the next ones harms the process: it `hangs`, `exits`, is
    `killed`, or runs out of `memory`."""

    def __init__(self, how: str, after: int = 0, at: int = 3) -> None:
        super().__init__(length=6, end="terminated")
        self.how, self.after, self.at, self.begun = how, after, at, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        self.begun += 1
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self.begun > self.after and self.t + 1 == self.at:
            match self.how:
                case "hangs":
                    time.sleep(3600)
                case "exits":
                    os._exit(7)
                case "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "memory":
                    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
                    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))
                    np.ones(2**30)
        return super().step(action)


class Slow(Script):
    """Every step of episodes with odd seeds takes `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(length=6)
        self.seconds = seconds

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self.seed % 2:
            time.sleep(self.seconds)
        return super().step(action)


class Flaky(Script):
    """Raises in every 11th step, counted over all copies."""

    steps = broken = 0

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        Flaky.steps += 1
        if Flaky.steps % 11 == 0:
            Flaky.broken += 1
            raise ConnectionError("gone for a moment")
        return super().step(action)


class Notes(Script):
    """Records in a directory which process closed it. Environments that are not closed could leave the engine
    that they started running."""

    def __init__(self, directory: str = "", **more: Any) -> None:
        super().__init__(**more)
        self.directory = directory

    def close(self) -> None:
        Path(self.directory, str(os.getpid())).touch()


class Stuck(Script):
    """Blocks in every call of `step` or `reset` from number `at` on, counted over all copies, until
    `Stuck.until()` is True, and cannot be interrupted if it is `stubborn`. If `where` is "C code" or "C code
    with the interpreter lock", it blocks there in a step, forever. With `trap`, only while that file
    exists."""

    until: Callable[[], bool] = staticmethod(lambda: True)
    calls = 0

    def __init__(
        self, where: str = "step", at: int = 20, stubborn: bool = False, trap: str = ""
    ) -> None:
        super().__init__(length=5, end="truncated")
        self.where, self.at, self.stubborn, self.trap = where, at, stubborn, trap

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        if self.where == "reset":
            self._call()
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self.where != "reset":
            self._call()
        return super().step(action)

    def _call(self) -> None:
        Stuck.calls += 1
        if Stuck.calls >= self.at and (not self.trap or os.path.exists(self.trap)):
            self.wait_for_the_simulator()

    def wait_for_the_simulator(self) -> None:
        if self.where.startswith("C code"):
            code = ctypes.CDLL(None) if self.where == "C code" else ctypes.PyDLL(None)
            mutex = ctypes.create_string_buffer(64)
            for _ in range(2):  # the second call waits for the first, and signals do not end it
                code.pthread_mutex_lock(mutex)
        while not Stuck.until():
            try:
                time.sleep(0.01)
            except SystemExit:
                if not self.stubborn:
                    raise


class Forks(Script):
    """Forks in its second step. The forked process returns, or raises SystemExit; the step of the original
    process waits for its end and rewards its exit code."""

    def __init__(self, raises: bool = False) -> None:
        super().__init__(length=50)
        self.raises = raises

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        obs, reward, *rest = super().step(action)
        if self.t != 2:
            return obs, reward, *rest
        pid = os.fork()
        if pid:
            return obs, float(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])), *rest
        if self.raises:
            sys.exit(0)
        return obs, 0.0, *rest


class Wanders(Script):
    """Changes the working directory in every reset."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        os.chdir(self.folder)
        return super().reset(seed=seed, options=options)


class Spawns(Script):
    """Starts a process that ignores SIGTERM and never ends, in its constructor or its first reset: a program,
    a program in its own session, or a fork. A file in `folder` is named after the pid."""

    def __init__(self, folder: str, how: str = "program", when: str = "init") -> None:
        super().__init__(length=5)
        self.folder, self.how, self.when = folder, how, when
        if when == "init":
            self._start()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        if self.when == "reset":
            self.when = "over"
            self._start()
        return super().reset(seed=seed, options=options)

    def _start(self) -> None:
        if self.how == "fork":
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while True:
                    time.sleep(3600)
        else:
            ignores = "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); time.sleep(3600)"
            command = [sys.executable, "-I", "-S", "-c", ignores]
            session = self.how == "session"
            self.engine = subprocess.Popen(command, start_new_session=session)
            pid = self.engine.pid
        Path(self.folder, str(pid)).touch()


class Prints(Script):
    """Writes to standard output by Python, a system call and C, and warns through Gymnasium's logger, in its
    constructor and in every reset."""

    def __init__(self) -> None:
        super().__init__(length=5)
        self._print("made")

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        self._print("reset")
        return super().reset(seed=seed, options=options)

    def _print(self, when: str) -> None:
        print(f"{when}: by Python")
        os.write(1, f"{when}: by a system call\n".encode())
        ctypes.CDLL(None).printf(f"{when}: by C\n".encode())
        gym.logger.warn(f"{when}: a warning of Gymnasium")
