"""The backend `inprocess`: copies of an environment, stepped one after the other in this process."""

from __future__ import annotations

import contextlib
import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from gymnast.envs.backends import active_calls
from gymnast.envs.backends.active_calls import ActiveCall
from gymnast.envs.backends.arrays import NO_COPY, CopyArrays
from gymnast.envs.backends.backend import Fault, Step
from gymnast.envs.backends.step_info import read_info_values
from gymnast.envs.build.strip_wrappers import has_default_limit, strip_wrappers, time_limit
from gymnast.envs.env_types import Env, Info
from gymnast.processes import guard
from gymnast.spaces import spaces
from gymnast.spaces.spaces import BoxObs

Array = np.ndarray


class InProcessBackend:
    """Implements `Backend` with one environment object per copy. Results are written into buffers that a
    worker process can place in shared memory."""

    restore_mode: Literal["replay", "together", "history", "none"] = "replay"

    def __init__(
        self,
        make: Callable[[], Env],
        n_envs: int,
        name: str,
        *,
        masked: bool = True,
        step_keys: Sequence[str] = (),
    ) -> None:
        """`masked`: use `info["action_mask"]` if the environment provides it; `step_keys`: numbers to read
        from the info of every step."""
        self._step_keys = tuple(step_keys)
        self.name, self.n_envs, self._make, self._masked = name, n_envs, make, masked
        made = [make() for _ in range(n_envs)]
        obs_space, action_space = made[0].observation_space, made[0].action_space
        self.obs_space, self.action_space = (
            spaces.convert_obs_space(obs_space),
            spaces.convert_action_space(action_space),
        )
        self.space_texts = (" ".join(str(obs_space).split()), str(action_space))
        self.time_limit = time_limit(made[0])
        self.has_default_limit = has_default_limit(made[0])
        self.envs = [strip_wrappers(env)[0] for env in made]
        self._steps = [env.step for env in self.envs]
        self._limit = strip_wrappers(made[0])[1]
        """Time limit per episode. `step` applies it, because Gymnasium's TimeLimit was stripped."""
        self._clock = 0
        """Number of vector steps so far. A copy's episode has lasted `_clock - _start[copy]` steps: this
        needs one addition per vector step instead of one per copy."""
        self._start = [0] * n_envs
        self._next_limit: float = math.inf
        """Clock value at which the oldest episode reaches the time limit."""
        self._infos: list[Info] = [{} for _ in range(n_envs)]
        self._all_copies = range(n_envs)
        self._broken: set[int] = set()
        """Copies that had a fault and must be created again before their next reset."""
        keys = len(self._step_keys)
        rows = CopyArrays.create(self.obs_space, self.action_space, n_envs, keys=keys)
        self.use_buffers(rows.worker_view(0, range(n_envs)))
        # Read by a watchdog; in a worker process also by the trainer.
        self._now: list[int] | Array = [NO_COPY]
        self._calls = 0
        self.in_fork = self._was_reset = False
        active_calls.register(self)

    def use_buffers(self, rows: CopyArrays) -> None:
        """Uses these buffers from now on (a worker switches to the shared memory)."""
        self._rows, self.obs, self._reward = rows, rows.obs, rows.reward
        self._terminated, self._truncated, self._now = rows.terminated, rows.truncated, rows.now
        self._rewards: Any = rows.reward.data
        """The same memory as a memoryview: writing single numbers is faster than into an array."""
        self._flat_obs = rows.obs.reshape(-1) if isinstance(self.obs_space, BoxObs) else None
        self._finite = np.ones(rows.obs.size, dtype=bool)
        self._ended = True
        """True if some copy may still be marked as terminated or truncated."""

    @property
    def mask(self) -> Array | None:
        return self._rows.mask if self._rows.masked[0] else None

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts a new episode in each of these copies, with its seed, and returns their faults. A copy that
        had a fault before is created again first."""
        faults: list[Fault] = []
        self._calls += 1
        for i, seed in zip(copies, seeds, strict=True):
            self._start[i] = self._clock
            self._reward[i] = 0.0
            self._terminated[i] = self._truncated[i] = False
            self._now[0] = i
            try:
                if i in self._broken:
                    self._recreate(i)
                obs, self._infos[i] = self.envs[i].reset(seed=seed)
            except (Exception, SystemExit) as cause:  # sys.exit() in one copy must not end training
                faults.append(self._raised(i, f"reset(seed={seed})", cause))
                continue
            problem = self.obs_space.put(self.obs, i, obs) or self._store_mask(i)
            if problem is not None:
                faults.append(self._fault(i, problem))
        self._now[0] = NO_COPY
        if self.in_fork:
            active_calls.end_fork(self.name)
        self._set_next_limit()
        if not self._was_reset:  # some environments start a process in their first reset
            self._was_reset = True
            guard.start_if_needed()
        return (*faults, *self._not_finite())

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        """Steps all copies, or only the given ones, with the actions [N, ...] and returns the result. A copy
        that raises or returns invalid data has a fault; the others are not affected."""
        chosen = self._all_copies if copies is None else copies
        self._count_step(copies)
        self._calls += 1
        # NumPy scalars, as spaces sample them: `Discrete.contains` is slower for Python ints
        actions = self.action_space.unpack_each(action)
        # Local variables are faster than attributes, and the loop below runs once per env step.
        obs_rows, shape, put = self.obs, self.obs_space.shape, self.obs_space.put
        # Fast path: a plain array of the right shape needs no conversion and no check.
        is_vector, ndarray = self._flat_obs is not None, np.ndarray
        steps, infos, rewards, now = self._steps, self._infos, self._rewards, self._now
        faults: list[Fault] = []
        # 1. Step the copies one after the other and write their results into the buffers.
        for i in chosen:
            now[0] = i
            try:
                obs, reward, terminated, truncated, infos[i] = steps[i](actions[i])
            except (Exception, SystemExit) as cause:
                faults.append(self._raised(i, f"step({actions[i]})", cause))
                continue
            problem = None
            try:
                if is_vector and type(obs) is ndarray and obs.shape == shape:
                    obs_rows[i] = obs
                else:
                    problem = put(obs_rows, i, obs)
                rewards[i] = reward
                # Rarely true: the end flags were cleared for all copies at once by `_count_step`.
                if terminated or truncated:
                    self._terminated[i], self._truncated[i] = terminated, truncated
                    self._ended = True
            except (TypeError, ValueError):
                problem = self._invalid_output(i, obs, reward, terminated, truncated)
            if problem is not None:
                faults.append(self._fault(i, problem))
        now[0] = NO_COPY
        if self.in_fork:
            active_calls.end_fork(self.name)
        # 2. Apply what is decided for all copies at once: time limit, action masks, NaN and infinity.
        if self._clock >= self._next_limit:
            self._truncate(chosen)
        if self._rows.masked[0]:
            faults += self._store_masks(chosen)
        faults += self._not_finite()
        ends = self._terminated, self._truncated
        step = Step(obs_rows, self._reward, *ends, infos, faults=tuple(faults))
        if self._step_keys:
            step.info_values = self._read_step_keys(chosen)
        return step

    def close(self) -> None:
        for env in self.envs:
            env.close()

    def active_call(self) -> ActiveCall | None:
        copy = int(self._now[0])
        if copy == NO_COPY:
            return None
        return ActiveCall(self.name, copy, self._clock - self._start[copy], self._calls)

    def _read_step_keys(self, copies: Sequence[int]) -> Array:
        """Returns the values of `step_keys` in the infos of these copies, [N, keys]."""
        numbers = self._rows.numbers
        for i in copies:
            numbers[i] = read_info_values(self._infos[i], self._step_keys, self.name)
        return numbers

    # ---- episode lengths and time limit ------------------------------------------------------

    def _count_step(self, copies: Sequence[int] | None) -> None:
        """Counts a step for the copies that are about to be stepped (None: all) and clears their `terminated`
        and `truncated`."""
        if copies is None:
            self._clock += 1
            if self._ended:
                self._terminated[:] = self._truncated[:] = False
                self._ended = False
            return
        # The clock counts steps of all copies, so the start of these moves back instead.
        for i in copies:
            self._start[i] -= 1
            self._terminated[i] = self._truncated[i] = False
        self._set_next_limit()

    def _set_next_limit(self) -> None:
        """Finds out when the oldest episode reaches the limit, so that `step` compares one number only."""
        if self._limit is not None:
            self._next_limit = min(self._start) + self._limit

    def _truncate(self, copies: Sequence[int]) -> None:
        """Marks those of these copies as truncated whose episode has reached the time limit."""
        assert self._limit is not None
        for i in copies:
            # A broken copy has no episode that could be truncated; its fault is reported instead.
            if self._clock - self._start[i] >= self._limit and i not in self._broken:
                self._truncated[i] = self._ended = True

    # ---- action masks and faults ------------------------------------------------------

    def _store_mask(self, copy: int) -> str | None:
        """Stores the action mask of a copy, if its info has one; returns what is wrong with the mask, None if
        nothing is."""
        action_mask = self._infos[copy].get("action_mask") if self._masked else None
        if action_mask is not None:
            self._rows.masked[0] = True
        if self.mask is None:
            return None
        return self.action_space.put_mask(self.mask, copy, action_mask)

    def _store_masks(self, copies: Sequence[int]) -> list[Fault]:
        """Stores the masks of the copies whose episode continues and returns the faults in them."""
        ended = self._terminated | self._truncated
        running = [i for i in copies if not ended[i] and i not in self._broken]
        problems = ((i, self._store_mask(i)) for i in running)
        return [self._fault(i, problem) for i, problem in problems if problem is not None]

    def _invalid_output(
        self, copy: int, obs: object, reward: object, terminated: bool, truncated: bool
    ) -> str | None:
        """Stores what can be stored of the result of a step, and returns why the rest could not be."""
        problem = self.obs_space.put(self.obs, copy, obs)
        try:
            self._reward[copy] = np.asarray(reward)
        except (TypeError, ValueError):
            problem = f"the reward is {reward!r}, not a number"
        try:
            self._terminated[copy], self._truncated[copy] = terminated, truncated
            self._ended = True
        except (TypeError, ValueError):
            ends = f"terminated is {terminated!r} and truncated {truncated!r}"
            problem = f"{ends}, not both True or False"
        return problem

    def _not_finite(self) -> list[Fault]:
        """Returns the faults of copies whose reward or observation is NaN or infinite."""
        # Cheap tests for the usual case. A sum is finite only if all rewards are.
        if self._flat_obs is not None:
            np.isfinite(self._flat_obs, self._finite)
            obs_finite = 0 not in self._finite.tobytes()
        else:
            obs_finite = self.obs_space.not_finite(self.obs) is None
        if obs_finite and math.isfinite(sum(self._rewards)):
            return []
        faults = [
            self._fault(i, f"the reward is {self._reward[i]}")
            for i in np.flatnonzero(~np.isfinite(self._reward)).tolist()
        ]
        # After the rewards: `_fault` has blanked those copies, so that none is reported twice.
        bad = self.obs_space.not_finite(self.obs)
        if bad is not None:
            for i in np.flatnonzero(bad).tolist():
                where = self.obs_space.where_not_finite(self.obs[i])
                faults.append(self._fault(i, f"the observation is not finite at {where}"))
        return faults

    def _raised(self, copy: int, call: str, cause: BaseException) -> Fault:
        """Returns the fault for an exception that the environment raised. `call`: the call with its
        arguments, for the message."""
        text = "".join(traceback.format_exception(cause))
        return self._fault(copy, f"{call} raised {type(cause).__name__}: {cause}", text)

    def _fault(self, copy: int, what: str, text: str = "") -> Fault:
        """Blanks the copy's outputs, marks it to be created again, and returns the fault. `what`: the
        message; `text`: the traceback, if the environment raised."""
        self._broken.add(copy)
        self._rows.clear_outputs(self.obs_space, slice(copy, copy + 1))
        return Fault(copy, self._clock - self._start[copy], what, text)

    def _recreate(self, copy: int) -> None:
        """Replaces the environment of a copy that had a fault: its state cannot be trusted."""
        with contextlib.suppress(Exception):  # the copy is discarded anyway
            self.envs[copy].close()
        self.envs[copy] = strip_wrappers(self._make())[0]
        self._steps[copy] = self.envs[copy].step
        self._broken.discard(copy)
