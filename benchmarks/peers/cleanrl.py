"""PPO in the manner of CleanRL's single files: eager torch, environments in this process."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from benchmarks.peers.agent import Agent, finished_returns, make_envs
from benchmarks.peers.arguments import parse_arguments
from benchmarks.tasks import SEED, Task
from benchmarks.timing import measure_time, print_sample


def main() -> None:
    task, env_steps, threads = parse_arguments()
    torch.set_num_threads(threads)
    train(task.warm_up, task.warm_up.env_steps)
    with measure_time() as spent:
        updates, returns = train(task, env_steps)
    mean = float(np.mean(returns[-100:])) if returns else None
    print_sample("torch", env_steps, spent, updates=updates, episode_return=mean)


def train(task: Task, env_steps: int) -> tuple[int, list[float]]:
    """Trains PPO; returns the number of gradient steps and the returns of all finished episodes."""
    torch.manual_seed(SEED)
    envs = make_envs(task)
    agent = Agent(task, envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=task.lr, eps=1e-5)
    shape, n = (task.n_steps, task.n_envs), task.rollout
    obs_space, action_space = envs.single_observation_space, envs.single_action_space
    kind = torch.uint8 if task.pixels else torch.float32
    obs = torch.zeros(shape + obs_space.shape, dtype=kind)  # [T, N, ...]
    action_kind = torch.float32 if action_space.shape else torch.int64
    actions = torch.zeros(shape + action_space.shape, dtype=action_kind)
    log_probs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))
    next_obs = torch.as_tensor(envs.reset(seed=SEED)[0], dtype=kind)
    next_done = torch.zeros(task.n_envs)
    updates, returns, rollouts = 0, list[float](), env_steps // n
    for rollout in range(rollouts):
        left = 1.0 - rollout / rollouts if task.anneal else 1.0
        optimizer.param_groups[0]["lr"], clip = left * task.lr, left * task.clip
        # 1. Collect a rollout.
        for step in range(task.n_steps):
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, log_prob, _, value = agent(next_obs)
            values[step], actions[step], log_probs[step] = value, action, log_prob
            observed, reward, terminated, truncated, info = envs.step(action.numpy())
            rewards[step] = torch.as_tensor(reward)
            next_obs = torch.as_tensor(observed, dtype=kind)
            next_done = torch.as_tensor(terminated | truncated, dtype=torch.float32)
            returns += finished_returns(info)

        # 2. GAE (Schulman et al. 2016), backwards over the rollout.
        with torch.no_grad():
            next_value, advantages, last = agent.value(next_obs), torch.zeros(shape), 0.0
            for t in reversed(range(task.n_steps)):
                ended = next_done if t == task.n_steps - 1 else dones[t + 1]
                after = next_value if t == task.n_steps - 1 else values[t + 1]
                delta = rewards[t] + task.gamma * after * (1 - ended) - values[t]
                last = delta + task.gamma * task.gae_lambda * (1 - ended) * last
                advantages[t] = last
            targets = (advantages + values).reshape(n)

        # 3. Epochs of minibatches with the clipped surrogate objective.
        b_obs = obs.reshape((n, *obs_space.shape))
        b_actions = actions.reshape((n, *action_space.shape))
        b_log_probs, b_advantages = log_probs.reshape(n), advantages.reshape(n)
        order, clipped = np.arange(n), list[float]()
        for _ in range(task.epochs):
            np.random.shuffle(order)
            for start in range(0, n, task.batch_size):
                batch = order[start : start + task.batch_size]
                _, log_prob, entropy, value = agent(b_obs[batch], b_actions[batch])
                log_ratio = log_prob - b_log_probs[batch]
                ratio = log_ratio.exp()
                with torch.no_grad():
                    clipped.append(((ratio - 1.0).abs() > clip).float().mean().item())
                advantage = b_advantages[batch]
                # Normalized per minibatch, as in CleanRL and SB3.
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                loss = torch.max(
                    -advantage * ratio, -advantage * ratio.clamp(1 - clip, 1 + clip)
                ).mean()
                loss = loss + 0.5 * ((value - targets[batch]) ** 2).mean()
                loss = loss - task.entropy_coef * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
                updates += 1
    envs.close()
    return updates, returns


if __name__ == "__main__":
    main()
