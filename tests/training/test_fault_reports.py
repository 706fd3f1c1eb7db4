"""Fault reports to the user: one line per cause, repeated at growing intervals only."""

from __future__ import annotations

from gymnast.envs.backends.backend import Fault
from gymnast.training.live.fault_reports import FaultReports


def test_copies_lost_together_are_one_report_with_cause_and_consequence():
    lost = [
        Fault(i, 4, "its worker process exited; it was running copy 2", "", 2) for i in (0, 1, 3)
    ]
    faults = [lost[0], lost[1], Fault(2, 120, "its worker process exited", "in step"), lost[2]]
    (report,) = FaultReports("copy").add(faults, None)
    assert report["message"] == (
        "copy 2, step 120: its worker process exited; the episodes of copies 0, 1, 2, 3 were dropped "
        "and these restarted"
    )
    assert (report["copy"], report["step"], report["traceback"]) == (2, 120, "in step")
    assert (report["copies"], report["faults"], report["seen"]) == ([0, 1, 2, 3], 4, 1)


def test_a_recurring_fault_is_counted_and_reported_at_growing_intervals():
    reports, messages = FaultReports("copy"), dict[int, str]()
    for rollout in range(1, 101):
        faults = [Fault(rollout % 3, rollout, f"step({rollout}) raised OSError: port {rollout}")]
        for report in reports.add(faults, None):
            messages[rollout] = report["message"]
    assert list(messages) == [1, 2, 4, 8, 16, 32, 64]
    assert messages[1].endswith("the episode was dropped and the copy restarted")
    assert messages[64].endswith("(64 faults of this kind so far)")
    (left,) = reports.remaining()
    assert (left["faults"], left["seen"], left["copies"]) == (36, 100, [0, 1, 2])
    assert not list(reports.remaining())


def test_a_new_cause_is_reported_at_once_and_so_is_the_fault_that_ends_training():
    reports = FaultReports("match")
    for _ in range(3):
        list(reports.add([Fault(0, 1, "the reward is nan")], None))
    (other,) = reports.add([Fault(0, 0, "reset(seed=3) raised OSError: gone")], None)
    assert other["message"].startswith("match 0, reset: reset(seed=3) raised OSError")
    last = Fault(0, 7, "the reward is nan")
    (ends,) = reports.add([last], last)
    assert ends["message"] == (
        "match 0, step 7: the reward is nan; training ends (4 faults of this kind so far)"
    )
