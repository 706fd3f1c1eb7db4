"""Training roles against each other: what each learns from, its opponents, and exact resume."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.collect.matches import MatchEnd
from gymnast.collect.matchmaking import LEARNER
from gymnast.config.resolve import resolve
from gymnast.config.section import RolloutLength
from gymnast.envs.matches.tag import TagMatches
from gymnast.errors import ConfigError, GymnastError
from gymnast.evaluation.jobs import InlineEvaluation
from gymnast.evaluation.scores import Scores
from gymnast.runs import checkpoint
from gymnast.selfplay.evaluation import MatchEvaluation, MatchEvaluator, Pairing
from gymnast.selfplay.league import League
from gymnast.selfplay.rows import match_row
from gymnast.training.collectors import open_collector
from gymnast.training.learner import build_policy
from gymnast.training.session import Session
from gymnast.training.update import update_roles
from tests.small_runs import (
    assert_same_run,
    checkpoint_arrays,
    copy_killed_at,
    exact_metrics,
    matches,
    resume_run,
    rows,
    same_arrays,
    train_small,
)

N, T = 4, 8
ROLLOUT = N * T
ROLES = ("seeker", "hider")
TAG = {
    "env.n_envs": N,
    "env.kwargs": {"time_limit": 6, "hiders": 2},
    "algo.n_steps": T,
    "algo.epochs": 2,
    "algo.batch_size": "50%",
    "policy.hidden": [8],
    "stop.env_steps": 8 * ROLLOUT,
    "eval.mode": "inline",
    "eval.every": "3 rollouts",
    "eval.episodes": 2,
    "eval.confirm_episodes": 2,
    "eval.n_envs": 2,
    "league.opponents": ["weak"],
    "league.snapshot": "2 rollouts",
    "league.window": 8,
}
"""A match is over in six steps, and hiders win nearly all of them."""
EVERYTHING = {
    "algo.lr": "3e-3 -> 0",
    "normalize.obs": "running",
    "normalize.reward": "running",
    "normalize.value": "popart",
    "checkpoint.every": "2 rollouts",
    "checkpoint.keep": 20,
    "traces.train": "100%",
    "league.live_share": "30%",
    "league.keep": 3,
    "league.learning": "alternating",
    "league.turn": 2,
    "league.balance.patience": 2,
    "league.balance.remedies": ["alone", "handicap", "reward", "warm_start"],
    "roles.seeker.set": {"algo.lr": "1e-3 -> 0", "policy.hidden": [4]},
    "shaping.mine": {"term": "py:tests.shaping.own_terms:brightness", "weight": 0.5},
}


def tag(**overrides: Any) -> dict[str, Any]:
    return TAG | {key.replace("__", "."): value for key, value in overrides.items()}


def kinds(run: Any, kind: str) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["kind"] == kind]


def of(role: str, held: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array for name, array in held.items() if name.startswith(f"{role}/")}


# ---- resuming ----------------------------------------------------------------------------------


def test_matches_that_are_replayed_resume_exactly_too():
    of_tag = ("env.kwargs", "league.opponents", "roles.seeker.set", "league.balance.remedies")
    settings = {k: v for k, v in (TAG | EVERYTHING).items() if k not in of_tag}
    given = {"roles.mouse.plays": "random", "roles.cat.set": {"policy.hidden": [4]}}
    whole = train_small("pettingzoo/py:tests.envs.zoo_games:Fading", settings | given)
    assert_same_run(resume_run(copy_killed_at(whole, 4 * ROLLOUT)), whole)
    assert rows(whole)[-1]["eval/cat:match/unknown_share"] == 1
    casts = [trace.cast for traces in matches(whole, "eval").values() for trace in traces]
    assert {cast["mouse"] for cast in casts} == {"random"}


@pytest.mark.parametrize(("engine", "killed_at"), [("native", (0, 2, 6)), ("torch", (4,))])
def test_stopping_and_resuming_equals_never_having_stopped(engine: str, killed_at):
    whole = train_small("tag", TAG | EVERYTHING | {"engine": engine})
    assert {event["remedy"] for event in kinds(whole, "rebalanced")} >= {"alone", "handicap"}
    met = set[str]()
    for rollouts in killed_at:
        killed = copy_killed_at(whole, rollouts * ROLLOUT)
        saved = checkpoint.latest(killed.path)
        casts = json.loads(saved.tensors("collector")["cast"].tobytes())
        met |= {name.partition(":")[0] for cast in casts for name in cast.values()}
        assert_same_run(resume_run(killed), whole)
        (event,) = kinds(killed, "resumed")
        assert event["bit_exact"]
    assert met == {LEARNER, "step"}  # matches against past selves were under way


def test_a_branch_has_the_snapshots_up_to_its_checkpoint_and_continues_exactly():
    whole = train_small("tag", TAG | EVERYTHING)
    league = whole.path / "league"
    before = {file: file.read_bytes() for file in league.iterdir()}
    branch = resume_run(whole, at=str(6 * ROLLOUT))
    assert same_arrays(checkpoint_arrays(branch), checkpoint_arrays(whole))
    assert [exact_metrics(row) for row in rows(branch)] == [
        exact_metrics(row) for row in rows(whole)
    ]
    assert {file: file.read_bytes() for file in league.iterdir()} == before
    copied = sorted(file.name for file in (branch.path / "league").iterdir())
    assert copied == sorted(file.name for file in before)


def test_a_resumed_ladder_continues_at_the_same_opponent():
    ladder = {"roles.seeker.plays": ["random", "scripted:weak", "scripted:medium"]}
    settings = {**ladder, "league.gate": "50%", "checkpoint.every": "1 rollouts"}
    whole = train_small("tag", TAG | settings | {"checkpoint.keep": 20, "traces.train": "100%"})
    rungs = [row["seeker:league/rung"] for row in rows(whole) if "seeker:league/rung" in row]
    assert rungs[0] == 1
    assert rungs[-1] == 3
    climbed = int(kinds(whole, "next opponent")[0]["env_steps"])
    for step in (climbed - ROLLOUT, climbed):
        assert_same_run(resume_run(copy_killed_at(whole, step)), whole)


def test_a_checkpoint_does_not_fit_other_roles():
    run = train_small("tag", tag(stop__env_steps=ROLLOUT, eval__every="off"))
    for key, value in (
        ("roles.hider.plays", "scripted:weak"),
        ("roles.seeker.set", {"policy.hidden": [9]}),
        ("roles.hider.set", {"normalize.obs": "running"}),
    ):
        with pytest.raises(ConfigError, match="cannot change roles"):
            resume_run(run, {key: value, "stop.env_steps": 2 * ROLLOUT})
    resume_run(run, {"roles.hider.set": {"algo.lr": 1e-5}, "stop.env_steps": 2 * ROLLOUT})
    assert rows(run)[1]["hider:hyper/lr"] == 1e-5
    assert rows(run)[1]["seeker:hyper/lr"] != 1e-5


# ---- who learns from what ----------------------------------------------------------------------


def test_settings_of_a_role_apply_to_that_role_only():
    plain = train_small("tag", tag(stop__env_steps=ROLLOUT, eval__every="off"))
    own = {"algo.lr": 0.1, "algo.epochs": 1}
    other = train_small(
        "tag", tag(stop__env_steps=ROLLOUT, eval__every="off", roles__seeker__set=own)
    )
    before, after = (of("hider", checkpoint_arrays(run)) for run in (plain, other))
    assert same_arrays(before, after)
    assert not same_arrays(
        of("seeker", checkpoint_arrays(plain)), of("seeker", checkpoint_arrays(other))
    )
    row = rows(other)[0]
    assert row["seeker:hyper/lr"] == 0.1
    assert row["hider:hyper/lr"] == rows(plain)[0]["hider:hyper/lr"] != 0.1


def test_a_network_set_for_a_role_applies_to_that_role_only():
    settings = tag(stop__env_steps=ROLLOUT, roles__seeker__set={"policy.hidden": [3, 5]})
    held = checkpoint_arrays(train_small("tag", settings))
    widths = {role: {len(a) for n, a in held.items() if n.startswith(role)} for role in ROLES}
    assert {3, 5} <= widths["seeker"]
    assert not {3, 5} & widths["hider"]
    assert 8 in widths["hider"]


def test_roles_learn_in_turn():
    turns = {"league__learning": "alternating", "league__turn": 2, "checkpoint__keep": 20}
    run = train_small(
        "tag", tag(**turns, stop__env_steps=6 * ROLLOUT, checkpoint__every="1 rollouts")
    )
    for rollout in range(6):
        before, after = (checkpoint_arrays(run, which=k * ROLLOUT) for k in (rollout, rollout + 1))
        whose, other = ROLES if rollout // 2 % 2 == 0 else ROLES[::-1]
        assert not same_arrays(of(whose, before), of(whose, after))
        assert same_arrays(of(other, before), of(other, after))
        row = rows(run)[rollout]
        assert f"{whose}:policy/loss" in row
        assert f"{other}:policy/loss" not in row
        assert f"{other}:rollout/reward_mean" in row


def session_of(settings: dict[str, Any], path: Path) -> Session:
    cfg = resolve("tag", TAG | settings).config
    collector = open_collector(cfg)
    session = Session.build(cfg, collector, Scores(InlineEvaluation(cfg), None), path)
    collector.start_episodes()
    return session


@pytest.mark.parametrize("broken", ROLES)
def test_an_update_that_breaks_is_rolled_back_for_its_role_only(broken: str, tmp_path: Path):
    session = session_of({"normalize.obs": "running"}, tmp_path)
    clock = session.clock
    rollouts = session.collector.collect(
        session.acting_policies(), RolloutLength(T), clock
    ).rollouts
    first = tuple(index[0] for index in rollouts[broken].valid.nonzero())
    reward = rollouts[broken].reward.copy()
    reward[first] = np.nan
    rollouts[broken] = replace(rollouts[broken], reward=reward)
    before = {role: learner.snapshot() for role, learner in session.learners.items()}
    values = session.settings.hyperparameters(clock, ROLES)
    done = update_roles(session, rollouts, values)
    assert [role for role, *_ in done.rolled_back] == [broken, broken]
    for role, learner in session.learners.items():
        now = learner.snapshot()
        same = same_arrays(now.policy, before[role].policy)
        assert same == (role == broken)
        assert same_arrays(now.arrays, before[role].arrays) == (role == broken)
        assert (f"{role}:policy/kl" in done.row) == (role != broken)
    session.collector.close()


def test_rolled_back_updates_of_each_role_are_stored_separately():
    strict = {"transaction.max_kl": 1e-12, "transaction.kl_factor": 1.0, "eval.every": "off"}
    run = train_small("tag", TAG | strict | {"stop.env_steps": ROLLOUT})
    bundles = {event["role"]: event["bundle"] for event in kinds(run, "update rolled back")}
    assert bundles.keys() == set(ROLES)
    for role, bundle in bundles.items():
        assert checkpoint.read(Path(bundle)).document("incident")["role"] == role


def test_running_returns_are_tracked_while_another_role_learns(tmp_path: Path):
    turns = {"league.learning": "alternating", "league.turn": 1, "normalize.reward": "running"}
    session = session_of(turns, tmp_path)
    clock, hider = session.clock, session.learners["hider"]
    rollouts = session.collector.collect(
        session.acting_policies(), RolloutLength(5), clock
    ).rollouts
    values = session.settings.hyperparameters(clock, ROLES)
    update_roles(session, rollouts, values)
    assert hider.reward_scale.moments.count == type(hider.reward_scale)("running", 1).moments.count
    column = rollouts["hider"]
    expected = np.zeros(column.reward.shape[1])
    for reward, done in zip(column.reward, column.done, strict=True):
        expected = np.where(done, 0.0, expected * values["hider"].gamma + reward)
    assert hider.reward_scale.running_return == pytest.approx(expected)
    assert expected.any()
    session.collector.close()


# ---- against whom ------------------------------------------------------------------------------


def test_scripted_opponents_of_evaluations_never_play_in_training():
    run = train_small("tag", tag(traces__train="100%", league__live_share="50%"))
    casts = [trace.cast for traces in matches(run, "train").values() for trace in traces]
    players = {name.partition(":")[0] for cast in casts for name in cast.values()}
    assert players == {LEARNER, "step"}
    assert all(LEARNER in cast.values() for cast in casts)
    evaluated = [trace.cast for traces in matches(run, "eval").values() for trace in traces]
    assert {frozenset(cast.values()) for cast in evaluated} == {
        frozenset([LEARNER, "scripted:weak"])
    }


def test_an_opponent_from_another_run_stays_unchanged_and_no_longer_needs_that_run():
    other = train_small("tag", tag(stop__env_steps=2 * ROLLOUT))
    plays = {"roles__hider__plays": other.id, "league__opponents": []}
    more = {"traces__train": "100%", "checkpoint__every": "2 rollouts", "checkpoint__keep": 20}
    run = train_small("tag", tag(**plays, **more, stop__env_steps=4 * ROLLOUT))
    best = other.info["checkpoints"]["best"]
    stored = checkpoint.find(other.path, best).tensors("policy")
    assert checkpoint_arrays(run).keys() == of("seeker", checkpoint_arrays(run)).keys()
    session = session_of({"roles.hider.plays": other.id}, run.path)
    assert session.league is not None
    frozen = session.league.snapshots.read("hider-0", "hider")
    assert same_arrays({f"hider/{n}": a for n, a in frozen.arrays().items()}, of("hider", stored))
    session.collector.close()
    casts = [trace.cast for traces in matches(run, "train").values() for trace in traces]
    casts += [trace.cast for traces in matches(run, "eval").values() for trace in traces]
    assert all(cast == {"seeker": LEARNER, "hider": other.id} for cast in casts)
    killed = copy_killed_at(run, 2 * ROLLOUT)
    shutil.rmtree(other.path)
    assert_same_run(resume_run(killed), run)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"roles.seker.plays": "random"}, "roles.seker: tag has no such role"),
        ({"roles.hider.plays": "scripted:mediun"}, "did you mean medium"),
        ({"roles.hider.plays": "nobody"}, "nobody"),
        ({"league.opponents": ["weak", "mighty"]}, "no scripted hider 'mighty'"),
        ({"roles.hider.plays": "random", "roles.seeker.plays": "random"}, "no role learns"),
        ({"roles.hider.set": {"algo.lrr": 1}}, "roles.hider.set: algo.lrr: unknown key"),
        ({"roles.hider.set": {"algo.lr": "much"}}, "roles.hider.set: algo.lr: much is not"),
    ],
)
def test_unavailable_players_are_refused_before_a_run_is_created(settings, words, runs_dir):
    with pytest.raises(GymnastError, match=words):
        train_small("tag", TAG | settings)
    assert not list(runs_dir.glob("*/run.json"))


def test_a_run_that_has_not_learned_the_role_cannot_play_it():
    other = train_small("tag", tag(roles__hider__plays="random", stop__env_steps=ROLLOUT))
    with pytest.raises(ConfigError, match=r"has no policy for hider \(it has: seeker\)"):
        train_small("tag", tag(roles__hider__plays=other.id))


@pytest.mark.parametrize("algo", ["dqn", "reinforce"])
def test_algorithms_that_cannot_learn_roles_say_so(algo: str):
    with pytest.raises(ConfigError, match="several agents") as refused:
        open_collector(resolve("tag", algo=algo).config)
    assert "ppo" in refused.value.fix


# ---- the league --------------------------------------------------------------------------------


def end(winner: str | None, **cast: str) -> MatchEnd:
    outcome = {"seeker": "tag", "hider": "timeout"}.get(winner or "", "")
    return MatchEnd({role: cast.get(role, LEARNER) for role in ROLES}, outcome, winner, 6, {})


def league_of(path: Path, **settings: Any) -> tuple[League, Clock, dict[str, Any]]:
    cfg = resolve("tag", tag(**settings)).config
    game = TagMatches(2)
    learners = [role for role in ROLES if role not in cfg.roles or cfg.roles[role].is_learner]
    policies = {
        role: build_policy(game.roles[role].obs, game.roles[role].action, cfg) for role in learners
    }
    return League(cfg, game, learners, path), Clock(limits={"env_steps": 1000}), policies


def test_the_next_opponent_comes_once_the_win_rate_is_significantly_high(tmp_path: Path):
    ladder = {"roles__hider__plays": ["random", "scripted:weak"], "league__window": 100}
    league, clock, policies = league_of(tmp_path, **ladder, league__snapshot="off")
    first, second = {"hider": "random"}, {"hider": "scripted:weak"}
    assert league.cast(0, 0) == {"seeker": LEARNER, **first}
    league.record_matches([end("seeker", **first)] * 40 + [end("hider", **first)] * 9)
    assert league.advance(clock, policies) == []  # 49 matches are too few
    league.record_matches([end("hider", **first)] * 3)
    assert league.advance(clock, policies) == []  # 40 of 52 may be by chance
    league.record_matches([end("seeker", **first)] * 40)
    ((kind, detail),) = league.advance(clock, policies)
    assert (kind, detail["plays"]) == ("next opponent", "scripted:weak")
    assert league.cast(0, 1) == {"seeker": LEARNER, **second}
    league.record_matches(
        [end("seeker", **first)] * 99
    )  # matches that were under way count no more
    assert league.climbed["hider"].n_known == 0
    league.record_matches([end("seeker", **second)] * 99)
    assert league.advance(clock, policies) == []  # nobody comes after the last
    assert league.row()["hider:league/rung"] == 2


def test_only_policies_with_a_significantly_high_win_rate_enter_the_pool(tmp_path: Path):
    league, clock, policies = league_of(
        tmp_path, league__entry="60%", league__window=60, league__snapshot="100 env_steps"
    )

    def entered(at: int) -> list[str]:
        clock.env_steps = at
        ((kind, detail),) = league.advance(clock, policies)
        assert kind == "snapshot"
        return detail["roles"]

    assert entered(100) == ["seeker", "hider"]  # somebody must be first
    assert entered(200) == []  # nothing is known of them
    league.record_matches([end("hider")] * 49)
    assert entered(300) == []  # too few
    league.record_matches([end("hider")])
    assert entered(400) == ["hider"]
    league.record_matches([end("seeker")] * 20)
    assert entered(500) == []  # 40 of 60 may be by chance
    assert league.pools["seeker"].steps == [100]
    assert league.pools["hider"].steps == [100, 400]
    assert league.snapshots.steps() == [100, 200, 300, 400, 500]


def test_a_match_without_known_outcome_counts_for_no_role(tmp_path: Path):
    league, clock, policies = league_of(tmp_path, league__window=60)
    league.advance(clock, policies)
    league.record_matches([end(None)] * 60)
    league.record_matches([end(None, hider="step:0"), end(None, seeker="step:0")])
    for role in ROLES:
        assert league.wins[role].n_known == league.past[role].n_known == 0
        assert league.wins[role].unknown == 60
        assert league.pools[role].win_records[0].n_known == 0
    row = league.row()
    assert row["match/unknown_share"] == 1
    assert not [key for key in row if "win" in key]
    league.record_matches([end("seeker")] * 3 + [end("hider")])
    assert league.row()["seeker:league/win_rate"] == 3 / 4
    assert league.row()["hider:league/win_rate"] == 1 / 4
    assert match_row([end(None), end("")], {"tag": "seeker"}, {})["match/unknown_share"] == 0.5


def test_a_match_against_a_snapshot_counts_for_the_learning_policy(tmp_path: Path):
    league, clock, policies = league_of(tmp_path)
    league.advance(clock, policies)
    league.record_matches([end("seeker", hider="step:0")] * 3 + [end("hider", hider="step:0")])
    assert league.past["seeker"].win_rate().mean == 3 / 4
    assert league.past["hider"].n_known == league.wins["seeker"].n_known == 0
    assert league.pools["hider"].win_records[0].score == 3  # seen from the seeker that met it
    assert league.row()["match/count"] == 0


def test_shares_of_matches_against_live_policies_and_snapshots_follow_the_config(tmp_path: Path):
    league, clock, policies = league_of(tmp_path, league__live_share="75%")
    assert {*map(str, league.cast(0, 0).values())} == {LEARNER}  # there is no past yet
    league.advance(clock, policies)
    casts = [league.cast(match, number) for match in range(40) for number in range(50)]
    live = sum(set(cast.values()) == {LEARNER} for cast in casts)
    past = {role: sum(cast[role] == "step:0" for cast in casts) for role in ROLES}
    assert live / 2000 == pytest.approx(0.75, abs=0.03)
    assert past["seeker"] + past["hider"] == 2000 - live
    assert past["seeker"] / 2000 == pytest.approx(0.125, abs=0.03)
    assert casts == [league.cast(match, number) for match in range(40) for number in range(50)]


def test_a_dominated_role_gets_every_remedy_in_turn_and_no_longer_than_needed(tmp_path: Path):
    remedies = ["alone", "handicap", "reward", "warm_start"]
    league, clock, policies = league_of(
        tmp_path, league__balance={"patience": 1, "remedies": remedies}, league__window=10
    )
    game = league.matches
    league.advance(clock, policies)
    league.record_matches([end("seeker", hider="step:0")] * 2 + [end("hider", hider="step:0")] * 8)
    before = policies["hider"].arrays()
    policies["hider"].parameters.flat += 1.0
    league.record_matches([end("seeker")] * 10)
    events = [event for _ in remedies for event in league.advance(clock, policies)]
    assert [detail["remedy"] for kind, detail in events if kind == "rebalanced"] == remedies
    assert league.learns("hider", clock)
    assert not league.learns("seeker", clock)
    assert league.reward_factor("hider") == 3.0
    assert league.reward_factor("seeker") == 1.0
    assert game.state()["handicap"].tolist() == [0.85, 1.0]
    assert events[-1][1]["from_step"] == 0
    assert same_arrays(policies["hider"].arrays(), before)
    league.record_matches([end("seeker")] * 5 + [end("hider")] * 5)
    events = [event for _ in remedies for event in league.advance(clock, policies)]
    assert [detail["remedy"] for _, detail in events] == remedies[::-1]
    assert {detail["what"] for _, detail in events} == {"withdrawn"}
    assert game.state()["handicap"].tolist() == [1.0, 1.0]
    assert all(league.learns(role, clock) for role in ROLES)
    assert league.reward_factor("hider") == 1.0


# ---- evaluation --------------------------------------------------------------------------------


def test_evaluating_changes_neither_policies_nor_their_normalizers(tmp_path: Path):
    session = session_of({"normalize.obs": "running", "normalize.value": "popart"}, tmp_path)
    clock = session.clock
    rollouts = session.collector.collect(
        session.acting_policies(), RolloutLength(T), clock
    ).rollouts
    values = session.settings.hyperparameters(clock, ROLES)
    update_roles(session, rollouts, values)
    policies = {role: learner.policy for role, learner in session.learners.items()}
    before = {role: policy.arrays() for role, policy in policies.items()}
    evaluator = MatchEvaluator(session.cfg)
    plan = evaluator.plan("eval")
    first, again = (evaluator.evaluate(policies, 7, plan)[0] for _ in range(2))
    assert first == again
    assert first.version == 7
    for role, policy in policies.items():
        assert same_arrays(policy.arrays(), before[role])
    evaluator.close()
    session.collector.close()


def test_evaluation_is_the_same_in_a_process_of_its_own():
    settings = tag(stop__env_steps=4 * ROLLOUT, league__opponents=["weak", "medium"])
    inline, apart = (train_small("tag", settings | {"eval.mode": m}) for m in ("inline", "process"))
    assert [exact_metrics(row) for row in rows(inline)] == [
        exact_metrics(row) for row in rows(apart)
    ]
    assert inline.info["score"] == apart.info["score"]
    evaluated = [row for row in rows(inline) if "eval:episode/return" in row]
    assert len(evaluated) > 1
    for role in ROLES:
        assert {f"eval/{role}/weak:match/win_rate", f"eval/{role}:league/rating"} <= evaluated[
            0
        ].keys()


def met(role: str, opponent: str, winners: Sequence[str | None], returns: float) -> Pairing:
    ends = tuple(end(winner) for winner in winners)
    return Pairing(role, opponent, ends, (returns,) * len(ends))


def test_the_score_is_that_of_the_worst_role():
    pairs = (
        met("seeker", "weak", ["seeker", "seeker", None, "hider"], -5.0),
        met("hider", "weak", ["seeker", "seeker", "hider", None], 5.0),
    )
    result = MatchEvaluation(9, pairs, {"tag": "seeker", "timeout": "hider"}, {})
    assert result.score()["role"] == "hider"
    assert result.score()["mean"] == pytest.approx(1 / 3)
    assert result.score()["episodes"] == 3  # the unknown one counts for nobody
    assert result.row()["eval/seeker:match/win_rate"] == pytest.approx(2 / 3)
    assert result.row()["eval/seeker:match/unknown_share"] == 1 / 4


def test_win_rates_are_never_compared_with_returns():
    pairs = (met("seeker", "weak", ["seeker", "hider"], 0.7), met("hider", "weak", [None] * 2, 0.6))
    result = MatchEvaluation(9, pairs, {"tag": "seeker", "timeout": "hider"}, {})
    assert result.score()["role"] == "hider"  # by returns, as nobody knows who has won its matches
    assert result.score_of("seeker")["mean"] == pytest.approx(0.7)


def test_a_single_match_without_a_known_winner_has_finite_bounds():
    pairs = (met("seeker", "weak", [None], 0.7), met("hider", "weak", [None], 0.6))
    row = MatchEvaluation(9, pairs, {"tag": "seeker", "timeout": "hider"}, {}).row()
    assert (row["eval:episode/low"], row["eval:episode/high"]) == (0.6, 0.6)


def test_without_held_out_opponents_policies_are_evaluated_against_their_training_opponents():
    run = train_small("tag", tag(league__opponents=[], stop__env_steps=3 * ROLLOUT))
    casts = [trace.cast for traces in matches(run, "eval").values() for trace in traces]
    assert {frozenset(cast.values()) for cast in casts} == {frozenset([LEARNER])}
    scopes = {key.rpartition(":")[0] for row in rows(run) for key in row if key[:4] == "eval"}
    assert scopes == {"eval", "eval/seeker", "eval/hider"}
    plays = {"roles__hider__plays": ["random", "scripted:weak"]}
    run = train_small("tag", tag(**plays, league__opponents=[], stop__env_steps=3 * ROLLOUT))
    casts = [trace.cast for traces in matches(run, "eval").values() for trace in traces]
    assert {cast["hider"] for cast in casts} == {"scripted:weak"}
