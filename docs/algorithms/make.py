"""Fills the generated tables of the pages in this directory: settings, presets with results, metrics.

python docs/algorithms/make.py

Everything outside of the `<!-- generated: NAME -->` markers is written by hand.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any, Literal, get_args, get_origin

import gymnast
from gymnast.config.presets import search_presets
from gymnast.config.section import AlgoSection
from gymnast.config.sections import ALGORITHMS
from gymnast.insight import results
from gymnast.insight.stored_result import StoredResult
from gymnast.metrics.explain import catalog

FOLDER = Path(__file__).parent
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.S)
SECTIONS = ("policy", "value", "advantage", "loss", "optim")
"""Sections of the metrics that an update reports; the others are the same for every algorithm."""
TINY = {
    "stop.rollouts": 1,
    "eval.mode": "inline",
    "eval.episodes": 1,
    "eval.confirm_episodes": 1,
    "eval.max_episode_steps": 10,
    "traces.film": "off",
}


def page(algo: str, text: str) -> str:
    """Returns the text of an algorithm's page with its generated tables filled in."""
    section, _ = ALGORITHMS[algo]
    tables: dict[str, Callable[[], list[str]]] = {
        "settings": lambda: settings(section),
        "presets": lambda: presets(algo),
        "metrics": lambda: metrics(algo),
    }

    def filled(found: re.Match[str]) -> str:
        return f"{found[1]}\n" + "\n".join(tables[found[2]]()) + f"\n\n{found[3]}"

    return BLOCK.sub(filled, text)


def settings(section: type[AlgoSection]) -> list[str]:
    """Returns a table with one row per hyperparameter, described by the docstring of its field."""
    docs, scheduled = section.field_docs(), section.schedulable_fields()
    defaults = section.model_validate({"name": section.model_fields["name"].default})
    plain = defaults.model_dump(mode="json")
    rows = []
    for name, field in section.model_fields.items():
        if name == "name":
            continue
        meaning = " ".join(docs[name].split())
        if options := list(_options(field.annotation)):
            meaning += f" One of {', '.join(f'`{option}`' for option in options)}."
        rows.append((f"`algo.{name}`", f"`{plain[name]}`", _yes(name in scheduled), meaning))
    return _table(("setting", "default", "schedule", "meaning"), rows)


def presets(algo: str) -> list[str]:
    """Returns a table of the stored results of presets that use the algorithm, and lists the presets
    without one."""
    rows, without = [], []
    for preset in search_presets(""):
        for variant in preset.listed_variants if preset.is_builtin else ():
            if preset.extends_chain(variant)[0] == algo:
                name = f"{preset.name}:{variant}"
                if results.n_seeds(name):
                    rows.append((f"`{name}`", *_result(results.load_result(name))))
                else:
                    without.append(f"`{name}`")
    head = ("preset", "seeds", "mean return over seeds", "threshold", "solved", "env steps")
    more = ["", f"Presets without a stored result: {', '.join(without)}."] if without else []
    return [*_table(head, rows), *more]


def metrics(algo: str) -> list[str]:
    """Returns a table of the metrics that an update of the algorithm reports, found by a short training."""
    with tempfile.TemporaryDirectory() as directory:
        small = TINY | ({"algo.warmup": 64} if algo == "dqn" else {})
        run = gymnast.train(
            f"CartPole-v1:{algo}", overrides=small, runs_dir=directory, quiet=True, seed=0
        )
        reported = set(run.rows().columns)
    rows = [
        (f"[`{name}`](../metrics.md#{_anchor(name, metric.unit)})", metric.description)
        for name, metric in catalog().items()
        if name in reported and name.partition("/")[0] in SECTIONS
    ]
    return _table(("metric", "meaning"), rows)


def _options(annotation: Any) -> Iterable[str]:
    """Yields the values that a field with this annotation accepts, if they are a fixed list; else nothing."""
    if get_origin(annotation) is Literal:
        yield from map(str, get_args(annotation))
    elif annotation is bool:
        yield from ("on", "off")
    else:
        for part in get_args(annotation):
            yield from _options(part)


def _result(result: StoredResult) -> tuple[str, ...]:
    """Returns the cells of a stored result: seeds, mean with interval, threshold, solved seeds, env steps."""
    seeds, threshold = result["seeds"], result["threshold"]
    interval = "" if result["low"] is None else f" [{result['low']:.4g}, {result['high']:.4g}]"
    return (
        str(len(seeds)),
        f"{result['mean']:.4g}{interval}",
        "-" if threshold is None else f"{threshold:g}",
        "-" if threshold is None else f"{result['solved']}/{len(seeds)}",
        f"{median(seed['env_steps'] for seed in seeds):,.0f}",
    )


def _anchor(name: str, unit: str) -> str:
    """Returns the anchor that GitHub gives to a heading of docs/metrics.md."""
    heading = f"{name} ({unit})" if unit else name
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def main() -> None:
    for algo in ALGORITHMS:
        file = FOLDER / f"{algo}.md"
        file.write_text(page(algo, file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
