"""The text of an event: what happened, in words, without the fields that say nothing."""

from __future__ import annotations

import pytest

from gymnast.metrics.checks.critic import explained_text
from gymnast.text.events import event_detail
from gymnast.text.formatting import times_text

RESUMED = {
    "kind": "resumed",
    "env_steps": 4096,
    "checkpoint": 4096,
    "changes": [],
    "moved": [],
    "fresh_optimizer": False,
    "bit_exact": True,
    "not_exact_because": [],
    "differs": [],
    "live_changes_ahead": [],
}


def test_a_resumed_run_names_only_what_changed():
    assert event_detail(RESUMED) == "checkpoint 4096, bit exact"
    changed = {
        **RESUMED,
        "changes": [{"key": "algo.lr", "from": 0.1, "to": 0.2}],
        "fresh_optimizer": True,
        "bit_exact": False,
        "not_exact_because": ["settings were changed", "computed with other cpu"],
        "differs": ["cpu"],
    }
    assert event_detail(changed) == (
        "checkpoint 4096, changes algo.lr 0.2 (was 0.1), fresh optimizer, "
        "not exact because settings were changed; computed with other cpu"
    )


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"kind": "budget changed", "schedules_moved": ["lr", "clip"]}, "schedules moved lr, clip"),
        (
            {"kind": "best", "score": {"mean": 1.0, "low": 0.5, "high": 2.0}},
            "score 1.00 [0.50, 2.00]",
        ),
        ({"kind": "x", "copies": [0, 3], "step": 0, "note": "", "of": None}, "copies 0, 3, step 0"),
        (
            {"kind": "x", "ahead": [{"kind": "live change", "rollouts": 2}]},
            "ahead kind live change, rollouts 2",
        ),
        ({"kind": "stopping", "reason": "solved", "reason_kind": "solved"}, "solved"),
    ],
)
def test_lists_and_empty_fields_are_shown_as_words(event: dict[str, object], text: str):
    assert event_detail(event) == text


def test_ratios_and_shares_that_mean_nothing_are_not_printed_as_numbers():
    assert times_text(6.17e12) == "over a million times"
    assert [times_text(x) for x in (6.1723, 1234.5, 2e-3)] == [
        "6.17 times",
        "1,230 times",
        "0.002 times",
    ]
    assert explained_text(0.42) == "explains 42% of the variance of its targets"
    assert "variance -1.58" in explained_text(-1.58)
    assert "%" not in explained_text(-1.58)
