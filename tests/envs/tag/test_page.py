"""docs/tag.md agrees with the code."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from gymnast.envs.matches.tag import rules
from gymnast.envs.matches.tag.rewards import TERMS, WEIGHTS
from gymnast.envs.matches.tag.sight import NAMES

PAGE = (Path(__file__).parents[3] / "docs" / "tag.md").read_text()


def test_the_example_on_the_page_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, object] = {}
    exec(code, found)
    assert isinstance(found["picture"], np.ndarray)


def test_the_page_lists_every_observation_component_and_every_reward_term_with_its_weights():
    rays = [name for name in NAMES if name.startswith("ray")]
    for name in {rays[0], rays[-1], *NAMES} - set(rays[1:-1]):
        assert f"`{name}`" in PAGE
    assert f"{len(rays)} distances" in PAGE
    for term in TERMS:
        (row,) = re.findall(rf"^\| `{term}` \|.*$", PAGE, re.MULTILINE)
        weights = [float(cell) for cell in row.strip("| ").split(" | ")[-2:]]
        assert weights == [of.get(term, 0.0) for of in WEIGHTS.values()]


def test_the_numbers_on_the_page_are_those_of_the_rules():
    page = " ".join(PAGE.split())
    for text in (
        f"time is up ({rules.TIME_LIMIT} steps)",
        f"once every {rules.COOLDOWN} steps",
        f"{np.rad2deg(rules.FIELD_OF_VIEW):.0f} degrees",
        f"up to {rules.SIGHT:.0f} units away, on a field of {2 * rules.HALF_FIELD:.0f} by",
    ):
        assert text in page
