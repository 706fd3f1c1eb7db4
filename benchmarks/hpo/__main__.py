"""Compares tuners on the table: regret on fresh seeds after searches of 5 million env steps.

python -m benchmarks.hpo                        # writes benchmarks/results/hpo.json and the page
python -m benchmarks.hpo --quick                # two repetitions of each, nothing written
python -m benchmarks.hpo --page                 # only writes the page from the stored figures
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import warnings
from pathlib import Path
from typing import Any

from benchmarks.code_revision import PACKAGE, RESULTS, ROOT, measurement_info
from benchmarks.hpo.compare import OBJECTIVES, SEARCH_BUDGET, compare
from benchmarks.hpo.page import page
from benchmarks.hpo.table import TABLE, Table

RESULT = RESULTS / "hpo.json"
SEARCH = PACKAGE / "sweep"
PAGE = ROOT / "docs" / "sweeps-benchmark.md"


def main() -> None:
    options = _options()
    if not options.page:
        table = Table.load()
        warnings.simplefilter("ignore")  # Optuna warns about experimental arguments at every trial
        repetitions = range(2 if options.quick else options.repetitions)
        if options.quick:
            print(json.dumps(compare(table, OBJECTIVES["area"], repetitions), indent=1))
            return
        found = {kind: _compare(table, kind, repetitions) for kind in options.objectives}
        entry = measurement_info("hpo") | {
            "budget": SEARCH_BUDGET,
            "repetitions": len(repetitions),
            "table": table.about,
            "seeds": table.curves.shape[2],
            "objectives": found,
        }
        RESULT.write_text(_compact(entry) + "\n")
    PAGE.write_text(page(json.loads(RESULT.read_text())))
    print(f"wrote {RESULT.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")


def _compare(table: Table, kind: str, repetitions: range) -> dict[str, Any]:
    """Returns the comparison for one objective. Continues where an interrupted call ended."""
    files = [*sorted(SEARCH.glob("*.py")), *sorted(Path(__file__).parent.glob("*.py")), TABLE]
    code = hashlib.sha256(b"".join(path.read_bytes() for path in files))
    stamp = f"{code.hexdigest()[:12]}-{table.curves.shape[2]}-{len(repetitions)}"
    journal = ROOT / "build" / f"hpo-{kind}-{stamp}.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    known = {(one[0], one[1]): one[2] for one in map(json.loads, lines)}

    def remember(method: str, task: str, chosen: list[int]) -> None:
        with journal.open("a") as file:
            file.write(json.dumps([method, task, chosen]) + "\n")

    return compare(table, OBJECTIVES[kind], repetitions, known, remember)


def _compact(entry: dict[str, Any]) -> str:
    """Returns JSON in which a list of numbers takes one line."""
    text = json.dumps(entry, indent=1)
    return re.sub(r"\[[\s\d,]+\]", lambda found: " ".join(found.group().split()), text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", default=100, type=int)
    parser.add_argument("--objectives", default=list(OBJECTIVES), nargs="+", choices=OBJECTIVES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
