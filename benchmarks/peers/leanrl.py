"""PPO in the manner of LeanRL: acting, the loss and the step of Adam are compiled by torch.

The first rollouts compile it and are not timed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.peers.agent import Agent, finished_returns, make_envs
from benchmarks.peers.arguments import parse_arguments
from benchmarks.tasks import SEED, Task
from benchmarks.timing import measure_time, print_sample


def main() -> None:
    task, env_steps, threads = parse_arguments()
    torch.set_num_threads(threads)
    with measure_time() as compiling:
        lean = LeanTrainer(task)
        lean.train(2)
    with measure_time() as spent:
        lean.train(env_steps // task.rollout)
    mean = float(np.mean(lean.returns[-100:])) if lean.returns else None
    print_sample(
        "torch",
        env_steps,
        spent,
        updates=env_steps // task.rollout * task.updates_per_rollout,
        episode_return=mean,
        compiling=compiling.cpu,
    )


@dataclass
class LeanTrainer:
    task: Task
    returns: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        torch.manual_seed(SEED)
        self.envs = make_envs(self.task)
        self.agent = Agent(self.task, self.envs)
        # The learning rate is a tensor: a compiled step would be recompiled for every new number.
        self.optimizer = torch.optim.Adam(
            self.agent.parameters(), lr=torch.tensor(self.task.lr), eps=1e-5, capturable=False
        )
        self.obs = torch.as_tensor(self.envs.reset(seed=SEED)[0], dtype=torch.float32)
        self.done = torch.zeros(self.task.n_envs)
        self.act = torch.compile(torch.no_grad()(self.agent.forward))
        self.value = torch.compile(torch.no_grad()(self.agent.value))
        self.loss = torch.compile(self._loss)
        self.optimizer_step = torch.compile(self._clip_and_step)

    def train(self, rollouts: int) -> None:
        task = self.task
        for rollout in range(rollouts):
            left = 1.0 - rollout / rollouts if task.anneal else 1.0
            self.optimizer.param_groups[0]["lr"].fill_(left * task.lr)
            clip = torch.tensor(left * task.clip)
            columns = self.collect()
            n = task.rollout
            obs, action, log_prob, advantage, target = (c.flatten(0, 1) for c in columns)
            for _ in range(task.epochs):
                for batch in torch.randperm(n).split(task.batch_size):
                    self.optimizer.zero_grad(set_to_none=True)
                    self.loss(
                        obs[batch],
                        action[batch],
                        log_prob[batch],
                        advantage[batch],
                        target[batch],
                        clip,
                    ).backward()
                    self.optimizer_step()

    def collect(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Collects a rollout; returns obs, action, log-probability, advantage and target, [T, N, ...]."""
        rows: list[tuple[Any, ...]] = []
        for _ in range(self.task.n_steps):
            action, log_prob, _, value = self.act(self.obs)
            observed, reward, terminated, truncated, info = self.envs.step(action.numpy())
            rows.append((self.obs, action, log_prob, value, self.done, torch.as_tensor(reward)))
            self.obs = torch.as_tensor(observed, dtype=torch.float32)
            self.done = torch.as_tensor(terminated | truncated, dtype=torch.float32)
            self.returns += finished_returns(info)
        obs, action, log_prob, value, done, reward = map(torch.stack, zip(*rows, strict=True))
        after = torch.cat([value[1:], self.value(self.obs)[None]])
        not_done = 1.0 - torch.cat([done[1:], self.done[None]])
        delta = reward.float() + self.task.gamma * after * not_done - value
        discount = self.task.gamma * self.task.gae_lambda * not_done
        # In NumPy: unrolled by the compiler, 1024 steps would take minutes to compile.
        advantage = _discounted_sums(delta.numpy(), discount.numpy())
        return obs, action, log_prob, advantage, advantage + value

    def _loss(
        self,
        obs: Tensor,
        action: Tensor,
        old_log_prob: Tensor,
        advantage: Tensor,
        target: Tensor,
        clip: Tensor,
    ) -> Tensor:
        _, log_prob, entropy, value = self.agent(obs, action)
        ratio = (log_prob - old_log_prob).exp()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        bounded = torch.minimum(torch.maximum(ratio, 1 - clip), 1 + clip)
        policy_loss = torch.max(-advantage * ratio, -advantage * bounded).mean()
        value_loss = ((value - target) ** 2).mean()
        return policy_loss + 0.5 * value_loss - self.task.entropy_coef * entropy.mean()

    def _clip_and_step(self) -> None:
        nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5, foreach=True)
        self.optimizer.step()


def _discounted_sums(delta: np.ndarray, discount: np.ndarray) -> Tensor:
    """Returns A[t] = delta[t] + discount[t] * A[t + 1], the recursion of GAE, [T, N]."""
    advantage, last = np.empty_like(delta), np.zeros_like(delta[0])
    for t in range(len(delta) - 1, -1, -1):
        last = delta[t] + discount[t] * last
        advantage[t] = last
    return torch.from_numpy(advantage)


if __name__ == "__main__":
    main()
