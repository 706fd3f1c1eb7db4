"""Audits of small real runs, and of made-up metrics."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast.audit.audit import audit
from gymnast.audit.shaping import ShapingTotal, shaping_totals
from gymnast.audit.totals import term_totals
from gymnast.cli import cli
from gymnast.collect.matchmaking import scripted_player
from gymnast.config.sections.shaping import TermConfig
from gymnast.envs.matches.tag.arena import TagMatches
from gymnast.envs.matches.tag.rules import ROLES, SEEKER
from gymnast.selfplay.play import play_matches
from gymnast.training.python_api import train
from tests.small_runs import SMALL, rows, train_small

TAG = {
    "env.n_envs": 4,
    "env.kwargs": {"time_limit": 20},
    "algo.n_steps": 16,
    "stop.env_steps": 64,
    "eval.every": "off",
    "eval.episodes": 2,
    "eval.confirm_episodes": 2,
    "league.opponents": ["weak"],
}
"""Settings with matches that are too short to be won."""


def audited(run: Any, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["audit", run.id, *words], standalone_mode=False)
    assert done.exception is None, done.output
    return done.return_value, done.output


# ---- totals of matches -----------------------------------------------------------------------


def test_totals_are_sums_of_term_rewards_split_by_winner():
    matches = TagMatches(8, seekers=2)
    players = {role: scripted_player(matches.scripted[role]["medium"]) for role in ROLES}
    played = play_matches(matches, players, dict.fromkeys(ROLES, "medium"), range(8))
    for role in ROLES:
        found = {total.term: total for total in term_totals(played, role)}
        returns = np.array([np.mean(match.returns[role]) for match in played])
        assert sum(t.mean for t in found.values()) == pytest.approx(returns.mean())
        assert sum(t.share for t in found.values()) == pytest.approx(1)
        seats = matches.roles[role].seats
        for term, total in found.items():
            each = [match.term_totals[role][term] / seats for match in played]
            won = [x for x, m in zip(each, played, strict=True) if m.end.winner == role]
            lost = [x for x, m in zip(each, played, strict=True) if m.end.winner != role]
            assert won
            assert lost
            expected = np.mean(each), np.std(each), np.mean(won), np.mean(lost)
            assert (total.mean, total.std, total.won, total.lost) == pytest.approx(expected)


def test_a_multi_role_run_is_audited_with_matches():
    run = train("tag:selfplay", overrides=SMALL | TAG, quiet=True)
    found = audit(run.id, episodes=6)
    alone = [{"seeker": "learner", "hider": "learner"}]
    scripted = [{role: "learner", other: "scripted:medium"} for role, other in (ROLES, ROLES[::-1])]
    assert [cast.cast for cast in found.casts] == alone + scripted
    first = found.casts[0]
    assert first.matches == 6
    assert list(first.roles) == list(ROLES)
    for terms in first.roles.values():
        assert [t.term for t in terms] == ["goal", "time", "closing"]
    assert list(found.casts[1].roles) == [SEEKER]
    assert found.farming is not None
    judged = {(line.role, line.term): line.verdict for line in found.farming.terms}
    assert judged["seeker", "time"] == "unknown", "no seeker wins within 20 steps"
    assert not found.flagged
    code, output = audited(run, "--episodes", "6")
    assert code == 0
    assert "seeker learner against hider scripted:medium: 6 matches" in output
    assert "not judged: seeker: time" in output


# ---- shaping terms, from recorded metrics ----------------------------------------------------


@pytest.mark.usefixtures("tasks_here")
def test_a_cost_per_step_sums_to_the_episode_length():
    settings = {"shaping.late": {"kwargs": {"after": 0}, "weight": 2}, "stop.env_steps": 2048}
    run = train_small("CartPole-v1", settings)
    code, output = audited(run, "--json")
    (line,) = json.loads(output)["shaping"]
    recorded = [row for row in rows(run) if "episode/length" in row]
    assert line["first"] == pytest.approx(-2 * recorded[0]["episode/length"])
    assert line["most"] == pytest.approx(-2 * max(row["episode/length"] for row in recorded))
    assert line["raw"] == [
        min(row["episode/return_min"] for row in recorded),
        max(row["episode/return_max"] for row in recorded),
    ]
    assert code == (1 if line["share"] > 1 else 0)


@pytest.mark.usefixtures("tasks_here")
def test_a_term_larger_than_the_range_of_raw_returns_is_flagged():
    settings = {"shaping.late": {"kwargs": {"after": 0}, "weight": 100}, "stop.env_steps": 1024}
    code, output = audited(train_small("CartPole-v1", settings))
    assert code == 1
    assert "OUTWEIGHS" in output
    assert "lower its weight" in output


@pytest.mark.usefixtures("tasks_here")
def test_the_audit_of_a_run_without_shaping_says_so():
    code, output = audited(train_small("CartPole-v1", {"stop.env_steps": 512}))
    assert code == 0
    assert "no shaping terms" in output


def record(
    per_step: list[float], raw: tuple[float, float] = (0.0, 100.0)
) -> list[dict[str, float]]:
    low, high = raw
    fixed = {"episode/length": 10.0, "episode/return_min": low, "episode/return_max": high}
    return [{}, *({"shaping/mine": x, **fixed} for x in per_step)]


def only(rows: list[dict[str, float]], term: str = "late") -> ShapingTotal:
    (one,) = shaping_totals(rows, {"mine": TermConfig(term=term)})
    return one


def test_the_end_of_training_decides_and_not_the_start():
    fading = only(record([50.0, 8.0, 2.0, 1.0]))
    assert (fading.first, fading.last, fading.most) == (500.0, 10.0, 500.0)
    assert fading.verdict == "sound"
    assert only(record([1.0, 1.0, 1.0, -11.0])).verdict == "outweighs"


def test_a_term_that_is_large_for_most_of_the_run_is_flagged_although_it_fades():
    fading = only(record([50.0, 40.0, 30.0, 20.0, 15.0, 12.0, 1.0, 1.0]))
    assert (fading.last, fading.usual) == (10.0, 175.0)
    assert fading.verdict == "outweighs"


def test_equal_raw_returns_are_compared_by_their_size():
    """A MountainCar agent that never reaches the flag gets -200 in every episode."""
    large = only(record([172.0, 66.0], raw=(-200.0, -200.0)))
    assert large.verdict == "outweighs"
    assert large.share == pytest.approx(5.95)
    assert only(record([1.0], raw=(-200.0, -200.0))).verdict == "sound"


@pytest.mark.usefixtures("tasks_here")
def test_a_large_count_bonus_is_flagged_if_all_raw_returns_are_equal():
    settings = {"shaping.count.weight": 50, "stop.env_steps": 4096, "eval.every": "off"}
    code, output = audited(train_small("MountainCar-v0", settings))
    assert code == 1
    assert "OUTWEIGHS" in output
    assert "count outweighs the raw returns" in output


def test_a_potential_is_never_flagged_and_raw_returns_of_0_allow_no_verdict():
    assert only(record([50.0]), term="energy").verdict == "potential"
    assert only(record([50.0], raw=(0.0, 0.0))).verdict == "unknown"
    assert only(record([0.0], raw=(0.0, 0.0))).verdict == "sound"


def test_terms_of_different_roles_are_kept_apart():
    fixed = {"episode/length": 10.0, "episode/return_min": 0.0, "episode/return_max": 1.0}
    row = {f"seeker:{key}": value for key, value in fixed.items()} | {"seeker:shaping/late": 1.0}
    assert [t.first for t in shaping_totals([row], {"late": TermConfig()}, "seeker")] == [10.0]
    assert not shaping_totals([row], {"late": TermConfig()}, "hider")
