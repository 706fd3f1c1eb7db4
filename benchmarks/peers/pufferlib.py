"""PufferLib's trainer; task f on its own CartPole in C, the others on Gymnasium's through its emulation.

Its dashboard, checkpoints, prioritized sampling and clipped value loss (which it halves itself) are its
defaults. The optimizer is Adam, as for all libraries.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import gymnasium
import pufferlib
import pufferlib.emulation
import pufferlib.pufferl
import pufferlib.pytorch
import pufferlib.vector
import torch
from torch import Tensor, nn

from benchmarks.peers.arguments import parse_arguments
from benchmarks.tasks import HIDDEN, SEED, Task
from benchmarks.timing import measure_time, print_sample


def main() -> None:
    task, env_steps, threads = parse_arguments()
    torch.set_num_threads(threads)
    # Its dashboard would end up in our JSON.
    with open(os.devnull, "w") as devnull, contextlib.redirect_stdout(devnull):
        train(task.warm_up, task.warm_up.env_steps)
        with measure_time() as spent:
            trainer = train(task, env_steps)
    updates = trainer.epoch * trainer.total_minibatches
    stats = trainer.stats or trainer.last_stats
    returns = next((stats[key] for key in ("episode_return", "score") if key in stats), None)
    mean_return = None if returns is None else float(torch.as_tensor(returns).float().mean())
    print_sample(
        "pufferlib", trainer.global_step, spent, updates=updates, episode_return=mean_return
    )
    sys.stdout.flush()
    os._exit(0)  # otherwise waits for its threads


def train(task: Task, env_steps: int) -> Any:
    envs = make_envs(task)
    trainer = pufferlib.pufferl.PuffeRL(settings(task, env_steps), envs, Policy(envs))
    while trainer.global_step < env_steps:
        trainer.evaluate()
        trainer.train()
    trainer.utilization.stop()
    envs.close()
    return trainer


def make_envs(task: Task) -> Any:
    if task.letter == "f":
        from pufferlib.ocean.cartpole.cartpole import Cartpole

        return pufferlib.vector.make(
            Cartpole, env_kwargs={"num_envs": task.n_envs}, backend=pufferlib.PufferEnv
        )

    def make(buf: Any = None, seed: int = 0) -> Any:
        env = pufferlib.EpisodeStats(gymnasium.make(task.env, disable_env_checker=True))
        return pufferlib.emulation.GymnasiumPufferEnv(env=env, buf=buf, seed=seed)

    return pufferlib.vector.make(make, num_envs=task.n_envs, backend=pufferlib.vector.Serial)


def settings(task: Task, env_steps: int) -> dict[str, Any]:
    return {
        "seed": SEED, "torch_deterministic": True, "cpu_offload": False, "device": "cpu",
        "optimizer": "adam", "anneal_lr": task.anneal, "precision": "float32",
        "total_timesteps": env_steps, "learning_rate": task.lr, "gamma": task.gamma,
        "gae_lambda": task.gae_lambda, "update_epochs": task.epochs, "clip_coef": task.clip,
        "vf_coef": 1.0, "vf_clip_coef": 0.2, "max_grad_norm": 0.5, "ent_coef": task.entropy_coef,
        "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_eps": 1e-5, "data_dir": "experiments",
        "checkpoint_interval": 200, "batch_size": task.rollout, "minibatch_size": task.batch_size,
        "max_minibatch_size": task.batch_size, "bptt_horizon": task.n_steps, "compile": False,
        "compile_mode": "default", "compile_fullgraph": True, "vtrace_rho_clip": 1.0,
        "vtrace_c_clip": 1.0, "prio_alpha": 0.8, "prio_beta0": 0.2, "use_rnn": False,
        "env": task.env, "project": "benchmarks", "name": "benchmarks",
    }  # fmt: skip


class Policy(nn.Module):
    def __init__(self, envs: Any) -> None:
        super().__init__()
        n_in, n_out = envs.single_observation_space.shape[0], envs.single_action_space.n
        self.actor, self.critic = _mlp(n_in, n_out, 0.01), _mlp(n_in, 1, 1.0)
        self.hidden_size = HIDDEN[-1]

    def forward(self, obs: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        return self.actor(obs), self.critic(obs)

    forward_eval = forward


def _mlp(n_in: int, n_out: int, gain: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in HIDDEN:
        layers += [pufferlib.pytorch.layer_init(nn.Linear(n_in, width)), nn.Tanh()]
        n_in = width
    return nn.Sequential(*layers, pufferlib.pytorch.layer_init(nn.Linear(n_in, n_out), std=gain))


if __name__ == "__main__":
    main()
