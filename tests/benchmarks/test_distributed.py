"""The parts of `benchmarks.distributed` that compute: episode logs, CPU time of processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.distributed import compression
from benchmarks.distributed.kill import cut_episodes
from benchmarks.distributed.processes import ProcessTree, adopting_orphans, poll
from benchmarks.distributed.section import section
from benchmarks.distributed.sections import SECTIONS


def test_episodes_that_a_killed_process_left_are_counted_once_and_continued_only_with_their_seed():
    log = """\
start 1 a 10
end 1 a 10
start 1 a 11
start 1 b 12
start 1 c -1
start 2 a 11
start 1 d 13
end 1 d 13
start 2 d 13
start 2 e -1
"""
    # 11, 12 and one without a seed were cut; process 2 continued 11 alone
    assert cut_episodes(log, 1) == (3, 1)
    assert cut_episodes(log, 2) == (3, 0)


def test_the_cpu_time_of_a_command_includes_descendants_that_have_ended_and_orphans(tmp_path: Path):
    burn = "import time; t = time.process_time()\nwhile time.process_time() - t < 0.3: pass"
    orphan = f"{burn}\nimport time; time.sleep(60)"
    command = (
        "import subprocess, sys, time\n"
        f"subprocess.run([sys.executable, '-c', {burn!r}])\n"
        # its own child is left behind
        f"subprocess.run([sys.executable, '-c', 'import subprocess, sys; "
        f"subprocess.Popen([sys.executable, \"-c\", ' + repr({orphan!r}) + '], start_new_session=True)'])\n"
        "time.sleep(60)"
    )
    with adopting_orphans():
        tree = ProcessTree([sys.executable, "-c", command], str(tmp_path), {})
        try:
            code = poll(tree, 0.05, 20, lambda _: tree.cpu() >= 0.6)
            assert code is None
            assert tree.memory() > 1e6
            assert tree.pids("time.sleep(60)")
        finally:
            tree.end()
        assert tree.pids("time.sleep(60)") == []


def test_every_part_of_the_measurement_is_shown_with_its_own_numbers():
    sample = {"steps_per_second": 1234.0, "cpu_per_step": 5e-6, "memory": 321.0}
    kill = {"continues": True, "lost_seconds": 1.5, "cut_episodes": 8, "continued_episodes": 7}
    measured = {
        "command": "python -m benchmarks.distributed",
        "date": "2026-01-01",
        "revision": "f" * 40,
        "hardware": {"cores": 2, "model": "CPU"},
    }
    parts = {
        "overhead": {"cartpole": {"cpu_ratio": {"local 1": 1.09, "ray 2": 1.37}}},
        "two_cores": {"efficiency": {"local": 0.91}},
        "sleeping": {"ray": {"speedup": {"1": 1.0, "8": 7.25}, "error": -0.04}},
        "uneven": {"ray": {"ratio": 2.31}},
        "peer": {"burn": {"samples": {"ours": [sample], "rllib": [sample]}}},
        "killed": {"ray": [kill, kill | {"continues": False, "lost_seconds": None}]},
    }
    assert parts.keys() == SECTIONS.keys()
    text = section({"sections": {name: of | {"measured": measured} for name, of in parts.items()}})
    for shown in (
        "1.37",
        "91%",
        "7.25",
        "-4%",
        "2.31",
        "1,230",
        "5.0",
        "321",
        "1 of 2",
        "| 1.5 | 16 | 14 |",
    ):
        assert shown in text, shown


def test_compression_pays_on_links_on_which_both_ways_take_equally_long(
    monkeypatch: pytest.MonkeyPatch,
):
    data, seconds = bytes(1_000_000), {"pack": 0.02, "unpack": 0.005}

    def pack(given: bytes) -> bytes:
        return given[:100_000]

    def unpack(_: bytes) -> bytes:
        return data

    monkeypatch.setattr(compression, "cpu_seconds", lambda work, _: seconds[work.__name__])
    found = compression.compare((pack, unpack), data, repetitions=3, seconds=2.0)
    link = found["pays_below_mbit"] * 1e6 / 8
    assert 1_000_000 / link == pytest.approx(100_000 / link + 0.02 + 0.005)
    link = found["pays_below_mbit_with_many_hosts"] * 1e6 / 8
    assert 1_000_000 / link == pytest.approx(100_000 / link + 0.005)
    saved = 1_000_000 / 125e6 - (100_000 / 125e6 + 0.025)
    assert found["share_of_rollout_saved_at_1_gbit"] == pytest.approx(saved / 2.0)
