"""The metrics of recent episodes: over the latest hundred, and for each task."""

from __future__ import annotations

import json
from statistics import fmean, pstdev

import numpy as np
import pytest

from gymnast.measure.recent import RecentEpisodes
from gymnast.metrics.families.experience import WINDOW
from gymnast.rollout import Episode, Episodes


def played(count: int, begin: int, *, numbers: bool) -> list[Episode]:
    rng = np.random.default_rng(begin)
    return [
        Episode(
            raw_return=float(rng.normal()),
            length=int(rng.integers(1, 500)),
            env=k % 3,
            seed=begin + k,
            truncated=bool(k % 2),
            numbers={"env/height": float(k)} if numbers and k % 2 else {},
        )
        for k in range(count)
    ]


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("tasks", [(), ("near", "far")])
def test_rows_report_the_newest_episodes_in_whatever_portions_they_arrive(tasks, numbers):
    recent, every = RecentEpisodes(tasks), list[Episode]()
    for count in (0, 3, 0, 40, 150, 1, 0, 7):
        ended = played(count, len(every), numbers=numbers)
        every += ended
        recent.add(Episodes.from_episodes(ended))
        row = recent.row()
        kept = every[-WINDOW * max(len(tasks), 1) :]
        assert list(recent.episodes) == kept
        parts = {"": kept} | {
            f"{name}:": [e for e in kept if e.seed % len(tasks) == task]
            for task, name in enumerate(tasks)
        }
        for scope, episodes in parts.items():
            newest = episodes[-WINDOW:]
            assert row[f"{scope}episode/count"] == len(newest)
            if not newest:
                continue
            returns = [e.raw_return for e in newest]
            assert row[f"{scope}episode/return"] == pytest.approx(fmean(returns))
            assert row[f"{scope}episode/return_std"] == pytest.approx(pstdev(returns))
            assert row[f"{scope}episode/return_min"] == min(returns)
            assert row[f"{scope}episode/return_max"] == max(returns)
            assert row[f"{scope}episode/length"] == fmean(e.length for e in newest)
            heights = [e.numbers["env/height"] for e in newest if e.numbers]
            found = {} if not heights else {f"{scope}env/height": pytest.approx(fmean(heights))}
            assert {k: v for k, v in row.items() if k == f"{scope}env/height"} == found


def test_recent_episodes_restored_from_a_checkpoint_are_bit_identical():
    before, after = RecentEpisodes(), RecentEpisodes()
    before.add(Episodes.from_episodes(played(120, 0, numbers=True)))
    stored = json.loads(json.dumps([e._asdict() for e in before.episodes]))
    after.add(Episodes.from_episodes(Episode(**e) for e in stored))
    for recent in (before, after):
        recent.add(Episodes.from_episodes(played(5, 120, numbers=False)))
    assert list(before.episodes) == list(after.episodes)
    assert before.row() == after.row()
