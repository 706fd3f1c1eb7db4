"""Metrics of the hosts that collect for a run (`collect.on`)."""

from __future__ import annotations

from gymnast.metrics.families.progress import SINCE_START, THIS_ROW
from gymnast.metrics.metric import INF, Metric


def _metric(
    name: str,
    description: str,
    unit: str,
    *,
    digits: int = 2,
    estimator: str = "",
    window: str = THIS_ROW,
) -> Metric:
    """Declares a metric of hosts. None of them is exact: they depend on machines, not on the run."""
    return Metric(
        name,
        description,
        unit=unit,
        digits=digits,
        priority=7,
        estimator=estimator,
        window=window,
        exact=False,
        bounds=(0, INF),
    )


METRICS = (
    _metric("hosts/count", "Processes that collected the rollout.", "", digits=0),
    _metric(
        "hosts/restarts",
        "Hosts that were lost and replaced; with the scope of a host, how often that one was.",
        "",
        digits=0,
        window=SINCE_START,
    ),
    _metric("hosts/bytes", "Size of what the hosts sent.", "B", digits=0),
    _metric("hosts/speed", "Env steps per second of one host, while it collected.", "steps/s"),
    _metric("hosts/slowest", "Time that the slowest host took to collect its part.", "s"),
    _metric(
        "hosts/median",
        "Time that the median host took to collect its part; the faster of two.",
        "s",
    ),
    _metric("hosts/wait", "Time of collecting that no host explains: messages, and joining.", "s"),
    _metric("hosts/cpu", "CPU time of all hosts together.", "s"),
    _metric(
        "hosts/staleness",
        "Number of updates since the policy that collected the steps of the rollout "
        "(collect.mode=async); with the scope of a host, of its oldest part.",
        "updates",
        estimator="mean over steps",
    ),
    _metric(
        "hosts/staleness_max",
        "Number of updates since the oldest policy that collected steps of the rollout.",
        "updates",
        digits=0,
    ),
    _metric(
        "hosts/dropped",
        "Env steps that were collected by a policy older than collect.max_staleness, and dropped.",
        "steps",
        digits=0,
    ),
    Metric(
        "hosts/clipped_rho",
        "Share of steps whose importance ratio is above collect.vtrace_rho, by more than 1%.",
        unit="share",
        digits=1,
        priority=7,
        exact=False,
        bounds=(0, 1),
    ),
)
