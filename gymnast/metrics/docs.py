"""Generates docs/metrics.md from the metric table: `python -m gymnast.metrics.docs`."""

from __future__ import annotations

from pathlib import Path

from gymnast.metrics.explain import catalog, computation_and_checks, describe
from gymnast.metrics.metric import Metric
from gymnast.metrics.specs import SECTIONS

PATH = Path(__file__).parents[2] / "docs" / "metrics.md"

_HEAD = """# Metrics

<!-- Generated from gymnast/metrics/families by `python -m gymnast.metrics.docs`; do not edit. -->

All metrics that a run reports. `gymnast metrics NAME` explains one in the terminal.

- Each rollout writes one row, which contains every clock. Keys have the form `[scope:]metric`: the result of
  an evaluation is `eval:episode/return`, and `eval:clock/env_steps` is the version of the policy that it
  scored. With several roles, the scope names the role, and in evaluations also the opponent:
  `seeker:policy/kl`, `eval/seeker/weak:match/win_rate` ([self-play](self-play.md)).
- A value outside its **bounds** is impossible and raises an error alert at once, as NaN and infinity do.
- A value outside its **healthy** range means that training is probably going wrong. A warning is raised when
  the mean of the last 5 rows has been outside for 5 rows, and resolved when it is back.
- A share is stored as 0..1 and displayed in percent. Values that are stored, exported or compared are never
  rounded.
- **Exact** metrics repeat bit for bit on the same machine; metrics that read a wall clock are marked.
- `.K` is an index, from 0, of a discrete action, a dimension of a Box action or a component of the
  observation; spaces with more than 32 have no such metrics. In a run, each has the label and the range of
  its dimension, from the space and the facts. `OUTCOME` is one of the possible outcomes of a match.
- A preset's `metrics:` declares metrics of your own, from the environment's `info`.
- `env/NAME` is the value that was drawn for a parameter of `env.randomize`: [noise.md](noise.md).
"""


def markdown() -> str:
    """Returns the text of docs/metrics.md."""
    parts = [_HEAD]
    metrics = catalog()
    for section, title in SECTIONS.items():
        entries = [_entry(m) for m in metrics.values() if m.section == section]
        if entries:
            parts.append(f"## {section}: {title[0].lower()}{title[1:]}\n")
            parts += entries
    return "\n".join(parts)


def _entry(metric: Metric) -> str:
    """Returns the Markdown section of one metric in docs/metrics.md."""
    unit = f" ({metric.unit})" if metric.unit else ""
    lines = [f"### `{metric.name}`{unit}\n", f"{metric.description}\n"]
    facts = {
        "better": metric.better,
        **computation_and_checks(describe(metric)),
        "exact": "" if metric.exact else "no",
    }
    lines += [f"- {title}: {text}" for title, text in facts.items() if text]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(markdown(), encoding="utf-8")
