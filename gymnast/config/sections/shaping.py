"""Reward shaping: terms added to the training reward. Evaluation scores are always raw returns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from gymnast.config.numbers import PlainField
from gymnast.config.schedule import Schedule
from gymnast.config.section import Section
from gymnast.text.suggestions import did_you_mean

CUSTOM_PREFIX = "py:"
"""Prefix of the path of a user-defined term."""
INFO = "info"
"""Name of the term that reads the `info` of every step."""
TOTAL = "total"
"""Reserved: the metric that sums all terms has this name, so no term may."""


@dataclass(frozen=True)
class TermSpec:
    path: str
    """`module:name` of its implementation."""
    description: str
    unit: str
    """Unit that the term counts; the weight is the reward per unit."""
    required_obs: tuple[str, ...] = ()
    """Observation components that it reads, by their names in `facts.observations`."""
    is_potential: bool = False
    """True for potential-based shaping (Ng et al. 1999), which rewards progress and charges the same for
    losing it again."""


TERMS = {
    "centered": TermSpec(
        "gymnast.shaping.cartpole:center_penalty",
        "Penalty for the cart's distance from the center.",
        "half track",
        ("cart position",),
    ),
    "energy": TermSpec(
        "gymnast.shaping.mountain_car:energy",
        "Potential: the car's energy, potential plus kinetic.",
        "energy at rest at the flag",
        ("car position", "car velocity"),
        is_potential=True,
    ),
    "count": TermSpec(
        "gymnast.shaping.counts:Counts",
        "Count-based exploration bonus: 1 / sqrt(n) at the n-th visit of a state.",
        "first visit",
    ),
    "late": TermSpec(
        "gymnast.shaping.length:late_penalty",
        "Penalty for every step of an episode after its first 200, or kwargs.after.",
        "step",
    ),
    "change": TermSpec(
        "gymnast.shaping.change:component_change",
        "Increase of one observation component in a step.",
        "unit of that component",
    ),
    "info": TermSpec(
        "gymnast.shaping.info:InfoTerm",
        "A number from the `info` of every step, selected by kwargs.key.",
        "unit of that number",
    ),
    "hit": TermSpec(
        "gymnast.shaping.pong:PaddleHits",
        "Bonus for each time the agent's paddle, on the right, returns the ball.",
        "hit",
        ("ball x", "ball y", "ball x velocity", "player y"),
    ),
    "progress": TermSpec(
        "gymnast.shaping.tables:Progress",
        "Potential: fewest steps to a rewarded terminal state, by the environment's transition table.",
        "step closer",
        is_potential=True,
    ),
    "missed": TermSpec(
        "gymnast.shaping.vizdoom:MissedShots",
        "Penalty for every shot that hits nobody.",
        "round",
    ),
    "kills": TermSpec(
        "gymnast.shaping.vizdoom:Kills",
        "Bonus for every monster killed.",
        "monster",
    ),
    "hurt": TermSpec(
        "gymnast.shaping.vizdoom:HealthLoss",
        "Penalty for lost health.",
        "point of health",
    ),
}
"""Terms that ship with gymnast, by name."""


def _term_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or name == TOTAL:
        raise ValueError(f"{name!r} cannot name a term (expected a word other than {TOTAL})")
    return name


TermName = Annotated[str, AfterValidator(_term_name)]


class TermConfig(Section):
    term: str = ""
    """Name of a built-in term, or `py:package.module:name` of your own. Empty: the built-in term that the
    entry is named after."""
    weight: Schedule = Schedule.constant(1.0)
    """Reward per unit of the term. With 0 the term is recorded but has no effect."""
    unit: str = ""
    """Unit of the term. Empty: the unit that the term declares."""
    kwargs: dict[str, PlainField] = {}
    """Keyword arguments of the term."""


def term_spec(name: str, cfg: TermConfig) -> TermSpec:
    """Returns the term that a valid entry of `shaping` refers to. `name`: the name of the entry."""
    term = cfg.term or name
    if term.startswith(CUSTOM_PREFIX):
        return TermSpec(term.removeprefix(CUSTOM_PREFIX), f"User-defined term {term}.", cfg.unit)
    return TERMS[term]


def step_info_keys(terms: Mapping[str, TermConfig]) -> tuple[str, ...]:
    """Returns the keys of every step's `info` that these terms read, sorted."""
    info_terms = (cfg for name, cfg in terms.items() if (cfg.term or name) == INFO)
    return tuple(sorted({str(cfg.kwargs.get("key", "")) for cfg in info_terms}))


def shaping_conflicts(
    terms: Mapping[str, TermConfig], observations: Sequence[str]
) -> list[tuple[str, str]]:
    """Returns what is wrong with these terms, as (dotted key, message). `observations`: the names of the
    components in `facts.observations`."""
    conflicts: list[tuple[str, str]] = []
    for name, cfg in terms.items():
        term = cfg.term or name
        if term.startswith(CUSTOM_PREFIX):
            continue  # user code: imported and checked when the run starts
        if term not in TERMS:
            known = f"{', '.join(TERMS)}, or py:package.module:name of your own"
            problem = f"unknown shaping term {term} (known: {known}){did_you_mean(term, TERMS)}"
            conflicts.append((f"shaping.{name}.term" if cfg.term else f"shaping.{name}", problem))
        elif term == INFO and not (isinstance(key := cfg.kwargs.get("key"), str) and key):
            problem = f"is {key!r} (expected a key of the environment's info)"
            conflicts.append((f"shaping.{name}.kwargs.key", problem))
        elif missing := [part for part in TERMS[term].required_obs if part not in observations]:
            declared = ", ".join(observations) or "nothing"
            problem = f"{term} needs the observation components {', '.join(missing)}"
            hint = f"facts.observations declares {declared}"
            conflicts.append((f"shaping.{name}", f"{problem}, which are not declared ({hint})"))
    return conflicts
