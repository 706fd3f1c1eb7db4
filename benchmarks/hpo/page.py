"""The page of the comparison, from its stored figures. No number is typed by hand."""

from __future__ import annotations

from typing import Any

from benchmarks.hpo.compare import CHOSEN_ON, EXHAUSTIVE
from benchmarks.hpo.grid import BUDGET, CONFIGURATIONS, EPISODES, EVERY, SETTINGS, TASKS
from benchmarks.hpo.regret import n_seen
from benchmarks.measurement import info_text
from benchmarks.tables import table

TITLES = {
    "area": "Area under the evaluation curve",
    "score": "Return at the end of training",
}
"""Objective -> heading. The first is the default objective of `gymnast sweep`."""


def page(entry: dict[str, Any]) -> str:
    """Returns the content of docs/sweeps-benchmark.md for a stored comparison."""
    sections = "\n\n".join(
        f"## {TITLES[name]}\n\n{_section(tasks)}" for name, tasks in entry["objectives"].items()
    )
    return _PAGE.format(
        configurations=len(CONFIGURATIONS),
        seeds=entry["seeds"],
        seen=_seeds(range(n_seen(entry["seeds"]))),
        fresh=_seeds(range(n_seen(entry["seeds"]), entry["seeds"])),
        chosen_on=_chosen_on(entry["seeds"]),
        exhaustive=EXHAUSTIVE,
        exhaustive_steps=f"{len(CONFIGURATIONS) * n_seen(entry['seeds']) * BUDGET / 1e6:.0f} million",
        trainings=f"{len(CONFIGURATIONS) * entry['seeds'] * len(TASKS):,}",
        steps=f"{BUDGET // 1000}k",
        every=f"{EVERY // 1000}k",
        episodes=EPISODES,
        budget=f"{entry['budget'] / 1e6:g} million",
        whole=entry["budget"] // BUDGET,
        repetitions=entry["repetitions"],
        settings=", ".join(f"`{key}={_plain(value)}`" for key, value in SETTINGS.items()),
        sections=sections,
        table=info_text(entry["table"]),
        cpu=f"{entry['table']['cpu_seconds'] / 60:.0f}",
        others=_others(entry["table"]["trained_at_others"]),
        comparison=info_text(entry),
    )


def _section(tasks: dict[str, Any]) -> str:
    names = list(next(iter(tasks.values()))["methods"])
    rows = [[name, *(_regret(tasks[task]["methods"][name]) for task in tasks)] for name in names]
    mean = {n: sum(tasks[t]["methods"][n]["regret"] for t in tasks) / len(tasks) for n in names}
    rows = [[*row, f"{mean[row[0]]:.1f}"] for row in rows]
    scores = [
        [name, *(f"{tasks[task]['methods'][name]['score']:.1f}" for task in tasks)]
        for name in names
    ]
    scores.append(["best configuration", *(f"{of['best_score']:.1f}" for of in tasks.values())])
    scores.append(["average configuration", *(f"{of['mean_score']:.1f}" for of in tasks.values())])
    best = "; ".join(
        f"{task}: learning rate {of['best']['algo.lr']:g}, gamma {of['best']['algo.gamma']:g}, "
        f"clip {of['best']['algo.clip']:g}"
        for task, of in tasks.items()
    )
    return _SECTION.format(
        regrets=table(("regret, %", *tasks, "mean"), rows),
        scores=table(("mean return", *tasks), scores),
        best=best,
    )


def _seeds(numbers: range) -> str:
    """Returns the names of seeds: `seeds 0, 1 and 2`."""
    *first, last = map(str, numbers)
    return f"seeds {', '.join(first)} and {last}" if first else f"seed {last}"


def _chosen_on(n_seeds: int) -> str:
    """Returns what is known about the seeds on which the options of our search were chosen."""
    judging = range(n_seen(n_seeds), n_seeds)
    where = f"These options were chosen on {_seeds(range(len(CHOSEN_ON)))} of this table"
    if any(seed in CHOSEN_ON for seed in judging):
        return f"{where}, so their figures may be too good:\n  the judging seeds are among them."
    return f"{where}, and\n  never on the seeds that judge."


def _others(count: int) -> str:
    """Returns a sentence about the trainings that were made at other revisions; empty if there are none."""
    if not count:
        return ""
    return (
        f"\n{count} of the trainings were made at an earlier revision; all of the others of their seeds were "
        "repeated, with the same curves."
    )


def _regret(found: dict[str, float]) -> str:
    if found["low"] == found["high"]:  # the same choice in every repetition
        return f"{found['regret']:.1f}"
    return f"{found['regret']:.1f} ({found['low']:.1f} to {found['high']:.1f})"


def _plain(value: object) -> str:
    return str(value).replace(" ", "")


_SECTION = """\
{regrets}

Mean return at the end of training of what each method recommends, on the fresh seeds:

{scores}

Best configurations: {best}."""

_PAGE = """\
# Search methods compared

How good is the configuration that a search recommends? The answer needs the value of every
configuration, so all {configurations} of HPO-RL-Bench's PPO space (Shala et al. 2024: learning rate
1e-6 to 1e-1, gamma 0.8 to 1, clip 0.2 to 0.4) were trained on four tasks with {seeds} seeds each:
{trainings} trainings of {steps} env steps. Searches are then answered from this table, and each trial
costs the env steps that it would have trained. Each training evaluates {episodes} episodes every
{every} env steps, on the same seeds for all.

- **A search** may use {budget} env steps, as many as {whole} whole trainings. Searches train on {seen}
  only; what they recommend is judged on {fresh} only, the fresh seeds, which no search sees. A search is
  repeated {repetitions} times: each time, the search itself has another seed, and the seeds that it sees
  come in another order.
- **Regret** is how much worse the recommended configuration is on the fresh seeds than the best one, in
  percent of the difference between the best and an average configuration (which a random choice would
  give). The best is the one with the highest mean over all {seeds} seeds; on the fresh seeds alone another
  one may be better, so a regret can be negative. In parentheses: 95 % bootstrap interval of the mean over
  the repetitions. All repetitions share one table and its fresh seeds, whose own noise is not part of the
  interval.
- **random search** trains different random configurations to the end, with one seed each. **Optuna's
  default** is `create_study` with its default sampler (TPE) and pruner (median), which gets a report
  after every evaluation. **ASHA** is asynchronous successive halving (Li et al. 2020) with eta 4. These
  three recommend the best trial, as they are usually used; gymnast recommends by a model of all trials.
- **gymnast, default** is `gymnast sweep` with its default options (TPE, whole runs, further seeds for the
  best), except that not the number of trials but the env steps limit it. It ends earlier once every
  configuration was tried and the best have all of their seeds.
- **gymnast, surrogate** is `gymnast sweep --sampler surrogate` with `final_share: 0.16`: it
  tries a configuration once, and repeats the best on further seeds. {chosen_on}
- **{exhaustive}** is a yardstick beyond the budget: it trains all configurations on all seeds that a
  search sees ({exhaustive_steps} env steps) and recommends the best mean. Its regret is what the noise
  between seeds costs; a method can have a lower one if its model averages over similar configurations, or
  by chance.

{sections}

## The table

All other settings are the same for every task, and nothing of our presets is used: {settings}. Like the
defaults of Stable-Baselines3, except for the numbers of copies and steps, the minibatches, and the
normalization of observations and rewards, without which PPO does not solve MountainCar-v0 in {steps}
env steps. HPO-RL-Bench trained for longer with Stable-Baselines3's defaults, and reports the highest of
noisy evaluations: its figures cannot be compared with these. The table is `benchmarks/hpo/table.npz`:
{table} It took {cpu} minutes on one core.{others}

The comparison: {comparison}
"""
