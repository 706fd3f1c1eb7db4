"""Sample Factory in one process (`serial_mode`), synchronous, on CartPole."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from typing import Any

import gymnasium
import torch
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.train import make_runner

from benchmarks.peers.arguments import parse_arguments
from benchmarks.tasks import HIDDEN, SEED, Task
from benchmarks.timing import measure_time, print_sample


def main() -> None:
    task, env_steps, threads = parse_arguments()
    torch.set_num_threads(threads)
    register_env(task.env, _make)
    stdout = os.dup(
        1
    )  # it logs to stdout, also from C, so the file descriptor itself is redirected
    with tempfile.TemporaryDirectory() as folder:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with contextlib.redirect_stderr(sys.stdout):
            _, runner = make_runner(_settings(task, env_steps, folder))
            runner.init()
            with measure_time() as spent:
                runner.run()
    os.dup2(stdout, 1)
    collected = sum(runner.env_steps.values())
    updates = collected // task.rollout * task.updates_per_rollout
    print_sample("sample-factory", collected, spent, updates=updates, episode_return=None)
    os._exit(0)  # without waiting for its threads


def _make(name: str, *_: Any, render_mode: str | None = None) -> Any:
    return gymnasium.make(name, render_mode=render_mode, disable_env_checker=True)


def _settings(task: Task, env_steps: int, folder: str) -> Any:
    chosen: dict[str, Any] = {
        "algo": "APPO", "env": task.env, "experiment": "sample", "train_dir": folder,
        "seed": SEED, "device": "cpu", "serial_mode": True, "async_rl": False,
        "num_workers": 1, "num_envs_per_worker": task.n_envs, "worker_num_splits": 1,
        "rollout": task.n_steps, "batch_size": task.batch_size,
        "num_batches_per_epoch": task.rollout // task.batch_size, "num_epochs": task.epochs,
        "train_for_env_steps": env_steps, "use_rnn": False, "nonlinearity": "tanh",
        "actor_critic_share_weights": False, "normalize_input": False, "normalize_returns": False,
        "learning_rate": task.lr, "gamma": task.gamma, "gae_lambda": task.gae_lambda,
        "ppo_clip_ratio": task.clip, "exploration_loss_coeff": task.entropy_coef,
        "value_loss_coeff": 0.5, "max_grad_norm": 0.5, "with_vtrace": False,
        "save_every_sec": 600, "restart_behavior": "overwrite", "with_wandb": False,
    }  # fmt: skip
    words = [f"--{name}={value}" for name, value in chosen.items()]
    words += ["--encoder_mlp_layers", *map(str, HIDDEN)]
    parser, _ = parse_sf_args(words)
    return parse_full_cfg(parser, words)


if __name__ == "__main__":
    main()
