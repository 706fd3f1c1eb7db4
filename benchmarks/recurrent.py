"""Speed of PPO with an LSTM: both engines and sb3-contrib's RecurrentPPO in turn, in CPU time on one core.

benchmarks/setup                                # once: RecurrentPPO in a virtual environment of its own
python -m benchmarks.recurrent                  # about four minutes; writes JSON and the page
python -m benchmarks.recurrent --quick          # one short round, nothing written
"""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks import measurement, sample
from benchmarks.code_revision import require_same_code
from benchmarks.libraries import PEERS
from benchmarks.results import median_speed, ratios, speed
from benchmarks.tables import ratio_text, rounded, table
from benchmarks.tasks import RECURRENT, Task

REPETITIONS = 5
PEER = "recurrent"
WHO = {
    "ours": "gymnast, native engine",
    "torch": "gymnast, torch engine",
    PEER: PEERS[PEER].label,
}
QUICK = 0.25
"""Fraction of the budget in a quick run."""


def main() -> None:
    options = measurement.parse_options(__doc__, REPETITIONS)
    absent = PEERS[PEER].why_missing()
    who = [name for name in WHO if name != PEER or absent is None]
    samples: dict[str, Any] = {letter: {name: [] for name in who} for letter in RECURRENT}
    entry = measurement.new_entry("recurrent") | {
        "tasks": samples,
        "absent": absent,
        "versions": {},
    }
    with sample.pin_to_cores({measurement.benchmark_core()}):
        for number in range(options.repetitions):
            for letter, task in RECURRENT.items():
                for name in who:
                    one = _sample(name, task, QUICK if options.quick else 1.0)
                    if "source" in one:
                        require_same_code(one.pop("source"), entry["source"])
                    entry["versions"][name] = one.pop("versions")
                    samples[letter][name].append(one)
                speeds = (f"{WHO[n]} {speed(of[-1]):,.0f}/s" for n, of in samples[letter].items())
                print(f"{number + 1} {letter}: {', '.join(speeds)}", flush=True)
    if absent is not None:
        print(f"without {WHO[PEER]}: {absent}")
    measurement.save_entry("recurrent", entry, options.quick)


def _sample(name: str, task: Task, scale: float) -> dict[str, Any]:
    """Returns a sample. Budgets differ, so that each is timed for about as long."""
    if name == PEER:
        return sample.peer(PEER, task.letter, task.scaled_budget(scale))
    if name == "torch":
        return sample.ours(task.letter, task.scaled_budget(2 * scale), 1, ("engine=torch",))
    return sample.ours(task.letter, task.scaled_budget(scale * task.budget_factor))


def section(found: dict[str, Any]) -> str:
    rows = []
    for letter, samples in found["tasks"].items():
        task = RECURRENT[letter]
        for name, of in samples.items():
            ratio = "" if name == "ours" else ratio_text(ratios(samples, name))
            returns = [x for one in of if (x := one["episode_return"]) is not None]
            shown = f"{median(returns):.0f}" if returns else ""
            settings = f"{task.n_envs} x {task.n_steps}, {task.epochs} epochs"
            rows.append([settings, WHO[name], rounded(median_speed(of)), ratio, shown])
    head = ("copies x steps", "", "env steps per CPU second", "native engine is, times", "return")
    missing = f"\n\nWithout {WHO[PEER]}: {found['absent']}" if found["absent"] else ""
    surroundings = measurement.info_text(found)
    return _SECTION.format(table=table(head, rows), missing=missing, surroundings=surroundings)


_SECTION = """\
PPO on CartPole without its two velocities, on one core and one thread: an LSTM of 64 units and a hidden
layer of 64, for policy and value each; minibatches of 256 steps. 32 steps and 20 epochs are the settings of
RL Baselines3 Zoo for this task. Gradients pass through the whole rollout. Timed is learning, as in the
tables above.

{table}{missing}

{surroundings}"""


if __name__ == "__main__":
    main()
