"""Terms added to the reward that the learner sees. Scores are always of the raw return."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, JsonValue

from gymnast.config.schedule import Schedule
from gymnast.config.section import Section
from gymnast.text.closest import closest

OWN = "py:"
"""What the path of a user's own term begins with."""
INFO = "info"
"""The term that reads the info of every step."""
TOTAL = "total"
"""No term's name: the metric of all terms together has it."""


@dataclass(frozen=True)
class KnownTerm:
    path: str
    """`module:name` of what computes it."""
    description: str
    unit: str
    """One of what: the weight is the reward for one."""
    needs: tuple[str, ...] = ()
    """Names in `facts.observations`."""
    potential: bool = False
    """Pays for what is better and takes the same back for what is worse."""


TERMS = {
    "centred": KnownTerm(
        "gymnast.shaping.cartpole:centred",
        "Cost of the cart's distance from the middle.",
        "half track",
        ("cart position",),
    ),
    "energy": KnownTerm(
        "gymnast.shaping.mountain_car:energy",
        "Potential: the car's energy, of height and of speed.",
        "energy of rest at the flag",
        ("car position", "car velocity"),
        potential=True,
    ),
    "count": KnownTerm(
        "gymnast.shaping.counts:Counts",
        "Bonus for states seldom reached: 1 / sqrt(n) at the n-th visit.",
        "first visit",
    ),
    "late": KnownTerm(
        "gymnast.shaping.length:late",
        "Cost of every step of an episode after its first 200, or kwargs.after.",
        "step",
    ),
    "change": KnownTerm(
        "gymnast.shaping.change:change",
        "By how much a part of the observation rises in a step.",
        "unit of that part",
    ),
    "info": KnownTerm(
        "gymnast.shaping.info:Info",
        "A number in the info of every step, by kwargs.key.",
        "unit of that number",
    ),
    "hit": KnownTerm(
        "gymnast.shaping.pong:Hit",
        "Bonus for each time the player's paddle, on the right, sends the ball back.",
        "hit",
        ("ball x", "ball y", "ball x velocity", "player y"),
    ),
    "progress": KnownTerm(
        "gymnast.shaping.tables:Progress",
        "Potential: fewest steps to a rewarded end, by the environment's own transition table.",
        "step nearer",
        potential=True,
    ),
    "missed": KnownTerm(
        "gymnast.shaping.vizdoom:Missed",
        "Cost of every round that is fired and hits nobody.",
        "round",
    ),
    "kills": KnownTerm(
        "gymnast.shaping.vizdoom:Kills",
        "Bonus for every monster killed.",
        "monster",
    ),
    "hurt": KnownTerm(
        "gymnast.shaping.vizdoom:Hurt",
        "Cost of the health that is lost.",
        "point of health",
    ),
}
"""What may be asked for by name."""


def _term_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or name == TOTAL:
        raise ValueError(f"{name!r} cannot name a term (expected a word other than {TOTAL})")
    return name


TermName = Annotated[str, AfterValidator(_term_name)]


class TermConfig(Section):
    term: str = ""
    """One of those known, or `py:package.module:name` of your own; empty: the one of this name."""
    weight: Schedule = Schedule.constant(1.0)
    """Reward for one of it. 0 leaves the term on record without effect."""
    unit: str = ""
    """One of what; empty: what the term says itself."""
    kwargs: dict[str, JsonValue] = {}
    """The term's own settings."""


def known_term(name: str, cfg: TermConfig) -> KnownTerm:
    """What a valid entry of `shaping` asks for."""
    term = cfg.term or name
    if term.startswith(OWN):
        return KnownTerm(term.removeprefix(OWN), f"A term of your own, {term}.", cfg.unit)
    return TERMS[term]


def step_keys(terms: Mapping[str, TermConfig]) -> tuple[str, ...]:
    """Keys of the info of every step that these terms are made of."""
    wanted = (cfg for name, cfg in terms.items() if (cfg.term or name) == INFO)
    return tuple(sorted({str(cfg.kwargs.get("key", "")) for cfg in wanted}))


def shaping_conflicts(
    terms: Mapping[str, TermConfig], observations: Sequence[str]
) -> list[tuple[str, str]]:
    """What is wrong with these terms where observations have these names: (dotted key, what)."""
    found: list[tuple[str, str]] = []
    for name, cfg in terms.items():
        term = cfg.term or name
        if term.startswith(OWN):
            continue
        if term not in TERMS:
            known = f"{', '.join(TERMS)}, or py:package.module:name of your own"
            problem = f"{term} is no term (known: {known}){closest(term, TERMS)}"
            found.append((f"shaping.{name}.term" if cfg.term else f"shaping.{name}", problem))
        elif term == INFO and not (isinstance(key := cfg.kwargs.get("key"), str) and key):
            problem = f"is {key!r} (expected a key of the environment's info)"
            found.append((f"shaping.{name}.kwargs.key", problem))
        elif missing := [part for part in TERMS[term].needs if part not in observations]:
            declared = ", ".join(observations) or "nothing"
            problem = f"{term} is of an observation of {', '.join(missing)}"
            hint = f"facts.observations declares {declared}"
            found.append((f"shaping.{name}", f"{problem}, which is not there ({hint})"))
    return found
