"""Parts of a bundle are cut to the budget, and say so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gymnast.review.frames import MAX_FRAMES, choose_frames
from gymnast.review.part import MIN_BUDGET, Part, Unit, fit
from gymnast.review.steps_text import MAX_STEPS, choose_columns, choose_steps, steps_text

texts = st.lists(st.text("abc |`\n", max_size=40), max_size=30).map("\n".join)
units = st.builds(Unit, texts, st.sampled_from(["lines", "whole", "picture"]))
parts = st.builds(
    lambda name, rest, rank: Part(name, (Unit(f"## {name}"), *rest), rank),
    st.sampled_from(["run", "charts", "steps"]),
    st.lists(units, max_size=6),
    st.integers(0, 9),
)


@given(st.lists(parts, min_size=1, max_size=12), st.integers(MIN_BUDGET, 9000))
def test_a_bundle_never_exceeds_its_budget_and_every_part_keeps_its_heading(
    made: list[Part], budget: int
):
    cut = fit(made, budget)
    assert len("\n\n".join(part.text for part in cut)) + 1 <= budget
    for part, before in zip(cut, made, strict=True):
        assert part.text.startswith(before.units[0].text)
        assert (part.text == before.text) == (part.cut == "")
        if part.cut:
            assert part.text.endswith(f"[{part.cut}]")


@given(st.lists(parts, min_size=1, max_size=12))
def test_nothing_is_cut_if_there_is_room(made: list[Part]):
    assert [part.text for part in fit(made, 1_000_000)] == [part.text for part in made]


def test_important_parts_are_cut_last_and_pictures_are_never_halved():
    lines = "\n".join(f"line {i}" for i in range(1000))
    picture = Unit("![step 1](" + "x" * 3000 + ")", "picture")
    made = [
        Part("frames", (Unit("## Frames"), picture, Unit("![step 2](y)", "picture")), 9),
        Part("run", (Unit("## Run"), Unit("short")), 1),
        Part("steps", (Unit("## Steps"), Unit(f"```csv\n{lines}\n```")), 5),
    ]
    frames, run, steps = fit(made, MIN_BUDGET)
    assert not run.cut
    assert "xxx" not in frames.text
    assert steps.text.count("```") == 2, "a block of code that is cut is closed"
    assert "line 100" in steps.text
    assert "line 999" not in steps.text


@given(st.integers(1, 3000), st.lists(st.integers(0, 2999), max_size=12))
def test_steps_and_frames_include_both_ends_and_the_first_moments(length: int, moments: list[int]):
    moments = [moment for moment in moments if moment < length]
    steps = choose_steps(length, moments)
    assert steps == sorted(set(steps))
    assert len(steps) <= MAX_STEPS
    assert {0, length - 1} <= set(steps)
    assert set(moments[:3]) <= set(steps)
    frames = choose_frames(length, moments)
    assert len(frames) <= MAX_FRAMES
    assert {0, length, *moments[: MAX_FRAMES - 2]} <= set(frames)
    assert set(frames) <= set(range(length + 1))


def test_the_table_has_the_columns_that_change_and_names_the_others():
    table = {
        "step": [0, 1],
        **{f"obs/{i}": [0.5, float(i)] for i in range(40)},
        "input/0": [1.0, 2.0],
        "reward_raw": [1.0, 1.0],
        "action": [0, 1],
        "terminated": [False, True],
    }
    shown, constant, omitted = choose_columns(table)
    assert constant == {"reward_raw": 1.0}
    assert "input/0" in omitted
    assert len([name for name in shown if name.startswith("obs")]) == 16
    head, first, second = steps_text(table, [0, 1]).splitlines()
    assert head.split(",") == shown
    assert first.split(",")[0] == "0"
    assert second.endswith(",1,yes")
