"""A copy that fails for good stops all hosts at the same step, as it stops one process."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.config.config import Config
from gymnast.errors import EnvError
from gymnast.seeds import episode_seed
from tests.collect.shards.carriers import HereCarrier
from tests.collect.shards.same import assert_same
from tests.collect.shards.test_joining import N, config, on_hosts, opened, played_here, rollouts


def breaking(*copies_and_steps: tuple[int, int]) -> Config:
    """Returns settings with which the first episodes of these copies break at these steps, for good."""
    plan = {episode_seed(0, "episode", "agent", c, 0): step for c, step in copies_and_steps}
    more: dict[str, Any] = {"env.on_fault": "stop", "facts.deterministic": "yes"}
    kwargs = {"env.kwargs": {"plan": {str(seed): step for seed, step in plan.items()}}}
    return config("planned faults", **more, **kwargs)


@pytest.mark.parametrize(
    "plan",
    [((4, 5),), ((0, 3), (5, 7)), ((1, 7), (5, 3)), ((2, 4), (3, 4)), ((3, 12),), ((0, 1), (5, 9))],
)
def test_all_shards_are_cut_at_the_step_of_the_first_fatal_fault(plan: tuple[tuple[int, int], ...]):
    cfg = breaking(*plan)
    expected = [result for result, _ in played_here(cfg)]
    rollout = (min(step for _, step in plan) - 1) // 9
    assert expected[rollout].fatal_fault is not None
    for hosts in (1, 2, 3, N):
        with opened(on_hosts(cfg, hosts), HereCarrier(seed=hosts)) as collector:
            collector.start_episodes()
            found = [result for result, _ in rollouts(collector, cfg, count=rollout + 1)]
        assert_same(found[rollout], expected[rollout])
        assert found[rollout].vec_steps == min(step for _, step in plan) - 9 * rollout


def test_an_environment_whose_reset_always_fails_is_refused_with_its_own_error():
    broken = {"env.kwargs": {"how": "raises", "at": 0, "only": "all"}, "algo.n_steps": 9}
    cfg = on_hosts(config("faults", **broken), 2)
    carrier = HereCarrier()
    with pytest.raises(EnvError, match="physics went wrong"), opened(cfg, carrier):
        pass
    assert carrier.closed


def test_hosts_are_closed_if_the_environment_cannot_be_opened():
    cfg = on_hosts(config("numbers", **{"env.kwargs": {"no": "such argument"}}), 2)
    carrier = HereCarrier()
    with pytest.raises(EnvError, match="no"), opened(cfg, carrier):
        pass
    assert carrier.closed
