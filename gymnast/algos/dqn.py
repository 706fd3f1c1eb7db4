"""Deep Q-learning (Mnih et al. 2015), with double Q targets (arXiv:1509.06461).

The actor's outputs are action values. What was collected goes into a replay memory of its own, and
each update takes many gradient steps on random draws from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gymnast.algos.optimizer import GradientStep
from gymnast.config.sections.dqn import DQNConfig
from gymnast.engine.torch.engine import TorchEngine
from gymnast.engine.torch.network import TorchNetwork
from gymnast.errors import ConfigError
from gymnast.policy.parameters import Parameters
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout

Array = np.ndarray


class DQN:
    def __init__(self, policy: Policy, cfg: DQNConfig) -> None:
        self.policy, self.gradient_step = policy, GradientStep(policy)
        self.engine: TorchEngine = self.gradient_step.engine
        self.replay = Replay(cfg.replay)
        held = Parameters(policy.parameters.shapes)
        self.target, self.target_network = held.flat, TorchNetwork(policy.network, held)
        self.steps = 0

    def update(
        self,
        rollout: Rollout,
        values: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """Remember a rollout, then learn from all that is remembered."""
        if rollout.mask is not None:
            raise ConfigError(
                "dqn does not know action masks",
                fix="set env.action_mask=off, or another algorithm",
            )
        self.policy.parameters.views["actor.epsilon"][:] = values.epsilon
        self.replay.add(rollout)
        report = {"optim/replay": float(len(self.replay)), "optim/steps": 0}
        if len(self.replay) < values.warmup:
            return report
        self.gradient_step.start_update(values)
        adam, limit = self.gradient_step.adam, values.max_grad_norm
        lines: list[Tensor] = []
        names: tuple[str, ...] = ()
        steps = values.gradient_steps
        for _ in range(steps if max_gradient_steps is None else min(steps, max_gradient_steps)):
            if self.steps % values.target_every == 0:
                self.target[:] = self.policy.parameters.flat
            self.steps += 1
            batch = self.replay.draw(values.batch_size, stream)
            loss, parts = self.loss(batch, values)
            norm = self.engine.step(loss, adam, lr=values.lr, max_norm=limit)
            names = ("loss/total", *parts, "optim/grad_norm")
            lines.append(torch.stack([loss.detach(), *map(Tensor.detach, parts.values()), norm]))
        self.gradient_step.record_losses(names, torch.stack(lines).double().numpy())
        return report | self.gradient_step.report(values)

    def loss(self, batch: dict[str, Array], values: Any) -> tuple[Tensor, dict[str, Tensor]]:
        """Huber's error of the values of actions taken against one-step targets."""
        seen, following = (
            torch.from_numpy(self.policy.features(batch[name])) for name in ("obs", "next_obs")
        )
        action = torch.from_numpy(batch["action"]).unsqueeze(-1)
        q = self.engine.network(seen)[0].gather(-1, action).squeeze(-1)
        with torch.no_grad():
            given = self.target_network(following)[0]
            chooser = self.engine.network(following)[0] if values.double else given
            best = given.gather(-1, chooser.argmax(-1, keepdim=True)).squeeze(-1)
            follows = values.gamma * ~torch.from_numpy(batch["terminated"])
            target = torch.from_numpy(batch["reward"]) + follows * best
        loss = functional.smooth_l1_loss(q, target)
        return loss, {
            "loss/value": loss,
            "value/loss": loss,
            "value/td_error": (q - target).abs().mean(),
            "value/q": q.mean(),
        }

    def credit(self, rollout: Rollout, values: Any) -> None:
        """None: each gradient step computes targets of its own for a draw from the replay memory."""

    def state(self) -> dict[str, Any]:
        held = {"target": self.target.copy(), "gradient_steps": self.steps}
        return {**self.gradient_step.state(), **held, "seen": self.replay.seen}

    def memory(self) -> dict[str, Any]:
        return self.replay.state()

    def load(self, state: dict[str, Any]) -> None:
        self.gradient_step.load(state)
        if "replay_size" in state:
            self.replay.load(state)
        else:
            self.replay.take_back(state["seen"])
        self.target[:], self.steps = state["target"], state["gradient_steps"]


class Replay:
    """The last so many steps, in a ring."""

    def __init__(self, size: int) -> None:
        self.size, self.seen = size, 0
        self.columns: dict[str, Array] = {}
        self._added = np.zeros(0, np.int64)
        """Where the last steps were added."""
        self._overwritten: dict[str, Array] = {}
        """What was there before."""

    def __len__(self) -> int:
        return min(self.seen, self.size)

    def add(self, rollout: Rollout) -> None:
        keep = rollout.valid
        given = {
            "obs": np.asarray(rollout.obs[keep]),
            "next_obs": np.asarray(rollout.next_obs()[keep]),
            "action": rollout.action[keep],
            "reward": rollout.reward[keep].astype(np.float32),
            "terminated": rollout.terminated[keep],
        }
        places = self._added = (self.seen + np.arange(rollout.steps)) % self.size
        for name, column in given.items():
            if name not in self.columns:
                self.columns[name] = np.zeros((self.size, *column.shape[1:]), column.dtype)
            self._overwritten[name] = self.columns[name][places]
            self.columns[name][places] = column
        self.seen += rollout.steps

    def take_back(self, seen: int) -> None:
        """As it was when so many steps had been seen: now, or before the last were added."""
        if seen == self.seen:
            return
        if seen != self.seen - len(self._added):
            raise ValueError("only the steps that were added last can be taken back")
        for name, rows in self._overwritten.items():
            self.columns[name][self._added] = rows
        self.seen = seen

    def draw(self, n: int, stream: np.random.Generator) -> dict[str, Array]:
        chosen = stream.integers(0, len(self), n)
        return {name: column[chosen] for name, column in self.columns.items()}

    def state(self) -> dict[str, Any]:
        used = slice(0, len(self))
        columns = {f"replay.{n}": c[used] for n, c in self.columns.items()}
        return {"seen": self.seen, "replay_size": self.size, **columns}

    def load(self, state: dict[str, Any]) -> None:
        self.seen, self.columns = state["seen"], {}
        for name, used in state.items():
            if name.startswith("replay."):
                if state["replay_size"] != self.size:  # another size now: the newest, oldest first
                    used = np.roll(used, -(state["seen"] % len(used)), 0)[-self.size :]
                    self.seen = len(used)
                column = np.zeros((self.size, *used.shape[1:]), used.dtype)
                column[: len(used)] = used
                self.columns[name.removeprefix("replay.")] = column
