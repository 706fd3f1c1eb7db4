"""Where a setting has an effect, declared at its field: `Annotated[..., Applies("to images", ...)]`.

A field without a declaration always has one. What is declared at a section holds for all of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gymnast.config.numbers import OFF
from gymnast.config.section import Section


@dataclass(frozen=True)
class Context:
    """What decides whether a setting has an effect: the whole config, and the spaces that are learned."""

    config: Any
    has_images: bool
    """Some of what the policy observes are images."""
    has_vectors: bool
    """Some are numbers."""
    has_embeddings: bool
    """Some are embedded: Discrete and MultiDiscrete ones, and vectors next to images."""
    has_continuous_actions: bool


@dataclass(frozen=True)
class Applies:
    where: str
    """Completes the sentence "It applies only ..."."""
    holds: Callable[[Context], bool]


TO_IMAGES = Applies("to image observations", lambda on: on.has_images)
TO_CONTINUOUS_ACTIONS = Applies("to continuous actions", lambda on: on.has_continuous_actions)
TO_OWN_LAYERS = Applies(
    "without policy.module, which replaces all layers", lambda on: on.config.policy.module is None
)
WITH_A_CRITIC = Applies(
    "to algorithms that learn a critic (of REINFORCE: algo.baseline=learned)",
    lambda on: getattr(on.config.algo, "baseline", "learned") == "learned" and _samples(on),
)
WITH_EVALUATIONS = Applies(
    "where evaluations are on (eval.every)", lambda on: on.config.eval.every is not None
)


def without_effect(keys: Iterable[str], context: Context) -> list[tuple[str, str]]:
    """Of these settings those that have no effect: dotted key, and where they would have one. One that
    stands at its default is none of them: that is how a variant undoes what it inherits."""
    found: list[tuple[str, str]] = []
    for key in keys:
        failed = [one.where for one in _declared(key, context.config) if not one.holds(context)]
        if failed:
            found.append((key, f"it applies only {failed[0]}"))
    return found


def _declared(key: str, config: Section) -> Iterator[Applies]:
    """Every declaration on the way to a setting that is not at its default."""
    found: list[Applies] = []
    section: Any = config
    for part in key.split("."):
        field = type(section).model_fields.get(part)
        if field is None:
            return
        found += (one for one in field.metadata if isinstance(one, Applies))
        section = getattr(section, part)
        if not isinstance(section, Section):
            default = None if section is None and field.default == OFF else field.default
            if section != default:
                yield from found
            return


def _samples(on: Context) -> bool:
    return on.config.algo.acts == "sample"
