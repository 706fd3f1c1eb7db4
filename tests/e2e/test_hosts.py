"""Runs on hosts in processes of their own: hosts and trainings are killed, and the result stays the same."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.e2e.host_kills import Case


@pytest.mark.slow
def test_runs_whose_hosts_or_training_process_are_killed_are_identical_to_one_in_one_process(
    tmp_path: Path,
):
    case = Case(tmp_path, "CartPole-v1:memory", random.Random(0))
    case.kill_hosts(3, [("local", 2), ("ray", 2)])
    case.kill_learners(1, [[("ray", 2), ("local", 3)]])
    assert case.result.problems == []
    assert case.result.kills == 3
    assert case.result.learner_kills == 1
