"""docs/metrics.md, made from the table. `python -m gymnast.metrics.docs` writes it anew."""

from __future__ import annotations

from pathlib import Path

from gymnast.metrics.explain import catalogue, how_it_is_judged
from gymnast.metrics.metric import Metric
from gymnast.metrics.specs import SECTIONS

PATH = Path(__file__).parents[2] / "docs" / "metrics.md"

_HEAD = """# Metrics

<!-- Generated from gymnast/metrics/families by `python -m gymnast.metrics.docs`; do not edit. -->

Every number a run reports, declared once. `gymnast metrics NAME` explains one in the terminal.

- A row is written per rollout and carries every clock. Keys are `[scope:]metric`: an evaluation's
  result is `eval:episode/return`, of the version `eval:clock/env_steps`. Where several agents act, the
  scope names the role, and in evaluations the opponent: `seeker:policy/kl`,
  `eval/seeker/weak:match/win_rate` ([self-play](self-play.md)).
- Outside its **bounds** a value is impossible: an error alert at once, as for NaN and infinity.
- Outside its **healthy** range training is likely going wrong: a warning once the mean of the last
  5 rows has been outside for 5 rows, gone when it is back.
- Spread is the standard deviation, in the value's own unit. A share is stored as 0..1 and shown in
  per cent. What is stored, exported and compared is never rounded.
- **Exact** numbers repeat bit for bit on the same machine; those that read a wall clock are marked.
- `.K` stands for the place, from 0, of an action or of a number of an action or observation; spaces of
  more than 32 have none. In a run each bears its label and its range, from the space and the facts.
  `OUTCOME` stands for a way in which a match may end.
- A preset's `metrics:` declares your own numbers from the environment's `info`.
- `env/NAME` is what was drawn for a parameter of `env.randomize`: [noise.md](noise.md).
"""


def markdown() -> str:
    parts = [_HEAD]
    metrics = catalogue()
    for section, title in SECTIONS.items():
        entries = [_entry(m) for m in metrics.values() if m.section == section]
        if entries:
            parts.append(f"## {section}: {title[0].lower()}{title[1:]}\n")
            parts += entries
    return "\n".join(parts)


def _entry(metric: Metric) -> str:
    unit = f" ({metric.unit})" if metric.unit else ""
    lines = [f"### `{metric.name}`{unit}\n", f"{metric.description}\n"]
    facts = {
        "better": metric.better,
        **how_it_is_judged(metric),
        "exact": "" if metric.exact else "no",
    }
    lines += [f"- {title}: {text}" for title, text in facts.items() if text]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(markdown(), encoding="utf-8")
