"""Declares where a setting has an effect, at its field: `Annotated[..., Applies("to images", ...)]`.

A field without a declaration always has an effect. A declaration at a section holds for all of its fields.
Training reports settings that the user gave and that have no effect (`training.lifecycle.unused_settings`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymnast.config.numbers import OFF
from gymnast.config.section import Section

if TYPE_CHECKING:
    from gymnast.config.config import Config


@dataclass(frozen=True)
class Context:
    """Everything that decides whether a setting has an effect: the whole config and the policy's spaces."""

    config: Config
    has_images: bool
    """True if an entry of the observation is an image."""
    has_vectors: bool
    """True if an entry of the observation is a vector of numbers."""
    has_embeddings: bool
    """True if an entry is embedded: Discrete, MultiDiscrete, or a vector next to an image."""
    has_continuous_actions: bool


@dataclass(frozen=True)
class Applies:
    """Declares that a setting has an effect only under a condition."""

    condition_text: str
    """Completes the sentence "It applies only ..."."""
    condition: Callable[[Context], bool]


TO_IMAGES = Applies("to image observations", lambda on: on.has_images)
TO_CONTINUOUS_ACTIONS = Applies("to continuous actions", lambda on: on.has_continuous_actions)
TO_BUILTIN_LAYERS = Applies(
    "without policy.module, which replaces all layers", lambda on: on.config.policy.module is None
)
WITH_A_CRITIC = Applies(
    "to algorithms that learn a critic (of REINFORCE: algo.baseline=learned)",
    lambda on: getattr(on.config.algo, "baseline", "learned") == "learned" and _samples(on),
)
WITH_EVALUATIONS = Applies(
    "where evaluations are on (eval.every)", lambda on: on.config.eval.every is not None
)


def ineffective_settings(keys: Iterable[str], context: Context) -> list[tuple[str, str]]:
    """Returns those of the settings `keys` (dotted) that have no effect, as (key, "it applies only ..."). A
    setting at its default is never reported (see `_declarations_unless_default`): a preset variant sets it to
    switch off what it inherits."""
    ineffective: list[tuple[str, str]] = []
    for key in keys:
        declarations = _declarations_unless_default(key, context.config)
        failed = [each.condition_text for each in declarations if not each.condition(context)]
        if failed:  # one reason is enough: fixing it shows the next
            ineffective.append((key, f"it applies only {failed[0]}"))
    return ineffective


def _declarations_unless_default(key: str, config: Section) -> Iterator[Applies]:
    """Yields every declaration on the path to a setting, which are those of its sections and its own; nothing
    if the setting is at its default, or if there is no such setting."""
    declarations: list[Applies] = []
    section = config
    for part in key.split("."):
        field = type(section).model_fields.get(part)
        if field is None:
            return
        declarations += (entry for entry in field.metadata if isinstance(entry, Applies))
        value = getattr(section, part)
        if not isinstance(value, Section):
            # A validated `off` is None, but its default is the text.
            default = None if value is None and field.default == OFF else field.default
            if value != default:
                yield from declarations
            return
        section = value


def _samples(on: Context) -> bool:
    return on.config.algo.action_selection == "sample"
