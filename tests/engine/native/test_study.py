"""The statistics of the stored comparison of engines follow from its stored learning curves."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[3] / "docs/studies/engines.py"


@pytest.fixture(scope="module")
def study() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)  # the study imports its own game
        yield _loaded()


def _loaded() -> Any:
    spec = importlib.util.spec_from_file_location("engines_study", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stored_statistics_follow_from_the_stored_curves(study: Any):
    entries = json.loads(study.FILE.read_text())
    assert [entry["task"].removesuffix(":ppo") for entry in entries] == list(study.TASKS)
    for entry in entries:
        assert entry["seeds"] == list(study.SEEDS)
        for name, value in study.compare_curves(entry["returns"]).items():
            assert entry[name] == pytest.approx(value), name
        assert entry["p"] > 0.05


def test_the_sign_flip_test_finds_a_real_difference_and_no_other(study: Any):
    rng = np.random.default_rng(0)
    assert study.sign_flips(rng.normal(0, 1, 10)) > 0.05
    assert study.sign_flips(rng.normal(3, 1, 10)) == 2 / 1024
    assert study.sign_flips(np.array([1.0, -1.0] * 5)) == 1.0
