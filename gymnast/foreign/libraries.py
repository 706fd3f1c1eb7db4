"""The names that other programs log under, and which metric of gymnast each is: data, one table per library.

`convert` turns the unit or sign of the library into that of gymnast. Where a library computes a number in
another way, `note` says so. Names in `unused` are known, but are no metric of gymnast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from gymnast.foreign.log import ENV_STEPS
from gymnast.metrics.specs import METRICS, generic_name, split_key

EVAL_RETURN, EVAL_STEPS = "eval:episode/return", "eval:clock/env_steps"
LR = "hyper/lr"
STEP = "step"
"""Name, in a column map, of the step of the events or of the calls of `wandb.log`."""
SUMMED_LENGTH = "summed length"
"""The sum of the lengths of all episodes so far, which the reader of Monitor files adds to them."""
_K3 = "estimated from the sampled actions (k3)"


def _same(value: float) -> float:
    return value


def _negated(value: float) -> float:
    return -value


def _doubled(value: float) -> float:
    return 2 * value


def _log(value: float) -> float:
    return math.log(value) if value > 0 else math.nan


@dataclass(frozen=True)
class ForeignMetric:
    """One metric of a library."""

    key: str
    """The metric of gymnast, with its scope."""
    convert: Callable[[float], float] = _same
    """Returns the value in the unit and with the sign of gymnast."""
    conversion: str = ""
    """The conversion in words; empty if there is none."""
    per_episode: bool = False
    """Whether a value is about one finished episode. Rows get the mean over the last 100 episodes."""
    nan_is_missing: bool = False
    """Whether the library logs NaN where there is no value, so that NaN is no fault."""
    note: str = ""
    """How the library computes it, where that differs from gymnast."""


@dataclass(frozen=True)
class Library:
    """A library that trains agents, and the names that it uses."""

    name: str
    """Its short name."""
    title: str
    """Its name in messages."""
    env_steps: tuple[str, ...]
    """Logged names with the number of env steps, the preferred one first."""
    step_is_env_steps: bool
    """Whether the step of an event counts env steps, for events without such a name."""
    metrics: Mapping[str, ForeignMetric]
    """Name of the library -> metric."""
    unused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name of the library -> why it is not used."""
    hyperparameters: Mapping[str, str] = field(default_factory=dict[str, str])
    """Setting of gymnast (dotted key) -> name of the library."""
    remedies: Mapping[str, str] = field(default_factory=dict[str, str])
    """Setting of gymnast that is no hyperparameter of the library -> what to do there instead."""
    budget: tuple[str, ...] = ()
    """Hyperparameters with the number of env steps to train for."""
    env: tuple[str, ...] = ()
    """Hyperparameters with the id of the environment."""
    seed: str = "seed"
    """Hyperparameter with the seed."""

    def known(self, names: Collection[str]) -> list[str]:
        """Returns those of these names that are a metric of the library."""
        return [name for name in names if name in self.metrics]


_FROM_START = "it is the mean since the start; speeds are computed from the times of the rows"
SB3 = Library(
    name="sb3",
    title="Stable-Baselines3",
    env_steps=("time/total_timesteps", "global_step"),
    step_is_env_steps=True,
    metrics={
        "rollout/ep_rew_mean": ForeignMetric(
            "episode/return", note="mean over the last 100 episodes (stats_window_size)"
        ),
        "rollout/ep_len_mean": ForeignMetric("episode/length", note="as rollout/ep_rew_mean"),
        "time/time_elapsed": ForeignMetric("clock/seconds", note="whole seconds"),
        "time/iterations": ForeignMetric("clock/rollouts"),
        "train/approx_kl": ForeignMetric(
            "policy/kl", note=f"{_K3}, mean over the minibatches of the last epoch"
        ),
        "train/clip_fraction": ForeignMetric(
            "policy/clip_fraction", note="mean over all minibatches of the update"
        ),
        "train/entropy_loss": ForeignMetric(
            "policy/entropy", _negated, "times -1", note="mean over all minibatches of the update"
        ),
        "train/explained_variance": ForeignMetric(
            "value/explained_variance", nan_is_missing=True, note="NaN for constant targets"
        ),
        "train/value_loss": ForeignMetric("value/loss"),
        "train/policy_gradient_loss": ForeignMetric("policy/loss"),
        "train/policy_loss": ForeignMetric("policy/loss", note="A2C"),
        "train/learning_rate": ForeignMetric(LR),
        "train/clip_range": ForeignMetric("hyper/clip"),
        "train/std": ForeignMetric("policy/log_std", _log, "natural logarithm"),
        "rollout/exploration_rate": ForeignMetric("hyper/epsilon", note="DQN"),
        "eval/mean_reward": ForeignMetric(EVAL_RETURN, note="EvalCallback: its own seeds"),
        "eval/mean_ep_length": ForeignMetric("eval:episode/length", note="EvalCallback"),
    },
    unused={
        "time/fps": _FROM_START,
        "time/episodes": "no metric of gymnast",
        "train/n_updates": "PPO counts epochs in it, not optimizer steps",
        "train/loss": "PPO logs the loss of the last minibatch only",
        "rollout/success_rate": "no metric of gymnast",
        "eval/success_rate": "no metric of gymnast",
    },
    hyperparameters={
        "algo.lr": "learning_rate",
        "algo.n_steps": "n_steps",
        "algo.batch_size": "batch_size",
        "algo.epochs": "n_epochs",
        "algo.gamma": "gamma",
        "algo.gae_lambda": "gae_lambda",
        "algo.clip": "clip_range",
        "algo.entropy_coef": "ent_coef",
        "algo.value_coef": "vf_coef",
        "algo.max_grad_norm": "max_grad_norm",
        "algo.target_kl": "target_kl",
        "env.n_envs": "n_envs",
    },
    remedies={
        "normalize.obs": "VecNormalize(norm_obs=True)",
        "normalize.reward": "VecNormalize(norm_reward=True)",
        "policy.log_std": 'policy_kwargs={"log_std_init": ...}',
        "policy.activation": 'policy_kwargs={"activation_fn": torch.nn.Tanh}',
        "policy.hidden": "policy_kwargs={'net_arch': ...}",
    },
    budget=("_total_timesteps", "total_timesteps"),
    env=("env_id", "env_name", "env"),
)
CLEANRL = Library(
    name="cleanrl",
    title="CleanRL",
    env_steps=("global_step",),
    step_is_env_steps=True,
    metrics={
        "charts/episodic_return": ForeignMetric("episode/return", per_episode=True),
        "charts/episodic_length": ForeignMetric("episode/length", per_episode=True),
        "charts/learning_rate": ForeignMetric(LR),
        "charts/epsilon": ForeignMetric("hyper/epsilon", note="DQN"),
        "losses/value_loss": ForeignMetric(
            "value/loss", _doubled, "times 2", note="half the squared error; last minibatch"
        ),
        "losses/policy_loss": ForeignMetric("policy/loss", note="last minibatch"),
        "losses/entropy": ForeignMetric("policy/entropy", note="last minibatch"),
        "losses/approx_kl": ForeignMetric("policy/kl", note=f"{_K3}, last minibatch"),
        "losses/clipfrac": ForeignMetric(
            "policy/clip_fraction", note="mean over all minibatches of the update"
        ),
        "losses/explained_variance": ForeignMetric(
            "value/explained_variance", nan_is_missing=True, note="NaN for constant targets"
        ),
    },
    unused={
        "charts/SPS": _FROM_START,
        "losses/old_approx_kl": "the k1 estimator, which may be negative",
        "losses/td_loss": "no metric of gymnast",
        "losses/q_values": "no metric of gymnast",
    },
    hyperparameters={
        "algo.lr": "learning_rate",
        "algo.n_steps": "num_steps",
        "algo.batch_size": "minibatch_size",
        "algo.epochs": "update_epochs",
        "algo.gamma": "gamma",
        "algo.gae_lambda": "gae_lambda",
        "algo.clip": "clip_coef",
        "algo.entropy_coef": "ent_coef",
        "algo.value_coef": "vf_coef",
        "algo.max_grad_norm": "max_grad_norm",
        "algo.target_kl": "target_kl",
        "env.n_envs": "num_envs",
    },
    remedies={
        "normalize.obs": "gym.wrappers.NormalizeObservation",
        "normalize.reward": "gym.wrappers.NormalizeReward",
        "policy.log_std": "the initial value of actor_logstd",
        "policy.activation": "nn.Tanh in the networks",
        "policy.hidden": "the sizes of the layers",
    },
    budget=("total_timesteps",),
    env=("env_id",),
)
MONITOR = Library(
    name="monitor",
    title="the Monitor wrapper of Stable-Baselines3",
    env_steps=(SUMMED_LENGTH,),
    step_is_env_steps=False,
    metrics={
        "r": ForeignMetric("episode/return", per_episode=True),
        "l": ForeignMetric("episode/length", per_episode=True),
    },
    unused={"t": "seconds since the start; the time of the episode is used"},
    hyperparameters=SB3.hyperparameters,
    remedies=SB3.remedies,
)
OWN = "gymnast"
"""Name of the table for files that gymnast itself wrote."""
LIBRARIES = (SB3, CLEANRL, MONITOR)
"""All libraries whose names are known. Files of gymnast itself need no table: their names are the metrics."""


def library_of(names: Collection[str]) -> Library | None:
    """Returns the library that most of these logged names belong to; None if no name is known."""
    best = max(LIBRARIES, key=lambda library: len(library.known(names)))
    return best if best.known(names) else None


def own_names(names: Collection[str]) -> Library:
    """Returns the table for files that gymnast itself wrote for a tracker: every name is its metric."""
    metrics = {name: ForeignMetric(name) for name in names if _is_declared(name)}
    return Library(
        name=OWN,
        title="gymnast",
        env_steps=(ENV_STEPS,),
        step_is_env_steps=False,
        metrics=metrics,
        hyperparameters={key: key for key in SB3.hyperparameters},
        budget=("stop.env_steps",),
        env=("env.id",),
    )


def mapped_names(columns: Mapping[str, str]) -> Library:
    """Returns the table of a column map. `columns`: metric with its scopes -> name in the file."""
    metrics = {name: ForeignMetric(key) for key, name in columns.items() if key != ENV_STEPS}
    return Library(
        name="map",
        title="the column map",
        env_steps=(columns[ENV_STEPS],),
        step_is_env_steps=columns[ENV_STEPS] == STEP,
        metrics=metrics,
    )


def _is_declared(name: str) -> bool:
    metric = split_key(name)[1]
    return metric in METRICS or generic_name(metric) != metric or metric.startswith("hyper/")
