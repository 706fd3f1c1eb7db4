"""Metrics of progress and cost: clocks, share of the budget, wall time, speed, memory."""

from __future__ import annotations

from gymnast.metrics.metric import INF, Metric

SINCE_START = "since the run began, over all attempts"
THIS_ROW = "since the previous row"


def _seconds(name: str, description: str, *, priority: int = 8, in_table: bool = False) -> Metric:
    """Declares a metric for the seconds of wall time that something took since the previous row."""
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


def _time_share(name: str, activity: str) -> Metric:
    """Declares a metric for the share of the wall time since the previous row. `activity` completes the
    sentence "Share of the wall time spent ..."."""
    return Metric(
        name,
        f"Share of the wall time spent {activity}.",
        unit="share",
        digits=0,
        priority=8,
        window=THIS_ROW,
        exact=False,
        bounds=(0, 1),
    )


def _counter(name: str, description: str, priority: int, *, in_table: bool = False) -> Metric:
    """Declares a clock: a count since the run began, which never falls."""
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
    _counter("clock/env_steps", "Environment steps, summed over the environment copies.", 3),
    _counter(
        "clock/vec_steps",
        "Steps of the vector environment: calls of `env.step` that step all copies.",
        7,
    ),
    _counter("clock/frames", "Emulator frames: env steps times the frame skip.", 9),
    _counter("clock/updates", "Optimizer steps.", 6, in_table=True),
    _counter("clock/rollouts", "Rollouts collected and trained on; each has one row.", 7),
    _counter("clock/episodes", "Episodes finished in training.", 6, in_table=True),
    Metric(
        "clock/seconds",
        "Wall time of training, without pauses.",
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
        "Share of the budget used, on the clock of the budget; absent without a budget.",
        unit="share",
        digits=1,
        priority=3,
        window=SINCE_START,
        exact=False,  # a budget may be in minutes
        bounds=(0, 1),
    ),
    Metric(
        "progress/remaining",
        "Estimated wall time until the budget is spent.",
        unit="s",
        digits=0,
        priority=4,
        estimator="remaining budget divided by the present speed on its clock",
        window="the last 30 s of training",
        exact=False,
        bounds=(0, INF),
    ),
    Metric(
        "progress/stage",
        "Curriculum stage in which the rollout was collected, from 1; absent without a curriculum.",
        digits=0,
        priority=5,
        window=THIS_ROW,
        bounds=(0, INF),
    ),
    # ---- time: where this row's wall time went --------------------------------------------------
    _seconds(
        "time/env", "Time spent stepping and resetting environments.", priority=7, in_table=True
    ),
    _seconds(
        "time/inference", "Time spent on policy inference (actions and values) during collection."
    ),
    _seconds("time/update", "Time spent on updates.", priority=7, in_table=True),
    _seconds("time/evaluate_wait", "Time spent waiting for evaluations to finish."),
    _seconds("time/checkpoint", "Time spent writing checkpoints."),
    _seconds("time/rest", "Time spent on everything else: statistics, logging, console."),
    _time_share("time/env_share", "stepping and resetting environments"),
    _time_share("time/inference_share", "on policy inference during collection"),
    _time_share("time/update_share", "on updates"),
    _time_share("time/rest_share", "on everything else, except evaluations and checkpoints"),
    Metric(
        "time/wall",
        "Wall time of an evaluation in its own process.",
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
        "Time that training waited for the result of an evaluation.",
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
        "Optimizer steps per second of wall time, everything included.",
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
        "Peak memory of the training process so far.",
        unit="MB",
        digits=0,
        better="lower",
        priority=8,
        estimator="peak resident set size",
        window="since this attempt began",
        exact=False,
        bounds=(0, INF),
        in_table=True,
    ),
    Metric(
        "system/memory_now",
        "Current memory of the training process. Linux only.",
        unit="MB",
        digits=0,
        better="lower",
        priority=9,
        estimator="resident set size",
        window="when the row is written",
        exact=False,
        bounds=(0, INF),
    ),
    Metric(
        "system/cpu",
        "CPU time of the training process divided by wall time; 100% is one fully used core.",
        unit="share",
        digits=0,
        priority=9,
        window=THIS_ROW,
        exact=False,
        bounds=(0, INF),
    ),
)
