"""How far, how fast and at what cost: clocks, progress, time, speed, system."""

from __future__ import annotations

from gymnast.metrics.metric import INF, Metric

SINCE_START = "since the run began, over all attempts"
THIS_ROW = "since the previous row"


def _seconds(name: str, description: str, *, priority: int = 8, in_table: bool = False) -> Metric:
    return Metric(
        name,
        description,
        unit="s",
        digits=2,
        priority=priority,
        window=THIS_ROW,
        exact=False,
        bounds=(0, INF),
        in_table=in_table,
    )


def _part(name: str, of: str) -> Metric:
    return Metric(
        name,
        f"Share of the wall time that was {of}.",
        unit="share",
        digits=0,
        priority=8,
        window=THIS_ROW,
        exact=False,
        bounds=(0, 1),
    )


def _counter(name: str, description: str, priority: int, *, in_table: bool = False) -> Metric:
    return Metric(
        name,
        description,
        digits=0,
        priority=priority,
        window=SINCE_START,
        bounds=(0, INF),
        in_table=in_table,
    )


METRICS = (
    # ---- clocks: every row carries all of them; any can be a chart's x axis ---------------------
    _counter("clock/env_steps", "Steps taken, summed over environment copies.", 3),
    _counter("clock/vec_steps", "Steps taken by all copies together: calls of `env.step`.", 7),
    _counter("clock/frames", "Game frames played: env steps times the frame skip.", 9),
    _counter("clock/updates", "Steps of the optimiser.", 6, in_table=True),
    _counter("clock/rollouts", "Rollouts collected and learned from; one row each.", 7),
    _counter("clock/episodes", "Episodes finished in training.", 6, in_table=True),
    Metric(
        "clock/seconds",
        "Wall time spent training, pauses left out.",
        unit="s",
        digits=1,
        priority=4,
        window=SINCE_START,
        exact=False,
        bounds=(0, INF),
    ),
    # ---- progress -------------------------------------------------------------------------------
    Metric(
        "progress/share",
        "Share of the budget used, on the budget's own clock; absent without a budget.",
        unit="share",
        digits=1,
        priority=3,
        window=SINCE_START,
        exact=False,  # a budget may be in minutes
        bounds=(0, 1),
    ),
    Metric(
        "progress/remaining",
        "Wall time until the budget is spent, if training keeps its pace.",
        unit="s",
        digits=0,
        priority=4,
        estimator="what is left of the budget over the pace on its clock",
        window="the run so far",
        exact=False,
        bounds=(0, INF),
    ),
    Metric(
        "progress/stage",
        "Stage of the curriculum that the rollout was collected in, from 1; absent without one.",
        digits=0,
        priority=5,
        window=THIS_ROW,
        bounds=(0, INF),
    ),
    # ---- time: where this row's wall time went --------------------------------------------------
    _seconds("time/env", "Spent in the environments' steps and resets.", priority=7, in_table=True),
    _seconds("time/inference", "Spent asking the policy for actions and values."),
    _seconds("time/update", "Spent learning from the rollout.", priority=7, in_table=True),
    _seconds("time/evaluate_wait", "Spent waiting for an evaluation to end."),
    _seconds("time/checkpoint", "Spent writing checkpoints."),
    _seconds("time/rest", "Spent on everything else: statistics, records, console."),
    _part("time/env_share", "spent in the environments' steps and resets"),
    _part("time/inference_share", "spent asking the policy for actions and values"),
    _part("time/update_share", "spent learning from the rollout"),
    _part("time/rest_share", "spent on everything else, evaluations and checkpoints apart"),
    Metric(
        "time/wall",
        "How long an evaluation took in its own process.",
        unit="s",
        digits=2,
        better="lower",
        priority=8,
        window="one evaluation",
        exact=False,
        bounds=(0, INF),
    ),
    Metric(
        "time/wait",
        "How long training waited for an evaluation's result.",
        unit="s",
        digits=2,
        better="lower",
        priority=8,
        window="one evaluation",
        exact=False,
        bounds=(0, INF),
    ),
    # ---- speed and system -----------------------------------------------------------------------
    Metric(
        "speed/env_steps",
        "Environment steps per second of wall time, everything included.",
        unit="/s",
        digits=0,
        better="higher",
        priority=3,
        window=THIS_ROW,
        exact=False,
        bounds=(0, INF),
        in_table=True,
    ),
    Metric(
        "speed/updates",
        "Steps of the optimiser per second of wall time, everything included.",
        unit="/s",
        digits=0,
        better="higher",
        priority=8,
        window=THIS_ROW,
        exact=False,
        bounds=(0, INF),
    ),
    Metric(
        "system/memory",
        "Most memory the training process has held so far.",
        unit="MB",
        digits=0,
        better="lower",
        priority=8,
        estimator="peak resident set",
        window="since this attempt began",
        exact=False,
        bounds=(0, INF),
        in_table=True,
    ),
    Metric(
        "system/memory_now",
        "Memory that the training process holds now; Linux only.",
        unit="MB",
        digits=0,
        better="lower",
        priority=9,
        estimator="resident set",
        window="when the row is written",
        exact=False,
        bounds=(0, INF),
    ),
    Metric(
        "system/cpu",
        "CPU time of the training process per wall time; 100% is one core kept busy.",
        unit="share",
        digits=0,
        priority=9,
        window=THIS_ROW,
        exact=False,
        bounds=(0, INF),
    ),
)
