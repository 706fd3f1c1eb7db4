"""Reports the layers of a network, and its activations and gradients on one real batch (`gymnast net`).

Nothing here depends on a kind of layer or an algorithm. The activation of a layer is the output of the
network cut off after it; the gradient is what one update of the learner leaves, with a learning rate of 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.collector import Collector
from gymnast.collect.matches import MatchCollector
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.section import Hyperparameters, RolloutLength
from gymnast.engine.choice import splits_batch_over_threads
from gymnast.engine.threads import set_num_threads
from gymnast.envs.backends.backend import raise_fault
from gymnast.measure.memory import sampled_states
from gymnast.network_report.record import (
    LayerReport,
    NetworkReport,
    ParameterReport,
    RoleNetwork,
    UniformityReport,
)
from gymnast.policy.head import Head
from gymnast.policy.health import DEAD_RANGES, dead_units, is_saturated
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.role_arrays import LEARNER, POLICY, arrays_of_role
from gymnast.seeds import episode_seed, stream
from gymnast.selfplay.league import League
from gymnast.training.learner import Learner
from gymnast.training.live.settings import Settings

Array = np.ndarray
RESETS = 100
"""Number of first observations on which a policy is compared with a uniform one."""
BATCH = (256, 1024)
"""Minimum and maximum env steps of the batch, which otherwise is the preset's own rollout. For
algorithms that collect whole episodes, the batch is one episode per copy."""
UNIFORM, CENTERED = 0.99, 0.05
"""A policy counts as uniform at the start with this share of the maximum entropy or, for Box actions,
with means this close to the center, as a share of the range."""


def network_report(
    target: str,
    cfg: Config,
    collector: Collector,
    checkpoint: Checkpoint | None = None,
    runs_dir: Path | None = None,
) -> NetworkReport:
    """Returns the layers, parameters and initial action distribution of each role's policy, untrained or
    from a checkpoint. `target` is the title of the report; `runs_dir` is the directory of runs whose
    policies play roles that do not learn."""
    # 1. Learners as training builds them, with the state of the checkpoint if there is one.
    settings = Settings(cfg)
    learners = {
        role: Learner(role, *role_spaces, settings.for_role(role), len(collector.columns(role)))
        for role, role_spaces in collector.spaces.items()
    }
    networks = [x.policy.network for x in learners.values()]
    set_num_threads(
        cfg.threads,
        split_batch=any(splits_batch_over_threads(cfg, network) for network in networks),
    )
    clock = Clock(limits=cfg.stop.limits())
    if checkpoint is not None:
        state = checkpoint.document("state")
        clock.load(state["clock"])
        for role, learner in learners.items():
            learner.policy.load(arrays_of_role(role, checkpoint.tensors(POLICY)))
            arrays = arrays_of_role(role, checkpoint.tensors(LEARNER))
            learner.load(arrays, state["learners"][role], optimizer=True)
    # 2. A real batch: a short rollout. First observations are taken before it, from fresh resets.
    hparams = settings.hyperparameters(clock, learners)
    first_obs = first_observations(collector)
    policies = {role: learner.policy for role, learner in learners.items()}
    # All roles have the same rollout length.
    length = _batch_length(next(iter(hparams.values())).rollout_length(), cfg.env.n_envs)
    with _opponents(cfg, collector, checkpoint, runs_dir):
        collector.start_episodes()
        collected = collector.collect(policies, length, clock)
    rollouts = collected.rollouts
    # 3. The gradient is that of the training reward, so shaping is added first.
    weights = {role: settings.schedules_for(role).weights(clock) for role in learners}
    shaped = {
        role: learner.shaping(rollouts[role], weights[role], hparams[role].gamma)[0]
        for role, learner in learners.items()
    }
    roles = {
        role: _role_network(learner, first_obs[role], rollouts[role], shaped[role], hparams[role])
        for role, learner in learners.items()
    }
    fresh = checkpoint is None
    return NetworkReport(target, fresh, collected.steps, cfg.env.n_envs, roles)


def _role_network(
    learner: Learner, first_obs: Array, rollout: Rollout, shaped: Rollout, hparams: Hyperparameters
) -> RoleNetwork:
    """Returns the report on the network of a learner. `first_obs`: first observations of episodes;
    `shaped`: the rollout with the training reward; `hparams`: the current hyperparameters."""
    policy = learner.policy
    start, layers = uniformity_report(policy, first_obs), layer_report(policy, rollout)
    weights = {name: view.copy() for name, view in policy.parameters.views.items()}
    gradients = batch_gradient(learner, shaped, hparams)
    count = _count(policy.parameters.shapes.values())
    parameters = tuple(_parameters(weights, gradients))
    return RoleNetwork(start, layers, parameters, count, 4 * count, gradients is not None)


def layer_report(policy: Policy, rollout: Rollout) -> tuple[LayerReport, ...]:
    """Returns each layer with its shapes, size and activations on the batch."""
    obs, state, shapes = np.asarray(rollout.obs[rollout.valid]), None, policy.parameters.shapes
    if policy.state_size:
        rows, state = sampled_states(policy, rollout, BATCH[1])
        obs = np.asarray(rollout.obs.reshape(-1, *rollout.obs.shape[2:])[rows])
    features = policy.features(obs)
    layers: list[LayerReport] = []
    if policy.network.module is not None:  # a user's torch module is one opaque layer
        output = policy.inference.actor(features)
        path = policy.network.module.path
        layers.append(_layer("module", path, "", features, output, shapes.values()))
    trunk = features  # input of actor and critic: the features, or the output of shared layers
    for part, stack in policy.network.stacks():
        x = trunk
        for i, layer in enumerate(stack):
            # Recomputed from the features for each layer: quadratic, but independent of the engine. A copy,
            # since engines may compute in place.
            before, x = x, policy.inference.layer_output(part, i, features.copy(), state)
            own = [shape for name, shape in shapes.items() if name.startswith(f"{part}.{i}.")]
            kind = getattr(layer, "kind", "")
            title = kind or type(layer).__name__
            layers.append(_layer(f"{part}.{i}", title, kind, before, x, own))
        if part == "shared":
            trunk = x
    return tuple(layers)


def uniformity_report(policy: Policy, obs: Array) -> UniformityReport:
    """Returns how far from uniform the policy is on observations [B, ...], over all parts of its actions."""
    parts = [
        _options_report(head, dist) if head.space.options else _center_report(head, dist)
        for head, dist in policy.head.split(
            policy.dist(obs, None, policy.initial_state(len(obs)) if policy.state_size else None)
        )
    ]
    # One part that is not uniform decides; otherwise one that cannot be judged.
    judged = {part.uniform for part in parts}
    entropies = [part.entropy for part in parts if part.entropy is not None]
    maxima = [part.max_entropy for part in parts if part.max_entropy is not None]
    off_center = [part.off_center for part in parts if part.off_center is not None]
    return UniformityReport(
        uniform=False if False in judged else None if None in judged else True,
        entropy=sum(entropies) if entropies else None,
        max_entropy=sum(maxima) if maxima else None,
        off_center=max(off_center, default=None),
    )


def _options_report(head: Head, dist: Array) -> UniformityReport:
    """Returns the entropy of a discrete head, its maximum, and whether it is close to that."""
    entropy = float(head.entropy(dist).mean())
    maximum = float(head.entropy(np.zeros_like(dist)).mean())  # equal logits
    lowest = float(head.entropy(dist).min())  # the worst observation decides, not the mean
    return UniformityReport(lowest >= UNIFORM * maximum, entropy, maximum)


def _center_report(head: Head, dist: Array) -> UniformityReport:
    """Returns how far the mean of a continuous head is from the center of the range, as a share of it; no
    verdict if the range is unbounded."""
    if not head.space.is_bounded:
        return UniformityReport(None)
    mean = head.measured(head.mode(dist)).reshape(len(dist), -1).astype(np.float64)
    low, high = (
        np.array(x) for x in zip(*((e.low, e.high) for e in head.space.elements), strict=True)
    )
    off = float((np.abs(mean - (low + high) / 2) / (high - low)).max())
    return UniformityReport(off <= CENTERED, off_center=off)


def first_observations(collector: Collector, count: int = RESETS) -> dict[str, Array]:
    """Returns each role's first observations in `count` new episodes, [B, ...]."""
    observed: dict[str, list[Array]] = {role: [] for role in collector.spaces}
    if isinstance(collector, MatchCollector):
        envs, n_copies = collector.matches, collector.matches.n_matches
    else:
        assert isinstance(collector, VectorCollector)
        envs, n_copies = collector.envs, collector.envs.n_envs
    for first in range(0, count, n_copies):
        copies = range(min(n_copies, count - first))
        seeds = [episode_seed(0, "first observation", first + i) for i in copies]
        raise_fault(envs.name, envs.reset(copies, seeds))
        for role, rows in observed.items():
            rows.append(_current_obs(collector, role)[collector.columns(role, copies)])
    return {role: np.concatenate(rows) for role, rows in observed.items()}


def _current_obs(collector: Collector, role: str) -> Array:
    """Returns the current observation of every column of the role's rollouts."""
    if isinstance(collector, MatchCollector):
        obs = collector.matches.obs[role]  # [matches, seats, ...]
        return obs.reshape(-1, *obs.shape[2:])
    assert isinstance(collector, VectorCollector)
    return collector.envs.obs


@contextmanager
def _opponents(
    cfg: Config, collector: Collector, checkpoint: Checkpoint | None, runs_dir: Path | None
) -> Iterator[None]:
    """Lets the policies that the config names play the roles that do not learn, in environments with
    several agents."""
    if not isinstance(collector, MatchCollector):
        yield
        return
    with TemporaryDirectory(prefix="gymnast-net-") as folder:
        # A league keeps its snapshots in the run directory; a fresh network has no run yet.
        run_dir = Path(folder) if checkpoint is None else checkpoint.path.parent.parent
        collector.matchmaker = League(cfg, collector.matches, collector.learners, run_dir, runs_dir)
        yield


def batch_gradient(
    learner: Learner, rollout: Rollout, hparams: Hyperparameters
) -> dict[str, Array] | None:
    """Returns parameter -> gradient of the algorithm's own loss on the whole batch; None if the
    algorithm takes no gradient step. The learner is left unchanged."""
    # One unclipped step on the whole batch with learning rate 0, so that the engine is left with exactly the
    # gradient. Each algorithm has some of these settings.
    one_step = {"lr": 0.0, "epochs": 1, "batch_size": rollout.steps, "max_grad_norm": None}
    one_step |= {"warmup": 1, "gradient_steps": 1}
    known = {key: value for key, value in one_step.items() if hasattr(hparams, key)}
    before = learner.snapshot()
    metrics = learner.update(rollout, replace(hparams, **known), stream(0, "gradient")).metrics
    gradient_step = getattr(learner.algorithm, "gradient_step", None)
    gradients = None
    if metrics.get("optim/steps") and gradient_step is not None:
        views = learner.policy.parameters.views_of(gradient_step.engine.gradient)
        gradients = {name: view.copy() for name, view in views.items()}
    learner.roll_back(before)  # Adam's moments and running statistics did change
    return gradients


def _batch_length(length: RolloutLength, n_envs: int) -> RolloutLength:
    """Returns the algorithm's own rollout length clipped to `BATCH`; one episode per copy if it collects
    whole episodes."""
    if length.episodes is not None or length.steps is None:
        return replace(length, episodes=1)
    minimum, maximum = (-(-steps // n_envs) for steps in BATCH)  # rounded up
    return replace(length, steps=max(minimum, min(maximum, length.steps)))


def _parameters(
    weights: Mapping[str, Array], gradients: Mapping[str, Array] | None
) -> Iterator[ParameterReport]:
    """Yields each parameter with its norm and that of its gradient."""
    for name, weight in weights.items():
        grad = None if gradients is None else gradients[name]
        yield ParameterReport(
            name=name,
            shape=weight.shape,
            norm=float(np.linalg.norm(weight)),
            gradient_norm=None if grad is None else float(np.linalg.norm(grad)),
            gradient_max=None if grad is None else float(np.abs(grad).max()),
        )


def _layer(
    name: str,
    title: str,
    activation: str,
    before: Array,
    after: Array,
    shapes: Iterable[Sequence[int]],
) -> LayerReport:
    """Returns the report on one layer. `activation`: name of its activation function, or empty; `before` and
    `after`: its input and output on the batch; `shapes`: those of its parameters."""
    units = after.astype(np.float64)
    count = _count(shapes)
    return LayerReport(
        name=name,
        kind=title,
        input=before.shape[1:],
        output=after.shape[1:],
        parameters=count,
        bytes=4 * count,  # weights are float32
        mean=float(units.mean()),
        std=float(units.std()),
        dead=float(dead_units(activation, after).mean()) if activation in DEAD_RANGES else None,
        saturated=float(is_saturated(after).mean()) if activation == "tanh" else None,
    )


def _count(shapes: Iterable[Sequence[int]]) -> int:
    return sum(int(np.prod(shape)) for shape in shapes)
