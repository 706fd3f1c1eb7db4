"""Deep Q-learning (Mnih et al. 2015), with double Q-learning targets (arXiv:1509.06461).

The actor network's outputs are the Q-values. Each update adds a rollout to the replay buffer and
takes many gradient steps on minibatches sampled from it.
"""

from __future__ import annotations

from typing import NotRequired

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gymnast.algos.algorithm import Algorithm, AlgorithmUpdate
from gymnast.algos.optimizer import GradientStep, OptimizerState
from gymnast.config.sections.dqn import DQNConfig, DQNHyperparameters
from gymnast.engine.torch.engine import TorchEngine
from gymnast.engine.torch.network import TorchNetwork
from gymnast.errors import ConfigError
from gymnast.policy.parameters import Parameters
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray
_COLUMN = "replay."
"""Prefix of the columns of the replay buffer in a checkpoint."""


class DQNState(OptimizerState):
    """The state of DQN in a checkpoint, without the columns of the replay buffer."""

    target: Array
    """The flat parameter vector of the target network."""
    gradient_steps: int
    seen: int
    """Number of transitions that were ever added to the replay buffer."""
    replay_size: NotRequired[int]
    """Capacity of the replay buffer; missing if the contents of the buffer are not included."""


class DQN(Algorithm[DQNHyperparameters]):
    """DQN on one policy, with a replay buffer and a target network."""

    def __init__(self, policy: Policy, cfg: DQNConfig) -> None:
        self.policy, self.gradient_step = policy, GradientStep(policy)
        # A TD loss is not an `Objective`, so the engine choice never selects the native engine for DQN.
        assert isinstance(self.gradient_step.engine, TorchEngine)
        self.engine = self.gradient_step.engine
        self.replay = ReplayBuffer(cfg.replay)
        target = Parameters(policy.parameters.shapes)  # zeros until the first gradient step copies
        self.target_parameters, self.target_network = (
            target.flat,
            TorchNetwork(policy.network, target),
        )
        """The flat parameter vector of the target network, and the network that reads it."""
        self.n_gradient_steps = 0
        """Gradient steps taken in the whole training; every `target_every` of them sync the target."""

    def update(
        self,
        rollout: Rollout,
        hparams: DQNHyperparameters,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> AlgorithmUpdate:
        """Adds the rollout to the replay buffer, then trains on samples from the buffer.

        Before the buffer holds `warmup` steps, nothing is trained. `stream` samples the minibatches. At most
        `max_gradient_steps` are taken; None means no limit.
        """
        if rollout.mask is not None:
            raise ConfigError(
                "dqn does not support action masks",
                fix="set env.action_mask=off, or use another algorithm",
            )
        # epsilon is a parameter of the policy, so that collection, checkpoints and play use the same one
        self.policy.parameters.views["actor.epsilon"][:] = hparams.epsilon
        self.replay.add(rollout)
        metrics = {"optim/replay": float(len(self.replay)), "optim/steps": 0}
        if len(self.replay) < hparams.warmup:
            return AlgorithmUpdate(metrics)
        self.gradient_step.start_update(hparams)
        adam, max_norm = self.gradient_step.adam, hparams.max_grad_norm
        losses: list[Tensor] = []
        names: tuple[str, ...] = ()
        steps = hparams.gradient_steps
        for _ in range(steps if max_gradient_steps is None else min(steps, max_gradient_steps)):
            # At step 0 too, so that the target network starts as a copy of the online network.
            if self.n_gradient_steps % hparams.target_every == 0:
                self.target_parameters[:] = self.policy.parameters.flat
            self.n_gradient_steps += 1
            batch = self.replay.sample(hparams.batch_size, stream)
            loss, parts = self.loss(batch, hparams)
            norm = self.engine.step(loss, adam, lr=hparams.lr, max_norm=max_norm)
            names = ("loss/total", *parts, "optim/grad_norm")
            losses.append(torch.stack([loss.detach(), *map(Tensor.detach, parts.values()), norm]))
        self.gradient_step.record_losses(names, torch.stack(losses).double().numpy())
        return AlgorithmUpdate(metrics | self.gradient_step.report(hparams))

    def loss(
        self, batch: dict[str, Array], hparams: DQNHyperparameters
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the Huber loss of Q(s, a) against one-step targets, and its metrics. `batch`: columns [B,
        ...] sampled from the replay buffer."""
        # The buffer stores raw observations, because normalization statistics change between updates.
        obs, next_obs = (
            torch.from_numpy(self.policy.features(batch[name])) for name in ("obs", "next_obs")
        )
        action = torch.from_numpy(batch["action"]).unsqueeze(-1)  # [B, 1]
        q = self.engine.network(obs)[0].gather(-1, action).squeeze(-1)
        with torch.no_grad():
            next_q = self.target_network(next_obs)[0]
            # double Q-learning: the online network selects the action, the target network evaluates it
            selector = self.engine.network(next_obs)[0] if hparams.double else next_q
            best = next_q.gather(-1, selector.argmax(-1, keepdim=True)).squeeze(-1)
            # a truncated episode is bootstrapped: only termination ends the discounted sum
            discount = hparams.gamma * ~torch.from_numpy(batch["terminated"])
            target = torch.from_numpy(batch["reward"]) + discount * best
        loss = functional.smooth_l1_loss(q, target)
        return loss, {
            # The weighted and the plain loss of the critic are the same here: the loss has one term.
            "loss/value": loss,
            "value/loss": loss,
            "value/td_error": (q - target).abs().mean(),
            "value/q": q.mean(),
        }

    def state(self) -> DQNState:
        """Returns the state for a checkpoint, without the contents of the replay buffer (`memory`)."""
        return {
            **self.gradient_step.state(),
            "target": self.target_parameters.copy(),
            "gradient_steps": self.n_gradient_steps,
            "seen": self.replay.n_added,
        }

    def memory(self) -> dict[str, Array | int]:
        """Returns the capacity of the replay buffer and its columns."""
        columns = {f"{_COLUMN}{name}": column for name, column in self.replay.used().items()}
        return {"replay_size": self.replay.size, **columns}

    def load(self, state: DQNState) -> None:
        """Restores a checkpoint (`state` and `memory` together), or rolls back the last update.

        A rollback passes `state` alone: copying the buffer before every update would be too slow.
        """
        self.gradient_step.load(state)
        if "replay_size" in state:  # `memory` is included
            columns = {
                name.removeprefix(_COLUMN): column
                for name, column in state.items()
                if name.startswith(_COLUMN) and isinstance(column, np.ndarray)
            }
            self.replay.load(columns, state["seen"], state["replay_size"])
        else:
            self.replay.remove_last(state["seen"])
        self.target_parameters[:], self.n_gradient_steps = state["target"], state["gradient_steps"]


class ReplayBuffer:
    """A ring buffer of the newest `size` transitions."""

    def __init__(self, size: int) -> None:
        self.size, self.n_added = size, 0
        """Capacity, and the number of transitions that were ever added."""
        self.columns: dict[str, Array] = {}
        self._added = np.zeros(0, np.int64)
        """Rows that the last call of `add` wrote."""
        self._overwritten: dict[str, Array] = {}
        """Previous contents of those rows, for `remove_last`."""

    def __len__(self) -> int:
        return min(self.n_added, self.size)

    def add(self, rollout: Rollout) -> None:
        """Adds the valid steps of a rollout, over the oldest transitions where the buffer is full."""
        valid = rollout.valid
        added = {  # columns [K, ...] of the K valid steps
            "obs": np.asarray(rollout.obs[valid]),
            "next_obs": np.asarray(rollout.next_obs()[valid]),
            "action": rollout.action[valid],
            "reward": rollout.reward[valid].astype(np.float32),
            "terminated": rollout.terminated[valid],
        }
        # transition i of the whole training is stored in row i modulo the capacity
        rows = self._added = (self.n_added + np.arange(rollout.steps)) % self.size
        for name, column in added.items():
            if name not in self.columns:
                self.columns[name] = np.zeros((self.size, *column.shape[1:]), column.dtype)
            self._overwritten[name] = self.columns[name][rows]
            self.columns[name][rows] = column
        self.n_added += rollout.steps

    def remove_last(self, n_added: int) -> None:
        """Restores the buffer as it was when `n_added` transitions had been added.

        That must be now or before the last call of `add`; ValueError otherwise.
        """
        if n_added == self.n_added:
            return
        if n_added != self.n_added - len(self._added):
            raise ValueError("only the transitions that were added last can be removed")
        for name, previous in self._overwritten.items():
            self.columns[name][self._added] = previous
        self.n_added = n_added

    def sample(self, n: int, stream: np.random.Generator) -> dict[str, Array]:
        """Returns n transitions, drawn uniformly with replacement."""
        rows = stream.integers(0, len(self), n)
        return {name: column[rows] for name, column in self.columns.items()}

    def used(self) -> dict[str, Array]:
        """Returns the rows of each column that have been written."""
        return {name: column[: len(self)] for name, column in self.columns.items()}

    def load(self, columns: dict[str, Array], n_added: int, size: int) -> None:
        """Restores the columns that `used` returned, of a buffer of the capacity `size`, which may differ, to
        which `n_added` transitions had been added."""
        self.n_added, self.columns = n_added, {}
        for name, used in columns.items():
            if size != self.size:
                # The capacity has changed: keep the newest transitions, oldest first. In a full
                # buffer the oldest is in the row that would have been overwritten next.
                used = np.roll(used, -(n_added % len(used)), 0)[-self.size :]
                self.n_added = len(used)
            column = np.zeros((self.size, *used.shape[1:]), used.dtype)
            column[: len(used)] = used
            self.columns[name] = column
