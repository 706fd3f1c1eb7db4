"""The development of the roles of a self-play run, compared with its rows, events and stored matches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import UsageError
from gymnast.insight.self_play import POINTS, RoleCurve, describe_self_play
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run
from gymnast.selfplay.task import cross_play
from tests.cli_output import cli_output
from tests.small_runs import matches, rows, train_small

N_ENVS = 4
SETTINGS = {
    "env.n_envs": N_ENVS,
    "env.kwargs": {"time_limit": 12},
    "algo.n_steps": 16,
    "stop.env_steps": 6 * 16 * N_ENVS,
    "eval.every": "2 rollouts",
    "league.snapshot": "2 rollouts",
    "league.opponents": ["weak", "strong"],
    "traces.train": 1.0,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYMNAST_RUNS", str(tmp_path_factory.mktemp("runs")))
        return train_small("tag", SETTINGS)


def evaluations(run: Run) -> list[dict[str, float]]:
    scored = [row for row in rows(run) if "eval:clock/env_steps" in row]
    return sorted(scored, key=lambda row: row["eval:clock/env_steps"])


def find(curves: list[RoleCurve], role: str, label: str) -> RoleCurve:
    (found,) = [curve for curve in curves if (curve.role, curve.label) == (role, label)]
    return found


def test_ratings_are_those_of_the_rows_at_the_versions_that_were_evaluated(run: Run):
    record, scored = describe_self_play(run), evaluations(run)
    assert record.roles == ["seeker", "hider"]
    assert [curve.role for curve in record.ratings] == record.roles
    for curve in record.ratings:
        # every vector step is one step of each copy
        assert curve.x == [row["eval:clock/env_steps"] / N_ENVS for row in scored]
        for values, end in ((curve.rating, ""), (curve.low, "_low"), (curve.high, "_high")):
            assert values == [row[f"eval/{curve.role}:league/rating{end}"] for row in scored]
        # the last one is based on all evaluations, like the table of players
        (last,) = [
            one
            for one in record.players.entrants
            if (one.role, one.name) == (curve.role, str(int(scored[-1]["eval:clock/env_steps"])))
        ]
        assert (last.rating, last.low) == pytest.approx((curve.rating[-1], curve.low[-1]))


@pytest.mark.parametrize("x", ["env_steps", "rollouts", "seconds"])
def test_every_clock_can_be_the_x_axis(run: Run, x: str):
    record = describe_self_play(run, x)
    measured = [row for row in rows(run) if "seeker:league/win_rate" in row]
    curve = find(record.win_rates, "seeker", "learning opponent")
    assert curve.x == [row[f"clock/{x}"] for row in measured]
    assert curve.y == [row["seeker:league/win_rate"] for row in measured]
    assert curve.low == [row["seeker:league/win_low"] for row in measured]
    with pytest.raises(UsageError, match="fortnights"):
        describe_self_play(run, "fortnights")


@pytest.mark.parametrize("role", ["seeker", "hider"])
def test_win_rates_against_scripted_opponents_have_their_intervals(run: Run, role: str):
    record, scored = describe_self_play(run), evaluations(run)
    for label, scope in (("scripted:weak", f"{role}/weak"), ("all scripted opponents", role)):
        curve = find(record.win_rates, role, label)
        for values, name in ((curve.y, "rate"), (curve.low, "low"), (curve.high, "high")):
            assert values == [row[f"eval/{scope}:match/win_{name}"] for row in scored]
        for low, y, high in zip(curve.low, curve.y, curve.high, strict=True):
            assert low <= y <= high


def test_outcomes_add_up_to_one_with_the_unknown_ones_as_their_own_category(run: Run):
    outcomes = describe_self_play(run).outcomes
    for role in ("", "seeker", "hider"):
        curves = [curve for curve in outcomes if curve.role == role]
        assert {curve.label for curve in curves} == {"tag", "timeout", "unknown"}
        for shares in zip(*(curve.y for curve in curves), strict=True):
            assert sum(shares) == pytest.approx(1)


def test_unknown_outcomes_are_neither_won_nor_lost(tmp_path: Path):
    run = Run.create(
        tmp_path, config_text="seed: 0\n", preset="tag:selfplay", seed=0, provenance={}, env="tag"
    )
    many = 5 * POINTS
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i in range(1, many + 1):
            clocks = {f"clock/{name}": float(i) for name in ("env_steps", "vec_steps", "rollouts")}
            shares = {
                "match/tag_share": 0.5,
                "match/timeout_share": 0.25,
                "match/unknown_share": 0.25,
            }
            spike = {"seeker:league/win_rate": 1.0 if i == 1234 else 2 / 3}
            store.append(clocks | shares | spike)
    record = describe_self_play(run)
    assert {(curve.label, curve.y[0]) for curve in record.outcomes} == {
        *(("tag", 0.5), ("timeout", 0.25), ("unknown", 0.25)),
    }
    (rate,) = record.win_rates
    assert len(rate.x) <= POINTS
    assert (1234.0, 1.0) in zip(rate.x, rate.y, strict=True)
    assert (rate.low, rate.high) == ([], [])
    assert (record.ratings, record.durations, record.matrix) == ([], [], None)
    assert record.players.entrants == ()


def test_durations_are_those_of_the_stored_matches(run: Run):
    stored = {kind: matches(run, kind) for kind in ("train", "eval", "confirm")}
    lengths: dict[str, list[int]] = {"": [], "seeker": [], "hider": []}
    for kind, by_version in stored.items():
        for match in (match for of_version in by_version.values() for match in of_version):
            learning = [role for role, player in match.cast.items() if player == "learner"]
            lengths["" if kind == "train" else learning[0]].append(len(match))
    found = describe_self_play(run).durations
    assert {histogram.role for histogram in found} == {role for role in lengths if lengths[role]}
    for histogram in found:
        bins = list(zip(histogram.edges, histogram.edges[1:], strict=False))
        expected = [sum(low < n <= high for n in lengths[histogram.role]) for low, high in bins]
        assert histogram.counts == expected
        assert sum(expected) == len(lengths[histogram.role])


def test_the_cross_play_matrix_is_the_one_that_was_played(run: Run):
    assert describe_self_play(run).matrix is None
    played = cross_play(
        str(run.path),
        episodes=3,
        max_snapshots=2,
        runs_dir=str(run.path.parent),
        progress=lambda *_: None,
    )
    assert describe_self_play(run).matrix == played
    printed = json.loads(cli_output("league", run.id, "--json", "--runs", str(run.path.parent)))
    assert printed["matrix"]["rows"] == list(played.rows)
    assert [one["role"] for one in printed["ratings"]] == ["seeker", "hider"]


def test_a_run_with_a_single_agent_is_refused_with_a_way_to_get_roles(tmp_path: Path):
    run = Run.create(
        tmp_path, config_text="seed: 0\n", preset="CartPole-v1:ppo", seed=0, provenance={}
    )
    with pytest.raises(UsageError, match="has no roles") as refused:
        api.self_play(run.id, runs_dir=tmp_path)
    assert "gymnast train tag" in refused.value.fix
