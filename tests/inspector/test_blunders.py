"""Blunders: the losses are those of environments in which they are known, and luck is none."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.config.facts import Facts
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.blunders import NEARBY, THRESHOLDS, distinct, find_blunders
from gymnast.inspector.branch_record import Blunder, BlunderReport
from gymnast.inspector.outcome_scale import outcome_scale, scale_of_lines
from gymnast.inspector.stored_blunders import MAX_FILES, read_blunders, write_blunders
from gymnast.inspector.task import blunders
from gymnast.runs.run import Run
from gymnast.runs.trace import read_traces, write_traces
from tests.inspector.branching import LOTTERY, REWARDING, played, reward_of
from tests.inspector.conftest import copied


def losses(actions: list[int]) -> dict[int, float]:
    """Returns step -> the loss of the played action, where it is not the best."""
    found = {
        t: max(reward_of(t, b) for b in range(3)) - reward_of(t, a) for t, a in enumerate(actions)
    }
    return {t: loss for t, loss in found.items() if loss > 0}


@pytest.mark.parametrize("luck", [False, True])
def test_marks_are_the_known_losses_whatever_the_luck(luck: bool, tmp_path: Path):
    with played(tmp_path, REWARDING, luck=luck, forced={4: 0, 7: 0}) as episode:
        report = find_blunders(episode, budget=30_000)
        actions = episode.trace.action.tolist()
        known = losses(actions)
        assert (report.random, report.steps_tested) == (luck, len(actions))
        marked = {mark.step: mark for mark in report.marks}
        # Nothing that was not tested again counts as a mark, if there is luck.
        assert marked.keys() <= known.keys()
        assert {4, 7} & known.keys() <= marked.keys()  # forced actions have marks of their own
        for step, mark in marked.items():
            assert mark.lost_raw == pytest.approx(known[step])
            assert mark.lost == pytest.approx(known[step] / report.scale)
            assert mark.played == actions[step]
            assert isinstance(mark.better, int)
            assert reward_of(step, mark.better) == max(reward_of(step, b) for b in range(3))
            assert THRESHOLDS[mark.level] <= mark.lost
            assert mark.error_raw == pytest.approx(0)
        assert [m.lost for m in report.marks] == sorted(
            (m.lost for m in report.marks), reverse=True
        )
        worst = max(known.values())
        assert report.marks[0].lost_raw == pytest.approx(worst)


def test_bad_luck_is_not_a_blunder(tmp_path: Path):
    with played(tmp_path, LOTTERY) as episode:
        report = find_blunders(episode, budget=20_000)
        assert report.random
        assert report.marks == []


def test_a_step_is_not_blamed_for_a_later_mistake(tmp_path: Path):
    with played(tmp_path, "CartPole-v1") as episode:
        report = find_blunders(episode, budget=50_000)
        assert report.steps_tested == len(episode.trace)
        # One line per alternative: those of the played actions are the episode itself.
        assert report.lines == len(episode.trace)


@given(st.lists(st.integers(0, 40), unique=True), st.lists(st.booleans(), min_size=41, max_size=41))
def test_trouble_of_the_policy_has_one_mark_and_each_foreign_action_its_own(
    steps: list[int], deviates: list[bool]
):
    marks = [
        Blunder(
            step=step,
            played=0,
            played_label="",
            better=1,
            better_label="",
            lost=1.0 - i / 100,
            lost_raw=1.0,
            error_raw=0.0,
            continuations=1,
            level="blunder",
        )
        for i, step in enumerate(steps)
    ]
    kept = [mark.step for mark in distinct(marks, np.array(deviates))]
    own = [step for step in kept if not deviates[step]]
    assert kept == [step for step in steps if step in kept]  # the worst first, as before
    assert {step for step in steps if deviates[step]} <= set(kept)
    assert all(abs(a - b) > NEARBY for a in own for b in own if a != b)
    for step in set(steps) - set(kept):
        worse = [other for other in own if steps.index(other) < steps.index(step)]
        assert any(abs(step - other) <= NEARBY for other in worse)


def test_the_budget_limits_the_search_and_progress_reaches_it(tmp_path: Path):
    calls: list[tuple[int, int]] = []
    with played(tmp_path, REWARDING, length=60) as episode:
        report = find_blunders(
            episode, budget=2_000, progress=lambda done, total, _="": calls.append((done, total))
        )
        assert report.steps_tested < 60
        assert report.env_steps < 2_000 + 16 * 60 + 120
        assert calls == sorted(calls)
        assert {total for _, total in calls} == {2_000}
        # Deviations from the policy come first.
        deviating = {20: (int(episode.trace.action[20]) + 1) % 3}
    with played(tmp_path / "b", REWARDING, length=60, forced=deviating) as episode:
        report = find_blunders(episode, budget=2_000)
        lost = losses(episode.trace.action.tolist()).get(20, 0.0)
        assert (20 in [mark.step for mark in report.marks]) == (lost / report.scale >= 0.05)


def test_the_scale_comes_from_facts_then_from_evaluations_then_from_the_lines():
    returns = [float(x) for x in range(101)]
    cases = [
        (Facts(returns=(0, 1), optimum=0.744), [], (0.0, 0.744)),
        (Facts(returns=(1, 500), threshold=475), returns, (1.0, 475.0)),
        (Facts(threshold=50), returns, (5.0, 95.0)),
        (Facts(), returns, (5.0, 95.0)),
    ]
    for facts, evaluated, ends in cases:
        scale = outcome_scale(facts, evaluated)
        assert scale is not None
        assert (scale.low, scale.high) == pytest.approx(ends)
        assert f"{ends[0]:g}" in scale.doc
    assert outcome_scale(Facts(), []) is outcome_scale(Facts(), [3.0, 3.0]) is None
    assert scale_of_lines([2.0, 2.0]) is None
    of_lines = scale_of_lines([2.0, 5.0])
    assert of_lines is not None
    assert of_lines.width == 3


def test_reports_are_stored_for_their_episode_and_bounded(cartpole: Run, tmp_path: Path):
    run = copied(cartpole, tmp_path)
    version = run.info["checkpoints"]["latest"]
    assert version is not None
    address = EpisodeAddress(str(run.path), "eval", version, 0)
    assert read_blunders(address) is None
    report = blunders(str(run.path), "eval", version, 0, 5_000, None, lambda *_: None)
    assert read_blunders(address) == report
    assert isinstance(report, BlunderReport)
    # Another episode at the same place, as after a resume, has no report.
    file = run.traces / f"eval-{version:012d}.safetensors"
    episodes = read_traces(file)
    changed = replace(episodes[0], reward=episodes[0].reward + 1)
    write_traces(file, [changed, *episodes[1:]], {"kind": "eval", "version": version})
    assert read_blunders(address) is None
    for number in range(1, MAX_FILES + 3):
        write_blunders(replace(address, number=number), episodes[1], report)
        stored = run.path / "analyses" / f"blunders-eval-{version}-{number}.json"
        os.utime(stored, (number, number))
    kept = sorted(p.name for p in (run.path / "analyses").iterdir())
    assert len(kept) == MAX_FILES
    assert f"blunders-eval-{version}-1.json" not in kept
    (run.path / "analyses" / f"blunders-eval-{version}-5.json").write_text("{")
    assert read_blunders(replace(address, number=1)) is None
