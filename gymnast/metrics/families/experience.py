"""Metrics of the data: the steps of a rollout, and the episodes of training and of evaluation (`eval:`)."""

from __future__ import annotations

from gymnast.metrics import bounds
from gymnast.metrics.metric import INF, Metric

WINDOW = 100
"""Largest number of episodes that the `episode/*` means are taken over."""
EPISODES = (
    f"the last {WINDOW} finished episodes; with the scope `eval:`, the episodes of that evaluation"
)
STD = "standard deviation, in the unit of the value"
NO_RANGE = "unbounded where the environment's facts do not give a range"


METRICS = (
    # ---- episodes: raw return, before any shaping or normalization ------------------------------
    Metric(
        "episode/return",
        "Mean raw return: the score.",
        digits=2,
        better="higher",
        priority=1,
        window=EPISODES,
        bounds=bounds.returns,
        no_bounds_reason=NO_RANGE,
        in_table=True,
    ),
    Metric(
        "episode/return_std",
        "Standard deviation of the raw return over episodes.",
        digits=2,
        priority=6,
        estimator=STD,
        window=EPISODES,
        bounds=bounds.return_spread,
        in_table=True,
    ),
    Metric(
        "episode/return_min",
        "Lowest raw return.",
        digits=2,
        better="higher",
        priority=7,
        window=EPISODES,
        bounds=bounds.returns,
        no_bounds_reason=NO_RANGE,
    ),
    Metric(
        "episode/return_max",
        "Highest raw return.",
        digits=2,
        better="higher",
        priority=7,
        window=EPISODES,
        bounds=bounds.returns,
        no_bounds_reason=NO_RANGE,
    ),
    Metric(
        "episode/length",
        "Mean episode length.",
        unit="steps",
        digits=1,
        priority=4,
        window=EPISODES,
        bounds=bounds.length,
        in_table=True,
    ),
    Metric(
        "episode/count",
        "Number of episodes that the other episode/* metrics are computed over.",
        digits=0,
        priority=8,
        window=EPISODES,
        bounds=(0, INF),
    ),
    Metric(
        "episode/low",
        "Lower end of the 95% confidence interval of the mean return. A run is solved when it is above the "
        "threshold.",
        digits=2,
        better="higher",
        priority=2,
        estimator="Student's t interval of the mean",
        window="the episodes of that evaluation",
        no_bounds_reason="a confidence interval may extend beyond the range of the returns",
        in_table=True,
    ),
    Metric(
        "episode/high",
        "Upper end of the 95% confidence interval of the mean return.",
        digits=2,
        better="higher",
        priority=3,
        estimator="Student's t interval of the mean",
        window="the episodes of that evaluation",
        no_bounds_reason="a confidence interval may extend beyond the range of the returns",
        in_table=True,
    ),
    Metric(
        "episode/iqm",
        "Interquartile mean of the raw return: the mean of its middle half.",
        digits=2,
        better="higher",
        priority=6,
        estimator="mean of the middle 50% of episodes",
        window="the episodes of that evaluation",
        bounds=bounds.returns,
        no_bounds_reason=NO_RANGE,
    ),
    Metric(
        "episode/shaped_return",
        "Mean return including shaping rewards, before normalization. Absent without shaping.",
        digits=2,
        better="higher",
        priority=7,
        window=f"the last {WINDOW} finished episodes that were used for training",
        no_bounds_reason="shaping terms and their weights may have any size",
    ),
    # ---- rollout: every step just collected -----------------------------------------------------
    Metric(
        "rollout/reward_mean",
        "Mean raw reward per step.",
        better="higher",
        priority=6,
        bounds=bounds.reward,
        no_bounds_reason=NO_RANGE,
        in_table=True,
    ),
    Metric(
        "rollout/faults",
        "Environment copies that raised an exception, crashed, hung or violated the environment API.",
        digits=0,
        better="lower",
        priority=7,
        exact=False,
        bounds=(0, INF),
        healthy=(0, 0.5),
        if_high="Episodes are being lost. `gymnast show` lists faults by cause; log.txt has the tracebacks.",
    ),
    Metric(
        "rollout/reward_std",
        "Standard deviation of the raw reward over steps.",
        priority=8,
        estimator=STD,
        bounds=bounds.reward_spread,
    ),
    Metric(
        "rollout/reward_min",
        "Lowest raw reward of a step.",
        better="higher",
        priority=8,
        bounds=bounds.reward,
        no_bounds_reason=NO_RANGE,
    ),
    Metric(
        "rollout/reward_max",
        "Highest raw reward of a step.",
        better="higher",
        priority=8,
        bounds=bounds.reward,
        no_bounds_reason=NO_RANGE,
    ),
    Metric(
        "rollout/reward_interval",
        "Mean number of steps between nonzero rewards; algo.n_steps should be at least this.",
        unit="steps",
        digits=1,
        better="lower",
        priority=8,
        estimator="number of steps divided by the number of nonzero rewards; all steps if there are none",
        bounds=(1, INF),
    ),
    Metric(
        "rollout/episodes",
        "Episodes that ended in this rollout.",
        digits=0,
        priority=8,
        bounds=(0, INF),
    ),
    Metric(
        "rollout/truncated_share",
        "Share of the finished episodes that were truncated by a time limit.",
        unit="share",
        digits=0,
        priority=7,
        bounds=(0, 1),
    ),
    Metric(
        "rollout/obs_mean",
        "Mean of all observation components, as the environment returned them.",
        priority=9,
        bounds=bounds.obs,
        no_bounds_reason="unbounded where the observation space is",
    ),
    Metric(
        "rollout/obs_std",
        "Standard deviation of all observation components, as the environment returned them.",
        priority=9,
        estimator=STD,
        bounds=bounds.obs_spread,
    ),
    Metric(
        "rollout/diversity",
        "How different the observations of the environment copies are at the same step: 0 if all are "
        "identical, around 1 if they are independent of each other and of the time step.",
        digits=2,
        priority=7,
        estimator=(
            "variance over copies at the same step, divided by the variance over all steps and copies; mean "
            "over the components that vary; on up to 16 steps x 16 copies x 32 components, evenly spaced"
        ),
        # unbiased variances of small samples: 2 copies may differ more than all samples do on average
        bounds=(0, 2),
        healthy=(0.01, INF),
        if_low=(
            "The copies go through nearly the same episode, so they provide little more data than one "
            "copy. Randomize the initial state by the seed in reset(), or use fewer copies."
        ),
    ),
    Metric(
        "rollout/action_effect",
        "How much of the change of the observation in a step the action explains; 0 if actions have no "
        "effect.",
        digits=3,
        priority=6,
        estimator=(
            "for each observation component, the share of the variance of its one-step change that actions "
            "explain beyond a linear fit to the observation, minus what chance would explain; the "
            "maximum over components, on up to 256 steps; absent for images and where the observation "
            "determines the action"
        ),
        window="every fourth rollout at first, every 16th after 64",
        bounds=(-1, 1),
    ),
    Metric(
        "rollout/neg_logprob",
        "Mean negative log probability of the sampled actions; at the start of training it equals the "
        "entropy of the untrained policy.",
        unit="nats",
        priority=7,
        estimator="mean over steps of minus the log probability (for Box actions, the log density)",
        no_bounds_reason="rare actions may have any negative log probability, and densities may exceed 1",
    ),
    Metric(
        "rollout/learned_reward",
        "Mean training reward per step: with shaping and scaling, before normalization.",
        priority=7,
        no_bounds_reason="shaping terms, their weights and the reward scale may have any size",
    ),
    Metric(
        "rollout/reward_agreement",
        "Agreement of the training reward with the raw reward: 1 the same direction, -1 the opposite one.",
        digits=2,
        priority=7,
        estimator="cosine similarity of raw and training rewards of all steps; absent if either is all 0",
        bounds=(-1, 1),
    ),
    Metric(
        "rollout/action_mean",
        "Mean of the actions passed to the environment; for Discrete actions, of their index.",
        priority=7,
        bounds=bounds.action,
        no_bounds_reason="unbounded where the action space is",
    ),
    Metric(
        "rollout/action_std",
        "Standard deviation of the actions passed to the environment; for Discrete actions, of their index.",
        priority=7,
        estimator=STD,
        bounds=bounds.action_spread,
    ),
    Metric(
        "rollout/action_offset",
        "Distance of the mean action from the center of its range, as a share of the range. Box actions "
        "only.",
        unit="share",
        digits=1,
        priority=8,
        estimator="the largest one of the components that have finite limits",
        bounds=(0, 0.5),
    ),
    Metric(
        "rollout/action_spread",
        "Standard deviation of the actions, relative to that of uniform actions: 1 is as wide, 1.73 means "
        "that all actions are at the limits of their range. Box actions only.",
        digits=2,
        priority=8,
        estimator="mean over the components that have finite limits",
        bounds=(0, 1.7321),  # Popoviciu's inequality, divided by 1 / sqrt(12)
    ),
    Metric(
        "rollout/action_at_limit",
        "Share of Box action components that are at a limit of their range, by clipping or squashing.",
        unit="share",
        digits=1,
        priority=7,
        estimator="over the components that have finite limits",
        bounds=(0, 1),
    ),
)
