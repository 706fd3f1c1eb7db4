"""Three updates give the stored golden numbers."""

from __future__ import annotations

import json

import pytest

from gymnast.config.sections import ALGORITHMS
from tests.algos import golden
from tests.algos.harness import ENGINES

STORED = json.loads(golden.FILE.read_text())


RUNS = [
    (case, engine)
    for case in golden.CASES
    for engine in ENGINES
    if (case, engine) != ("dqn/choice", "native")  # the native engine does not support it
]


@pytest.mark.parametrize(("case", "engine"), RUNS)
def test_three_updates_give_the_golden_numbers(case: str, engine: str):
    found = golden.golden_metrics(case, engine)
    assert len(found) == golden.UPDATES
    # the gradients behind a memory are nearly as small as Adam's eps at first, which amplifies their rounding
    within = 1e-5 if "policy.memory" in golden.KINDS[case.partition("/")[2]] else 1e-6
    for k, (now, then) in enumerate(zip(found, STORED[case], strict=True)):
        assert now.keys() == then.keys()
        for name, value in then.items():
            # the last digits depend on the vector instructions of the machine
            close = pytest.approx(value, rel=1e-5, abs=within)
            assert now[name] == close, f"update {k + 1}: {name}"


def test_every_algorithm_has_golden_numbers():
    assert {case.partition("/")[0] for case in golden.CASES} == set(ALGORITHMS)
    assert set(STORED) == set(golden.CASES)
