"""SBX: SB3's PPO in JAX. A first rollout, not timed, compiles it."""

from __future__ import annotations

import os

# Before JAX is imported, which reads it once: one thread, as for all libraries.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import flax.linen as nn
from sbx import PPO

from benchmarks.peers.arguments import parse_arguments
from benchmarks.peers.sb3 import make_envs, mean_return, policy_name, settings
from benchmarks.tasks import SEED
from benchmarks.timing import measure_time, print_sample


def main() -> None:
    task, env_steps, _ = parse_arguments()
    chosen = settings(task)
    chosen["policy_kwargs"] |= {"activation_fn": nn.tanh}
    with measure_time() as compiling:
        envs = make_envs(task)
        model = PPO(policy_name(task), envs, device="cpu", seed=SEED, **chosen)
        model.learn(task.rollout)
    with measure_time() as spent:
        model.learn(env_steps)
    print_sample(
        "sbx-rl",
        model.num_timesteps,
        spent,
        updates=model.num_timesteps // task.rollout * task.updates_per_rollout,
        episode_return=mean_return(model),
        compiling=compiling.cpu,
    )


if __name__ == "__main__":
    main()
