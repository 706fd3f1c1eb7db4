"""Traps 32, 34, 40 and 49 in what the studio serves. tests/browser checks the same on its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gymnast import api
from gymnast.jobs import status
from tests.small_runs import rows, train_small
from tests.studio.server import Server, serving

SETTINGS = {
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "stop.env_steps": 512,
    "eval.every": "128 env_steps",
}


@pytest.fixture
def server(runs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with serving(runs_dir) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def test_32_a_best_score_of_zero_is_a_score_and_fewer_steps_to_the_threshold_are_better(
    client: httpx.Client,
) -> None:
    settings = SETTINGS | {"env.kwargs.length": 4, "facts.threshold": 0.0}
    sides: list[str] = []
    for every in (128, 256):
        changed = settings | {"eval.every": f"{every} env_steps"}
        runs = [train_small("Worthless", changed, seed=seed) for seed in (0, 1)]
        sides.append("+".join(run.id for run in runs))
    for listed in client.get("/api/runs").json()["runs"]:
        assert listed["best_score"] == listed["score"]["mean"] == listed["threshold"] == 0.0
        assert {y for _, y in listed["curve"]} == {0.0}
    comparison = client.get("/api/compare", params={"refs": sides}).json()
    assert [run["best"] for run in comparison["runs"]] == [0.0] * 4
    (improvement,) = comparison["improvements"]
    measures = {measure["measure"]: measure for measure in improvement["measures"]}
    steps = measures["steps_to_threshold"]
    assert not steps["higher_is_better"]
    assert steps["better"] == sides[0], (
        "it evaluated, and so reached the threshold, after fewer steps"
    )


def test_34_every_run_has_its_own_x_axis_and_a_metric_it_did_not_record_is_missing_not_zero(
    client: httpx.Client,
) -> None:
    small = train_small("CartPole-v1", SETTINGS | {"env.n_envs": 2}, name="small")
    wide = train_small("CartPole-v1", SETTINGS | {"env.n_envs": 8, "algo.n_steps": 16}, name="wide")
    other = train_small("CartPole-v1", {"stop.env_steps": 512}, algo="dqn", name="other")
    names = ["loss/value", "policy/entropy", "rollout/reward_mean"]
    refs = [small.id, wide.id, other.id]
    curves = client.get("/api/curves", params={"refs": refs, "names": names}).json()["series"]
    found = {(one["run"], one["key"]): (one["x"], one["mean"]) for one in curves}
    for run in (small, wide, other):
        recorded = rows(run)
        for name in names:
            wanted = [(row["clock/vec_steps"], row[name]) for row in recorded if name in row]
            assert list(zip(*found.get((run.id, name), ([], [])), strict=True)) == wanted, (
                run.id,
                name,
            )
    assert (other.id, "policy/entropy") not in found, (
        "DQN has no entropy: a gap, not a line at zero"
    )
    assert found[small.id, "loss/value"][0] != found[wide.id, "loss/value"][0]


@pytest.mark.slow
def test_40_a_start_answers_the_run_id_and_the_reason_of_its_end_is_a_field(
    client: httpx.Client, runs_dir: Path
) -> None:
    overrides = [
        "stop.env_steps=512",
        "eval.mode=inline",
        "eval.episodes=2",
        "eval.confirm_episodes=2",
    ]
    body = {"target": "CartPole-v1", "name": "asked", "overrides": overrides}
    (started,) = client.post("/api/start", json=body).json()["runs"]
    (ended,) = status.wait([started["id"]], runs_dir)
    assert ended.status == "finished"
    record = client.get("/api/show", params={"ref": started["id"]}).json()
    assert (record["id"], record["name"]) == (started["id"], "asked")
    assert record["reason"] == api.show("asked", runs_dir=runs_dir).reason != ""


@pytest.mark.parametrize("origin", ["http://attacker.test", "http://127.0.0.1:1", "null"])
def test_49_a_page_of_another_origin_reads_and_changes_nothing_even_with_the_cookie(
    origin: str, server: Server, runs_dir: Path
) -> None:
    run = train_small("CartPole-v1", SETTINGS)
    with server.client(origin=origin) as foreign:
        assert foreign.get("/api/runs").status_code == 403
        answer = foreign.post("/api/note", json={"ref": run.id, "text": "changed"})
    assert answer.status_code == 403
    assert api.show(run.id, runs_dir=runs_dir).note == ""
    with server.client(signed_in=False) as stranger:
        assert stranger.get("/api/runs").status_code == 401
