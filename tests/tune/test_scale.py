"""`gymnast tune scale`: real measurements, and the model that predicts other numbers of hosts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.training.lifecycle.prepare import prepare
from gymnast.tune.scale import tune_scale
from gymnast.tune.scale_model import ScaleModel

SECONDS = st.floats(1e-4, 10.0)


@given(fixed=SECONDS, work=SECONDS, message=st.floats(1e-5, 0.1))
def test_a_model_is_found_again_from_its_own_times(fixed: float, work: float, message: float):
    true = ScaleModel(fixed, work, message)
    fitted = ScaleModel.fit({h: true.seconds(h) for h in (1, 2, 3, 4)})
    for hosts in (1, 2, 4, 8, 64):
        assert fitted.seconds(hosts) == pytest.approx(true.seconds(hosts), rel=1e-3)


@given(fixed=SECONDS, work=SECONDS, message=st.floats(1e-5, 0.1))
def test_no_number_of_hosts_is_faster_than_the_best_one(fixed: float, work: float, message: float):
    model = ScaleModel(fixed, work, message)
    # the time is convex in the number of hosts, so the best whole number is next to the real one
    near = min(model.seconds(max(int(model.best_hosts) + k, 1)) for k in (0, 1))
    assert near <= min(model.seconds(h) for h in range(1, 200)) + 1e-12


@given(fixed=SECONDS, work=SECONDS, message=st.floats(0, 0.1), hosts=st.integers(1, 1000))
def test_overlapping_hides_the_shorter_part(fixed: float, work: float, message: float, hosts: int):
    model = ScaleModel(fixed, work, message)
    collecting = work / hosts + message * hosts
    assert model.seconds(hosts) == pytest.approx(fixed + collecting)
    assert model.seconds(hosts, overlap=True) == max(fixed, collecting)


@pytest.mark.slow
def test_cartpole_is_measured_and_central_inference_is_slower():
    settings = {"env.n_envs": 4, "algo.n_steps": 32}
    prepared = prepare("CartPole-v1", settings)
    prepared.collector.close()
    seen: list[tuple[int, int]] = []
    found = tune_scale(
        "CartPole-v1", prepared.resolved.config, 0.2, lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert [p.hosts for p in found.predictions] == [1, 2, 4]
    assert found.env_steps == 128
    assert found.env_seconds > 0 < found.update_seconds
    assert found.speed_central is not None
    assert found.speed_central < found.speed_here
    # 4 float32 observations, 8 bytes of reward, and more
    assert 4 * 4 + 8 < found.bytes_per_step < 500
    assert any("central inference collects" in sentence for sentence in found.advice)
    best = found.patch.get("collect", {})
    assert set(best) <= {"on", "hosts", "mode"}
