"""What the agent met: steps of the rollout, and episodes in training and evaluation (`eval:`)."""

from __future__ import annotations

from gymnast.metrics import bounds
from gymnast.metrics.metric import INF, Metric

WINDOW = 100
"""Episodes that the `episode/*` means are over, at most."""
EPISODES = f"the last {WINDOW} finished episodes; in `eval:` the episodes of that evaluation"
STD = "standard deviation, in the value's own unit"
NO_RANGE = "open where the environment's facts do not give the range"


METRICS = (
    # ---- episodes: raw return, before any shaping or normalisation ------------------------------
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
        "Spread of the raw return over episodes.",
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
        "Mean number of steps of an episode.",
        unit="steps",
        digits=1,
        priority=4,
        window=EPISODES,
        bounds=bounds.length,
        in_table=True,
    ),
    Metric(
        "episode/count",
        "Episodes that the episode numbers are over.",
        digits=0,
        priority=8,
        window=EPISODES,
        bounds=(0, INF),
    ),
    Metric(
        "episode/low",
        "Lower end of the 95% confidence interval of the mean return. Solved: above the threshold.",
        digits=2,
        better="higher",
        priority=2,
        estimator="Student's t interval of the mean",
        window="the episodes of that evaluation",
        no_bounds_reason="an interval may reach past the range of what it estimates",
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
        no_bounds_reason="an interval may reach past the range of what it estimates",
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
        "Mean return with what shaping adds, before normalisation: what is learned from. Absent "
        "without shaping.",
        digits=2,
        better="higher",
        priority=7,
        window=f"the last {WINDOW} finished episodes that were learned from",
        no_bounds_reason="weights and terms are of any size",
    ),
    # ---- rollout: every step just collected -----------------------------------------------------
    Metric(
        "rollout/reward_mean",
        "Mean raw reward of a step.",
        better="higher",
        priority=6,
        bounds=bounds.reward,
        no_bounds_reason=NO_RANGE,
        in_table=True,
    ),
    Metric(
        "rollout/faults",
        "Copies of the environment that raised, died, hung or broke their contract.",
        digits=0,
        better="lower",
        priority=7,
        exact=False,
        bounds=(0, INF),
        healthy=(0, 0.5),
        if_high="Episodes are being lost. `gymnast show` lists faults by cause; see log.txt for tracebacks.",
    ),
    Metric(
        "rollout/reward_std",
        "Spread of the raw reward over steps.",
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
        "Steps from one reward other than 0 to the next: algo.n_steps should be no fewer.",
        unit="steps",
        digits=1,
        better="lower",
        priority=8,
        estimator="steps over rewards other than 0; all steps where there is none",
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
        "Share of the ended episodes that a time limit cut off.",
        unit="share",
        digits=0,
        priority=7,
        bounds=(0, 1),
    ),
    Metric(
        "rollout/obs_mean",
        "Mean of all observation components, as the environment gave them.",
        priority=9,
        bounds=bounds.obs,
        no_bounds_reason="open where the observation space is",
    ),
    Metric(
        "rollout/obs_std",
        "Spread of all observation components, as the environment gave them.",
        priority=9,
        estimator=STD,
        bounds=bounds.obs_spread,
    ),
    Metric(
        "rollout/diversity",
        "How different the copies' observations are at the same step: 0 if all copies see the same, "
        "around 1 if they are independent of each other and of how long the rollout has lasted.",
        digits=2,
        priority=7,
        estimator=(
            "variance over copies at the same step, over the variance of all; mean over components "
            "that vary; of up to 16 steps x 16 copies x 32 numbers, evenly spread"
        ),
        # unbiased variances of few: 2 copies may be further apart than all are on average
        bounds=(0, 2),
        healthy=(0.01, INF),
        if_low=(
            "The copies live through nearly the same episode, so that many of them teach little more "
            "than one: let the environment draw its start from the seed, or use fewer copies."
        ),
    ),
    Metric(
        "rollout/action_effect",
        "How much of what changes in a step is told by the action taken: 0 if actions do nothing.",
        digits=3,
        priority=6,
        estimator=(
            "of each observation component, the share of the variance of its change over one step "
            "that actions explain beyond a linear fit to the observation, less what chance explains; "
            "the largest; of up to 256 steps; absent for images and where what is seen tells the action"
        ),
        window="every fourth rollout at first, every 16th after 64",
        bounds=(-1, 1),
    ),
    Metric(
        "rollout/neg_logprob",
        "How unlikely the policy held the actions it took: at first the entropy it begins with.",
        unit="nats",
        priority=7,
        estimator="mean of minus the log probability, or density, of each action",
        no_bounds_reason="rare actions have any surprise, and densities may exceed 1",
    ),
    Metric(
        "rollout/learned_reward",
        "Mean reward of a step as it is learned from: shaped and scaled, before it is normalised.",
        priority=7,
        no_bounds_reason="weights, terms and scale are of any size",
    ),
    Metric(
        "rollout/reward_agreement",
        "Whether what is learned from points where the raw reward does: 1 the same, -1 the opposite.",
        digits=2,
        priority=7,
        estimator="cosine of raw and learned rewards of all steps; absent where either is all 0",
        bounds=(-1, 1),
    ),
    Metric(
        "rollout/action_mean",
        "Mean of the actions taken by the environment; of the index where they are Discrete.",
        priority=7,
        bounds=bounds.action,
        no_bounds_reason="open where the action space is",
    ),
    Metric(
        "rollout/action_std",
        "Spread of the actions taken by the environment; of the index where they are Discrete.",
        priority=7,
        estimator=STD,
        bounds=bounds.action_spread,
    ),
    Metric(
        "rollout/action_at_limit",
        "Share of the amounts of Box actions that lie on a limit of their range, clipped or squashed.",
        unit="share",
        digits=1,
        priority=7,
        estimator="over the components that have a limit",
        bounds=(0, 1),
    ),
)
