"""Rules that watch a metric: when they act, by how much, when they revert a change, and exact resume."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gymnast import api
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.errors import ConfigError
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.training.live.rules import PlateauRule, build_rules
from gymnast.training.live.settings import Settings
from tests.scripted import Alarm
from tests.small_runs import (
    assert_same_run,
    checkpoint_arrays,
    copy_killed_at,
    evaluations,
    resume_run,
    rows,
    same_arrays,
    train_small,
    train_with_commands,
)

RETURN = "episode/return"
HALVE = {
    "watch": RETURN,
    "wait": 3,
    "change": {"algo.lr": "x0.5"},
    "within": {"algo.lr": "1e-4..1e-2"},
}


@cache
def config(overrides: str) -> Config:
    return resolve("CartPole-v1", ast.literal_eval(overrides)).config


class Driven:
    """A rule and the settings that it changes; rows are fed by the test."""

    def __init__(self, lr: float | str = 1e-3, **more: Any) -> None:
        self.settings = Settings(config(repr({"rules.it": HALVE | more, "algo.lr": lr})))
        self.rule: PlateauRule = build_rules(self.settings.current)["it"]

    def see(self, *found: float, key: str = "") -> list[tuple[int, str]]:
        """Returns (index of the value, what the rule did) for each of its actions."""
        done: list[tuple[int, str]] = []
        for number, value in enumerate(found):
            row = {key or self.rule.cfg.watch: value, "clock/rollouts": 1.0}
            deed = self.rule.update(row, self.settings)
            if deed is not None:
                self.settings.change(deed["changes"])
                done.append((number, deed["did"]))
        return done

    @property
    def lr(self) -> Any:
        return self.settings.live.get("algo.lr", 1e-3)


def test_a_rule_acts_after_wait_rows_without_improvement():
    it = Driven()
    assert it.see(5, 4, 3, 6, 6, 5) == []
    assert it.see(6) == [(0, "changed")]
    assert it.lr == 5e-4
    assert it.see(6, 6) == []
    assert it.see(1, 1, 1, 7, 1, 1, 1) == [(0, "changed"), (6, "changed")]


def test_rows_without_the_metric_do_not_count_and_nan_never_improves():
    it = Driven()
    assert it.see(math.nan, math.nan, math.nan, math.nan) == [], "nothing to be better than"
    it.see(5)
    assert it.see(1, 1, 1, 1, key="eval:episode/return") == []
    assert it.see(math.nan, math.nan, math.nan) == [(2, "changed")]


def test_an_improvement_follows_the_declared_direction_and_exceeds_the_gain():
    assert Driven(watch="value/loss").see(5, 4, 3, 2, 1) == []
    assert Driven(watch="value/loss").see(5, 6, 7, 8) == [(3, "changed")]
    assert Driven(gain=2).see(5, 6, 7, 6.5) == [(3, "changed")]
    assert Driven(gain=2).see(5, 6, 7.5, 7, 8) == []


def test_a_change_is_clipped_to_the_bounds_and_one_without_effect_is_reported_once():
    it = Driven(wait=1, change={"algo.lr": "x0.2"})
    assert it.see(5, 5) == [(1, "changed")]
    assert it.see(5) == [(0, "changed")]
    assert it.lr == 1e-4
    assert it.see(5, 5, 5) == [(0, "nothing")]
    it.settings.change([{"key": "algo.lr", "to": 5e-5}])  # by a person: outside
    assert it.see(5, 5) == []
    assert it.lr == 5e-5, "not moved the other way"


@pytest.mark.parametrize(
    ("change", "within", "before", "after"),
    [
        ("x0.5", "0..1", "3e-3 -> 0 cosine", "0.0015 -> 0 cosine"),
        ("x0.5", "3e-3..1", "4e-3 -> 2e-3 floor 1e-3", "0.003 -> 0.0015 floor 0.00075"),
        ("by -1e-3", "0..1", "2e-3 -> 1e-3", "0.001 -> 0.0005"),
        ("by 1e-3", "0..1", 0, 0.001),
        ("to 1e-4 -> 0", "", "3e-3", "0.0001 -> 0"),
    ],
)
def test_a_schedule_is_changed_as_a_whole(change: str, within: str, before: Any, after: Any):
    bounds = {"algo.lr": within} if within else {}
    it = Driven(lr=before, wait=1, change={"algo.lr": change}, within=bounds)
    assert it.see(1, 1) == [(1, "changed")]
    assert it.lr == after


def test_an_integer_moves_by_at_least_one():
    rule = {"wait": 1, "change": {"algo.epochs": "x1.1"}, "within": {"algo.epochs": "1..6"}}
    it = Driven(**rule)
    it.settings.change([{"key": "algo.epochs", "to": 4}])
    it.see(1, 1)
    assert it.settings.current.algo.epochs == 5
    it.see(1, 1, 1)
    assert it.settings.current.algo.epochs == 6


def test_a_change_that_made_the_metric_worse_is_reverted():
    it = Driven(revert=2)
    assert it.see(5, 5, 5, 5) == [(3, "changed")]
    assert it.see(4, 4.5) == [(1, "reverted")]
    assert it.lr == 1e-3
    assert it.see(5, 5, 5) == [(2, "changed")], "waiting began anew"
    assert it.see(math.nan, 5) == [], "as good as before: it stays"
    assert it.lr == 5e-4
    assert it.see(5, 5, 5) == [(2, "changed")]
    it.settings.change([{"key": "algo.lr", "to": 7e-4}])
    assert it.see(1, 1) == [(1, "nothing")]
    assert it.lr == 7e-4, "what a person has set since is not taken back"


def test_a_rule_acts_at_most_the_configured_number_of_times():
    assert Driven(times=2).see(*[1] * 20) == [(3, "changed"), (6, "changed")]
    assert Driven(times=0).see(*[1] * 20) == []


def test_a_rule_saved_and_restored_anywhere_acts_identically():
    found = [5, 5, 5, 5, 4, 4, 6, math.nan, 6, 6, 5, 5, 5, 7, 7, 7, 7, 7, 1, 1, 1, 1, 1]
    whole = Driven(revert=2, times=3)
    done = whole.see(*found)
    assert {"changed", "reverted"} <= {did for _, did in done}
    for cut in range(len(found)):
        first, second = Driven(revert=2, times=3), Driven(revert=2, times=3)
        before = first.see(*found[:cut])
        second.rule.load(json.loads(json.dumps(first.rule.state())))
        second.settings.load(first.settings.live)
        after = [(number + cut, did) for number, did in second.see(*found[cut:])]
        assert before + after == done
        assert second.rule.state() == whole.rule.state()


@pytest.mark.parametrize(
    ("more", "key", "said"),
    [
        ({"change": {"algo.lrr": "x0.5"}}, "change", "did you mean algo.lr"),
        ({"change": {"stop.env_steps": "x2"}}, "change", "cannot be changed by a rule"),
        ({"change": {"algo.name": "x2"}}, "change", "cannot be changed by a rule"),
        ({"change": {"algo.lr": 0.01}}, "change.algo.lr", "is not a change"),
        ({"change": {"algo.lr": "+0.01"}}, "change.algo.lr", "`by 0.01`"),
        ({"change": {"algo.lr": "x-1"}}, "change.algo.lr", "factor above 0"),
        ({"change": {"algo.lr": "to fast"}, "within": {}}, "change", "algo.lr: fast"),
        ({"within": {}}, "change", "algo.lr has no bounds"),
        ({"within": {"algo.lr": "1e-4"}}, "within.algo.lr", "LOW..HIGH"),
        ({"within": {"algo.lr": "1..0"}}, "within.algo.lr", "reversed"),
        ({"within": {"algo.lr": "-1..1"}}, "within", "falls below 0"),
        ({"within": HALVE["within"] | {"algo.clip": "0..1"}}, "within",
         "algo.clip is not changed by this rule"),
        ({"wait": 0}, "wait", "whole number above 0"),
        ({"gain": -1}, "gain", "at least 0"),
        ({"revert": 0.5}, "revert", "whole number"),
        ({"wiat": 5}, "wiat", "did you mean"),
        ({"change": {"algo.value_loss": "x2"}, "within": {"algo.value_loss": "1..2"}}, "within",
         "mse, huber"),
    ],
)  # fmt: skip
def test_an_invalid_rule_is_refused_with_its_key(more: dict[str, Any], key: str, said: str):
    with pytest.raises(ConfigError) as refused:
        resolve("CartPole-v1", {"rules": {"slower": HALVE | more}})
    assert f"--set: rules.slower.{key}: " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("more", "key", "said"),
    [
        ({"watch": "episode/retrun"}, "watch", "did you mean episode/return"),
        ({"watch": "far:episode/return"}, "watch", "names an unknown task"),
        ({"watch": "policy/entropy"}, "watch", "has no better direction"),
        ({"watch": "speed/env_steps"}, "watch", "wall clock"),
        ({"change": {"algo.target_kl": "x2"}, "within": {"algo.target_kl": "1e-3..1"}}, "change",
         "algo.target_kl is off"),
        ({"change": {"algo.batch_size": "to 100000"}, "within": {}}, "change",
         "more than a rollout holds"),
    ],
)  # fmt: skip
def test_a_rule_that_could_never_act_is_refused_before_a_run_is_created(
    more: dict[str, Any], key: str, said: str, runs_dir: Path
):
    with pytest.raises(ConfigError) as refused:
        train_small("CartPole-v1", {"rules.slower": HALVE | more})
    assert f"rules.slower.{key}" in str(refused.value)
    assert said in str(refused.value)
    assert not list(runs_dir.glob("*/run.json"))


def test_parts_of_a_presets_rules_can_be_overridden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GYMNAST_PRESETS", str(tmp_path))
    (tmp_path / "Pole.yaml").write_text(
        "env: {id: CartPole-v1}\nrules:\n  slower:\n    watch: episode/return\n"
        "    change:\n      algo.lr: x0.5\n    within: {algo.lr: 1e-4..1e-2}\n"
    )
    changes = {"rules.slower.wait": 20, "rules.slower.change.algo.lr": "x0.7"}
    found = resolve("Pole", changes)
    assert found.config.rules["slower"].wait == 20
    assert str(found.config.rules["slower"].change["algo.lr"]) == "x0.7"
    assert found.provenance["rules.slower.change.algo.lr"] == "--set"
    assert found.provenance["rules.slower.within.algo.lr"].endswith("Pole.yaml:7")
    preset = tmp_path / "Pole.yaml"
    preset.write_text(preset.read_text().replace("algo.lr: x0.5", "algo.lrr: x0.5"))
    with pytest.raises(ConfigError, match=r"Pole\.yaml:5: rules\.slower\.change: algo\.lrr cannot"):
        resolve("Pole")


# ---- in runs -------------------------------------------------------------------------------------

N, T = 2, 16
ROLLOUT = N * T
NEVER = {"gain": 1e6}
"""A gain that is never reached, so that the rule acts at known rows."""
SETTINGS = {
    "env.n_envs": N,
    "env.max_episode_steps": 10,
    "algo.n_steps": T,
    "algo.lr": "4e-3 -> 0",
    "stop.env_steps": 8 * ROLLOUT,
    "eval.every": "3 rollouts",
    "eval.max_episode_steps": 40,
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 40,
    "traces.train": "100%",
    "rules.slower": HALVE | NEVER | {"wait": 2, "times": 2},
    "rules.rougher": NEVER
    | {
        "watch": "eval:episode/return",
        "wait": 1,
        "revert": 1,
        "change": {"algo.clip": "by 0.1", "algo.epochs": "to 3"},
        "within": {"algo.clip": "0..0.35"},
    },
}


def by_rules(run: Run) -> list[tuple[int, str, str]]:
    return [(e["rollouts"], e["rule"], e["did"]) for e in run.events() if e["kind"] == "rule"]


def lrs(run: Run) -> dict[int, float]:
    return {int(r["clock/rollouts"]): r["hyper/lr"] for r in rows(run) if "hyper/lr" in r}


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYMNAST_RUNS", str(tmp_path_factory.mktemp("ruled")))
        return train_small("CartPole-v1", SETTINGS)


def test_in_a_run_a_rule_acts_at_the_end_of_a_rollout_and_no_schedule_reverses_it(ruled: Run):
    assert [e for e in by_rules(ruled) if e[1] == "slower"] == [
        (3, "slower", "changed"),
        (5, "slower", "changed"),
    ]
    share = {3: 1.0, 4: 0.5, 5: 0.5, 6: 0.25, 8: 0.25}
    found = lrs(ruled)
    for rollout, factor in share.items():
        assert found[rollout] == pytest.approx(factor * 4e-3 * (1 - (rollout - 1) / 8))
    (first, *_) = [e for e in ruled.events() if e["kind"] == "rule"]
    assert first["changes"] == [{"key": "algo.lr", "from": "0.004 -> 0", "to": "0.002 -> 0"}]
    assert "episode/return was no better than" in first["why"]
    assert "rule slower" in (ruled.path / "log.txt").read_text()
    shown = api.show(ruled.id, runs_dir=ruled.path.parent)
    assert shown.live["algo.lr"] == "0.001 -> 0"
    assert shown.live == checkpoint.latest(ruled.path).document("state")["live"]


@pytest.mark.parametrize("back_to", [0, 3, 4])
def test_resumed_from_any_checkpoint_every_change_is_made_once(ruled: Run, back_to: int):
    again = resume_run(copy_killed_at(ruled, back_to * ROLLOUT))
    assert_same_run(ruled, again)
    assert by_rules(again) == by_rules(ruled)
    assert again.info["live"] == ruled.info["live"]
    (event,) = [e for e in again.events() if e["kind"] == "resumed"]
    assert event["bit_exact"]
    assert event["live_changes_ahead"] == []


def test_a_users_live_change_wins_and_rules_continue_from_it():
    plan = {
        3: [("set", {"algo.lr": 8e-3})],  # at the rollout at which the rule acts
        4: [("evaluate", {}), ("set", {"algo.clip": 0.1}), ("checkpoint", {})],
        5: [("set", {"algo.clip": 0.3}), ("evaluate", {})],
    }
    run = train_with_commands("CartPole-v1", SETTINGS | {"eval.every": "off"}, plan)
    assert by_rules(run) == [
        (3, "slower", "changed"),
        (5, "slower", "changed"),
        (5, "rougher", "changed"),
    ]
    assert [lrs(run)[i] for i in (4, 5, 6)] == [8e-3, 8e-3, 4e-3]
    assert run.info["live"] == {"algo.lr": 4e-3, "algo.clip": 0.35, "algo.epochs": 3}
    assert api.show(run.id, runs_dir=run.path.parent).live == run.info["live"]
    for rollouts in (3, 5):  # of 5 the rule's change came after the command's
        again = resume_run(copy_killed_at(run, rollouts * ROLLOUT))
        assert_same_run(run, again)
        assert sorted(by_rules(again)) == sorted(by_rules(run))
        assert again.info["live"] == run.info["live"]


def test_resume_set_discards_what_a_rule_has_changed(ruled: Run):
    again = copy_killed_at(ruled, 3 * ROLLOUT)
    resume_run(again, {"algo.lr": 2e-3})
    (dropped,) = [e for e in again.events() if e["kind"] == "live changes dropped"]
    assert dropped["keys"] == ["algo.lr"]
    assert [lrs(again)[i] for i in (4, 5, 6)] == [2e-3, 2e-3, 1e-3]
    assert again.info["live"]["algo.lr"] == 1e-3


@pytest.fixture
def alarm() -> Iterator[type[Alarm]]:
    yield Alarm
    Alarm.after = None


def test_a_score_delayed_by_an_interruption_counts_as_if_it_were_not(alarm: type[Alarm]):
    """The evaluation process has only just been started, so its score is not available at its point."""
    settings = {
        "env.kwargs": {"length": 4, "end": "truncated"},
        "facts.deterministic": "yes",  # it is not tried out: the alarm counts steps
        "env.n_envs": N,
        "algo.n_steps": 8,
        "eval.every": "1 rollouts",
        "eval.mode": "process",
        "eval.episodes": 400,
        "stop.rollouts": 5,
        "rules.slower": HALVE | NEVER | {"watch": "eval:episode/return", "wait": 1},
    }
    whole = train_small("Alarm", settings | {"eval.mode": "inline"})
    alarm.after = 2 * N * 8 - 3
    run = train_small("Alarm", settings)
    assert run.info["status"] == "stopped"
    assert evaluations(run) == []
    resume_run(run)
    assert evaluations(run) == evaluations(whole)
    assert by_rules(run) == by_rules(whole) != []
    assert lrs(run) == lrs(whole)
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(whole))
