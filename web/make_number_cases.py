"""Writes the table of numbers that the tests of the front end compare with: values as Python formats them.

`python web/make_number_cases.py` writes web/src/ui/numbers.cases.json; `--check` only reports whether it is
current.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from gymnast.metrics.metric import Metric
from gymnast.records import to_json
from gymnast.text import formatting

OUT = Path(__file__).parent / "src" / "ui" / "numbers.cases.json"
TIES = [0.5, 1.5, 2.5, 0.125, 0.375, 0.03125, 0.0625, 12.5, 100.5, 1000.5, 0.25, 0.75, 2.675]
SPECIAL = [0.0, -0.0, 1.0, 9.995, 999.95, 59.95, 60.0, 3599.5, 172800.0, float("nan"), float("inf")]


def values() -> list[float]:
    """Returns numbers of all sizes, with those that are halfway between two rounded ones."""
    random_source = random.Random(0)
    spread = [random_source.uniform(-1, 1) * 10.0**power for power in range(-12, 16)]
    positive = [*TIES, *SPECIAL, *spread, 1e12, 999999999999.4, 1e21, 1.7e300, 5e-324]
    return [*positive, *(-value for value in TIES)]


def cases() -> dict[str, list[list[object]]]:
    """Returns kind of formatting -> [arguments ..., text]."""
    metrics = [
        Metric("a/b", "", unit, digits)
        for unit in ("", "share", "s", "nats")
        for digits in (0, 1, 3, 5)
    ]
    finite = [value for value in values() if abs(value) < 1e15]
    durations = [abs(value) for value in finite]
    return {
        "metric": [
            [m.unit, m.digits, v, m.format(v)]
            for m in metrics
            for v in (finite if m.unit == "s" else values())
        ],
        "number": [[v, formatting.number(v)] for v in values()],
        "count": [[v, formatting.count(v)] for v in values()],
        "area": [[v, formatting.area(v)] for v in finite],
        "size": [[v, formatting.size(v)] for v in durations],
        "duration": [[v, formatting.duration(v)] for v in durations],
        "age": [[v, formatting.age(v)] for v in durations],
    }


def text() -> str:
    """Returns the content of the file: one case per line."""
    kinds = [
        f"{json.dumps(kind)}: [\n" + ",\n".join(json.dumps(to_json(case)) for case in table) + "\n]"
        for kind, table in cases().items()
    ]
    return "{\n" + ",\n".join(kinds) + "\n}\n"


if __name__ == "__main__":
    from made_file import write_or_check  # its directory is in the path only if this is the program

    raise SystemExit(write_or_check(OUT, text(), "web/make_number_cases.py"))
