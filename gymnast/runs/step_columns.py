"""The columns of a step table: their names, units and meaning, declared once.

A checkpoint's `rollout.csv`, the inspector's table of an episode, its CSV and `api.steps` have these columns.
Rewards and values exist in two units, and the suffix of the column name says which: `_raw` is the reward of
the environment, `_learned` is what the algorithm learned from, after shaping, `normalize.reward_scale` and
`normalize.reward`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

ColumnGroup = Literal["observation", "input", "action", "policy", "reward", "value", "end"]
Table = Literal["both", "rollout", "episode"]
StepLists = dict[str, list[bool | int | float | str | None]]
"""Column -> values, one per step; None for a number that is not known."""


@dataclass(frozen=True)
class ColumnInfo:
    """A column of a step table."""

    name: str
    """Name of the column."""
    label: str
    """Short name for people, without the prefix of its group."""
    unit: str
    """Unit; empty for a number without one, for names and for yes or no."""
    doc: str
    """Meaning, in a sentence."""
    group: ColumnGroup
    """Subject of the column."""


@dataclass(frozen=True)
class ColumnSpec:
    """Declares a column, or with a name that ends with `/*` all columns with that prefix."""

    doc: str
    group: ColumnGroup
    label: str
    """Label; `*` stands for the rest of the name."""
    unit: str = ""
    table: Table = "both"
    """The tables that may have the column: only `rollout.csv`, only an episode's, or both."""


RAW, LEARNED = "reward", "learned reward"
"""Units of the columns `*_raw` and `*_learned`."""
COLUMNS: dict[str, ColumnSpec] = {
    "env": ColumnSpec(
        "index of the environment copy; with several agents, of the seat (match and agent)",
        "end",
        "env copy",
        table="rollout",
    ),
    "step": ColumnSpec("index of the step within the rollout or the episode", "end", "step"),
    "obs/*": ColumnSpec(
        "observation before the action, one column per component", "observation", "*"
    ),
    "input/*": ColumnSpec(
        "the network's input: the observation, normalized as in the checkpoint; not for images",
        "input",
        "*",
        table="episode",
    ),
    "memory/*": ColumnSpec(
        "hidden unit of a policy with memory before the step; the units that change most in the episode",
        "input",
        "memory *",
        table="episode",
    ),
    "action": ColumnSpec("name of the action taken (Discrete)", "action", "action"),
    "action/*": ColumnSpec(
        "action taken, one column per element: options counted from 0, numbers as the environment "
        "received them",
        "action",
        "*",
    ),
    "greedy": ColumnSpec(
        "whether the action, or every option in it, is the policy's most likely one",
        "action",
        "greedy",
    ),
    "p/*": ColumnSpec(
        "probability of each action or, with several elements, of each option `ELEMENT.OPTION`",
        "policy",
        "P(*)",
    ),
    "q/*": ColumnSpec(
        "Q-value of each action (Q-networks), by the policy that played the episode; not for training "
        "episodes",
        "policy",
        "Q(*)",
        LEARNED,
        "episode",
    ),
    "mean/*": ColumnSpec(
        "action at the mean of the distribution (continuous), as the environment would receive it",
        "policy",
        "mean *",
    ),
    "std/*": ColumnSpec(
        "standard deviation of the distribution (continuous), in the environment's units; not with "
        "`policy.squash`",
        "policy",
        "std *",
    ),
    "logprob": ColumnSpec(
        "log-probability of the action; in an episode's table, that of the action that the environment "
        "received, which may be clipped to its range",
        "policy",
        "log-probability",
        "nats",
    ),
    "entropy": ColumnSpec(
        "entropy of the action distribution, summed over elements", "policy", "entropy", "nats"
    ),
    "mask/*": ColumnSpec(
        "whether the environment's action mask allows the action or option", "policy", "* allowed"
    ),
    "reward_raw": ColumnSpec("reward of the environment", "reward", "reward", RAW),
    "term/*": ColumnSpec(
        "part of `reward_raw` that this reward term of a multi-agent environment contributed",
        "reward",
        "*",
        RAW,
        "episode",
    ),
    "shaping/*": ColumnSpec(
        "what this shaping term added to `reward_raw`, its weight included, before scaling",
        "reward",
        "*",
        RAW,
    ),
    "reward_learned": ColumnSpec(
        "reward used for learning: shaped, scaled, normalized", "reward", "learned reward", LEARNED
    ),
    "reward_so_far_raw": ColumnSpec(
        "sum of `reward_raw` since the later of episode start and rollout start",
        "reward",
        "reward so far",
        RAW,
    ),
    "return_to_go_raw": ColumnSpec(
        "sum of `reward_raw` from this step to the end of the episode or of the rollout, undiscounted",
        "reward",
        "return to go",
        RAW,
    ),
    "value_learned": ColumnSpec(
        "the critic's estimate by the policy version that acted; for Q-networks, the mean of the action "
        "values under the epsilon-greedy policy",
        "value",
        "value",
        LEARNED,
    ),
    "value_raw": ColumnSpec(
        "`value_learned` in raw units, if a factor converts it: no shaping, no `sign`",
        "value",
        "value",
        RAW,
    ),
    "value_normalized": ColumnSpec(
        "`value_learned` as the critic's output, normalized by the statistics of the checkpoint "
        "(`normalize.value`)",
        "value",
        "normalized value",
        table="episode",
    ),
    "return_learned": ColumnSpec(
        "return used for learning: the critic's target", "value", "return", LEARNED
    ),
    "advantage_learned": ColumnSpec(
        "advantage used for learning, before `algo.advantage_norm`; missing in an episode's table with "
        "`algo.baseline: batch`",
        "value",
        "advantage",
        LEARNED,
    ),
    "td_error_learned": ColumnSpec(
        "`reward_learned` plus gamma times the value of the next state, minus `value_learned`; the value "
        "after a termination is 0, and so is that after a truncation if the algorithm does not bootstrap",
        "value",
        "TD error",
        LEARNED,
    ),
    "value_error_learned": ColumnSpec(
        "`value_learned` minus the discounted sum of `reward_learned` from this step on; at a truncation, "
        "the value of the final observation is part of that sum if the algorithm bootstraps",
        "value",
        "value error",
        LEARNED,
        "episode",
    ),
    "expected_outcome": ColumnSpec(
        "return of the whole episode that the critic expected at this step, on the outcome scale from 0 "
        "(worst) to 1 (best)",
        "value",
        "expected outcome",
        table="episode",
    ),
    "terminated": ColumnSpec("the episode terminated with this step", "end", "terminated"),
    "truncated": ColumnSpec("the episode was truncated after this step", "end", "truncated"),
    "starts": ColumnSpec(
        "the observation is the first of an episode", "end", "starts", table="rollout"
    ),
    "info/*": ColumnSpec(
        "number in the `info` of the step: in `rollout.csv` only what shaping terms read, in an episode's "
        "table all",
        "observation",
        "info *",
    ),
}
"""Every column of a step table. `*_learned` and `value_raw` exist if an update used the rollout; advantages
and returns only if the algorithm computes them for the rollout; values only if it has a critic."""


def column_spec(name: str) -> ColumnSpec:
    """Returns the declaration of a column; raises KeyError if it is not declared."""
    if name in COLUMNS:
        return COLUMNS[name]
    return COLUMNS[f"{name.partition('/')[0]}/*"]


def describe_columns(
    names: Iterable[str], units: Mapping[str, str], notes: Mapping[str, str]
) -> list[ColumnInfo]:
    """Returns the descriptions of these columns. `units`: column -> its own unit, which replaces the declared
    one; the facts of an environment give those of observations. `notes`: column -> what is added to its
    meaning in this table."""
    infos: list[ColumnInfo] = []
    for name in names:
        spec, part = column_spec(name), name.partition("/")[2]
        label = spec.label.replace("*", part)
        doc = f"{spec.doc}: {notes[name]}" if name in notes else spec.doc
        infos.append(ColumnInfo(name, label, units.get(name, spec.unit), doc, spec.group))
    return infos
