"""The Python API: `gymnast.train`, `gymnast.evaluate` and `gymnast.load`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from gymnast.collect.collector import ROLE
from gymnast.errors import UsageError
from gymnast.evaluation.record import PolicyScore
from gymnast.evaluation.rescore import find_checkpoint, load_policy, rescore
from gymnast.metrics.sinks.console import Console
from gymnast.policy.policy import Policy
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.spaces.spaces import CompositeObs, as_masks, as_rows
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.start import start_run
from gymnast.training.lifecycle.summary import end_text
from gymnast.training.request import TrainRequest


def train(
    target: str,
    *,
    seed: int | None = None,
    algo: str | None = None,
    overrides: Mapping[str, object] | None = None,
    source: Run | str | None = None,
    name: str = "",
    tags: Sequence[str] = (),
    runs_dir: str | Path | None = None,
    quiet: bool = False,
) -> Run:
    """Trains `ENV[:variant]` to its end and returns the run. `algo`: algorithm to use instead of the one of
    the variant; `overrides`: dotted keys or nested dicts, as with --set; `source`: a run whose weights to
    start from, as with --from; `runs_dir`: directory of runs, by default the one that the commands use;
    `quiet`: print nothing."""
    source_ref = None if source is None else _ref(source)
    request = TrainRequest(target, overrides or {}, algo, seed, source_ref, name, tuple(tags))
    directory = store.runs_dir(runs_dir)  # before an environment may change the working directory
    parent = find_checkpoint(source_ref, directory) if source_ref is not None else None
    prepared = prepare(target, request.settings(), algo)
    run, _ = start_run(
        prepared.resolved,
        prepared.collector,
        directory,
        label=Label(request.name, tags=request.tags),
        source=parent,
        console=lambda metrics, cfg: Console(
            metrics,
            title=prepared.resolved.preset,
            budget=cfg.stop.limits(),
            format_summary=end_text,
            quiet=quiet,
        ),
    )
    return run


def evaluate(
    run: Run | str, *, episodes: int | None = None, runs_dir: str | Path | None = None
) -> PolicyScore:
    """Returns the score of a run's checkpoint on held-out seeds: of the one that
    `RUN:CHECKPOINT` names, else the best, else (before the first score) the latest. `episodes`: their
    number, instead of `eval.confirm_episodes` and `eval.starts`."""
    return rescore(_ref(run), episodes=episodes, runs_dir=runs_dir)


class Player:
    """A stored policy that acts on observations of its environment, one or a batch. A policy with memory
    remembers what it has seen in its episodes: call `reset` where one starts."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._state: np.ndarray | None = None
        """Policy states of the episodes, [B, S]; None before their first observation."""

    def reset(self, ended: object = None) -> None:
        """Forgets the episodes so far, because new ones start. `ended`: for a batch, which of its episodes
        start anew, one boolean each; None for all. Without memory, this does nothing."""
        if ended is None:
            self._state = None
            return
        chosen = np.asarray(ended, dtype=bool)
        if self._state is None:
            return
        if chosen.shape != (len(self._state),):
            what = f"reset got {chosen.size} flags for {len(self._state)} episodes"
            raise UsageError(
                what, fix="give one boolean per observation of the batch, or none at all"
            )
        self._state[chosen] = 0.0

    def act(self, obs: object, mask: object = None) -> object:
        """Returns the most likely action, in the form that the environment's `step` takes. `mask` is
        the content of `info["action_mask"]`; for a batch, one mask per observation. With memory, a batch has
        one observation of each episode, always in the same order."""
        rows, one = self._rows(obs)
        allowed = None
        if mask is not None:
            allowed = as_masks(
                self.policy.action_space, [mask] if one else cast("Sequence[object]", mask)
            )
        if self.policy.state_size:
            dist, _, self._state = self.policy.step(rows, self._states(len(rows)), allowed)
        else:
            dist = self.policy.dist(rows, allowed)
        action = self.policy.head.for_env(self.policy.head.mode(dist))
        space = self.policy.action_space
        return space.unpack_each(action)[0] if one else space.unpack_batch(action)

    def value(self, obs: object) -> np.ndarray | np.floating:
        """Returns the critic's estimate of the discounted return from this observation, in units of the
        scaled reward; one number per observation for a batch. With memory, ask for it before `act`: the
        observation is the next one of its episode."""
        rows, one = self._rows(obs)
        state = self._states(len(rows)) if self.policy.state_size else None
        value = self.policy.value(rows, state)
        return value[0] if one else value

    def _states(self, n: int) -> np.ndarray:
        """Returns the policy states of n episodes. Raises UsageError if the player is in the middle of
        another number of episodes."""
        if self._state is None:
            return self.policy.initial_state(n)
        if len(self._state) != n:
            what = f"this player is in the middle of {len(self._state)} episodes, not of {n}"
            raise UsageError(what, fix="call reset() first, or load the run once per use")
        return self._state

    def _rows(self, obs: object) -> tuple[np.ndarray, bool]:
        """Returns the observations as a batch [B, ...], and True if `obs` was a single one. A batch of
        dict or tuple observations is a list of them."""
        space = self.policy.obs_space
        if not isinstance(space, CompositeObs):
            rows = np.asarray(obs, dtype=space.dtype)
            one = rows.ndim == len(space.shape)
            return (rows[None] if one else rows), one
        batch = cast("list[object]", obs) if isinstance(obs, list) else None
        return as_rows(space, [obs] if batch is None else batch), batch is None


def load(run: Run | str, *, role: str = ROLE, runs_dir: str | Path | None = None) -> Player:
    """Returns the policy of a run's checkpoint: the one that `RUN:CHECKPOINT` names, else the best, else
    (before the first score) the latest. `role` chooses a policy where the environment has several agents."""
    return Player(load_policy(find_checkpoint(_ref(run), runs_dir)[1], role))


def _ref(run: Run | str) -> str:
    return str(run.path.resolve()) if isinstance(run, Run) else run
