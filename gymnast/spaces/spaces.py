"""Converts Gymnasium spaces to gymnast's space descriptions, and these to JSON and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gymnast.errors import ConfigError, EnvError
from gymnast.spaces.actions import (
    Action,
    BoxAction,
    DiscreteAction,
    MultiBinaryAction,
    MultiDiscreteAction,
)
from gymnast.spaces.composite_action import CompositeAction
from gymnast.spaces.observations import (
    BoxObs,
    CompositeObs,
    DiscreteObs,
    ImageObs,
    MultiDiscreteObs,
    Observation,
    blank_obs,
)

if TYPE_CHECKING:
    from gymnast.config.facts import Component

__all__ = [
    "Action",
    "BoxAction",
    "BoxObs",
    "CompositeAction",
    "CompositeObs",
    "DiscreteAction",
    "DiscreteObs",
    "ImageObs",
    "MultiBinaryAction",
    "MultiDiscreteAction",
    "MultiDiscreteObs",
    "Observation",
    "as_masks",
    "as_rows",
    "blank_obs",
    "convert_action_space",
    "convert_obs_space",
    "from_json",
    "space_text",
    "to_json",
    "with_declared_ranges",
    "with_image_channels",
]


_KINDS = {
    k.__name__: k
    for k in (
        BoxObs,
        DiscreteObs,
        MultiDiscreteObs,
        ImageObs,
        CompositeObs,
        DiscreteAction,
        MultiDiscreteAction,
        MultiBinaryAction,
        BoxAction,
        CompositeAction,
    )
}
_COMPOSITE = {"CompositeObs": CompositeObs, "CompositeAction": CompositeAction}
_OBSERVATIONS = "Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple of these"
_ACTIONS = "Discrete, MultiDiscrete, MultiBinary, Box, and Dict and Tuple of these"
MAX_INTEGERS = 1024
"""Largest range of an element of a Box of integers as an action: each value is an option of its own."""


def convert_obs_space(space: Any) -> Observation:
    """Returns the description of an observation space. Raises EnvError if its type is not supported.

    A Box of uint8 with two or three axes is an image; any other Box is a vector.
    """
    # Types are compared by name, so that gymnasium need not be imported.
    kind = type(space).__name__
    if kind == "Discrete":
        return DiscreteObs(int(space.n), int(space.start))
    if kind == "MultiDiscrete":
        return MultiDiscreteObs(*_counts(space))
    if kind == "MultiBinary":
        n = int(np.prod(space.shape))
        return BoxObs(tuple(space.shape), (0.0,) * n, (1.0,) * n)
    if kind == "Box" and space.dtype == np.uint8 and len(space.shape) in (2, 3):
        shape = tuple(space.shape)
        # the network divides by the highest byte, so an all-zero range must not give 0
        return ImageObs(shape, max(int(space.high.max()), 1), _likely_channels(shape))
    if kind == "Box" and np.issubdtype(space.dtype, np.complexfloating):
        raise EnvError(f"observations of complex numbers ({space}) are not supported")
    if kind == "Box":
        return BoxObs(tuple(space.shape), *_limits(space))
    if kind in ("Dict", "Tuple") and len(space.spaces) > 0:
        return _composite(kind, space)
    raise EnvError(
        f"{kind} observations ({space}) are not supported; supported are {_OBSERVATIONS}"
    )


def convert_action_space(space: Any) -> Action:
    """Returns the description of an action space. Raises EnvError if its type is not supported."""
    kind = type(space).__name__
    if kind == "Discrete":
        return DiscreteAction(int(space.n), int(space.start))
    if kind == "MultiDiscrete":
        return MultiDiscreteAction(*_counts(space))
    if kind == "MultiBinary":
        return MultiBinaryAction(tuple(space.shape))
    if kind == "Box" and np.issubdtype(space.dtype, np.floating):
        return BoxAction(tuple(space.shape), *_limits(space))
    if kind == "Box" and np.issubdtype(space.dtype, np.integer):
        return _integer_action(space)
    if kind in ("Dict", "Tuple") and len(space.spaces) > 0:
        return _composite_action(kind, space)
    what = f"Box actions of {space.dtype}" if kind == "Box" else f"{kind} actions"
    raise EnvError(f"{what} ({space}) are not supported; supported are {_ACTIONS}")


def _integer_action(space: Any) -> Action:
    """Returns a Box of integers as one option per integer. Raises EnvError if there are too many."""
    low, high = ([int(x) for x in np.ravel(bound)] for bound in (space.low, space.high))
    n = tuple(top - bottom + 1 for bottom, top in zip(low, high, strict=True))
    if max(n) > MAX_INTEGERS:
        what = f"Box actions of {space.dtype} with more than {MAX_INTEGERS:,} values per element"
        raise EnvError(f"{what} ({space}) are not supported", fix="use a Box of floats and round")
    return MultiDiscreteAction(tuple(space.shape), n, tuple(low), str(space.dtype))


def space_text(space: Observation | Action) -> str:
    """Returns a short text for people, such as `(3, 4)` or `1 of 5`."""
    if isinstance(space, Action):
        return space.text
    if isinstance(space, DiscreteObs):
        return f"1 of {space.n}"
    if isinstance(space, MultiDiscreteObs):
        return f"1 each of {', '.join(map(str, space.n))}"
    if isinstance(space, CompositeObs):
        return f"({', '.join(f'{name} {space_text(entry)}' for name, entry in space.entries)})"
    return str(space.shape)


def to_json(space: Observation | Action) -> dict[str, Any]:
    """Returns a JSON description of a space, for `from_json`."""
    if isinstance(space, CompositeObs | CompositeAction):
        entries = [[name, to_json(entry)] for name, entry in space.entries]
        # "kind" is the class here, so "Dict" or "Tuple" is stored as "of".
        of = space.kind if isinstance(space, CompositeObs) else space.name
        return {"kind": type(space).__name__, "of": of, "entries": entries}
    assert is_dataclass(space)
    return {"kind": type(space).__name__, **asdict(space)}


def from_json(stored: dict[str, Any]) -> Any:
    """Returns the space, an Observation or an Action, from its description by `to_json`: `kind` is its class,
    the other keys are its fields."""
    if stored["kind"] in _COMPOSITE:
        entries = tuple((name, from_json(entry)) for name, entry in stored["entries"])
        return _COMPOSITE[stored["kind"]](stored["of"], entries)
    fields: dict[str, Any] = {  # JSON has lists only; the descriptions must be hashable
        k: tuple(v) if isinstance(v, list) else v for k, v in stored.items() if k != "kind"
    }
    return _KINDS[stored["kind"]](**fields)


def with_declared_ranges(obs: Observation, components: tuple[Component, ...]) -> Observation:
    """Returns a vector space with the declared ranges as its bounds, also where they are wider. `components`:
    `facts.observations`, one for each number of the vector, in order. If their number differs, or the space
    is not a vector, it is returned unchanged."""
    if not isinstance(obs, BoxObs) or len(components) != obs.size:
        return obs
    low, high = tuple(c.low for c in components), tuple(c.high for c in components)
    return replace(obs, low=low, high=high)


def with_image_channels(
    obs: Observation, channels: Literal["auto", "first", "last"]
) -> Observation:
    """Returns the space with the channel axis of every image set as configured.

    With `auto` the axis is inferred from the shape; raises ConfigError if the shape is ambiguous.
    """
    if isinstance(obs, CompositeObs):
        entries = tuple((name, with_image_channels(e, channels)) for name, e in obs.entries)
        return CompositeObs(obs.kind, entries)
    if not isinstance(obs, ImageObs):
        return obs
    if channels != "auto":
        return replace(obs, channels=channels)
    if obs.channels == "unknown":
        raise ConfigError(
            f"policy.image_channels: cannot infer the channel axis of an image from its shape "
            f"{obs.shape}",
            fix="set policy.image_channels to first or last",
        )
    return obs


def as_rows(space: Observation, observations: Sequence[Any]) -> np.ndarray:
    """Returns observations of an environment as one array [B, ...]. Raises EnvError if one is invalid."""
    rows = blank_obs(space, len(observations))
    _refuse(space.put(rows, i, obs) for i, obs in enumerate(observations))
    return rows


def as_masks(space: Action, masks: Sequence[Any]) -> np.ndarray:
    """Returns the masks of several states (`info["action_mask"]`, or None) as one array [B, options]. Raises
    EnvError if one is invalid."""
    rows = np.ones((len(masks), space.mask_width), dtype=bool)
    _refuse(space.put_mask(rows, i, mask) for i, mask in enumerate(masks))
    return rows


def _refuse(problems: Iterable[str | None]) -> None:
    """Raises EnvError for the first problem that is not None."""
    for problem in problems:
        if problem is not None:
            raise EnvError(problem)


def _likely_channels(shape: tuple[int, ...]) -> Literal["first", "last", "unknown"]:
    """Returns which end of the shape is the channel axis: the shorter one, if it has at most 16 entries, else
    unknown. For two axes the answer has no meaning."""
    first, last = shape[0], shape[-1]
    if len(shape) == 2 or (last <= 16 and last < first):
        return "last"
    return "first" if first <= 16 and first < last else "unknown"


def _composite(kind: Literal["Dict", "Tuple"], space: Any) -> CompositeObs:
    """Returns the description of a Dict or Tuple space. Raises EnvError if an entry is not supported."""
    named = dict(space.spaces.items() if kind == "Dict" else enumerate(space.spaces))
    entries, unsupported = dict[str, Observation](), dict[str, EnvError]()
    # All entries are tried before the first error is raised: its fix lists the supported ones.
    for name, entry in named.items():
        try:
            entries[str(name)] = convert_obs_space(entry)
        except EnvError as problem:
            unsupported[str(name)] = problem
    for name, problem in unsupported.items():
        keep = f"--set 'env.keep=[{', '.join(entries)}]'" if kind == "Dict" and entries else ""
        fix = f"leave it out: {keep}" if keep else problem.fix
        raise EnvError(f"entry {name}: {problem.message}", fix=fix)
    composite = CompositeObs(kind, tuple(entries.items()))
    # Nested names are joined by dots, so "a.b" may be an entry as well as the entry b of a.
    names = [name for name, _ in composite._leaves()]
    if len(set(names)) < len(names) or not all(names):
        raise EnvError(f"the entries of {space} have no distinct names: {names}")
    return composite


def _composite_action(kind: Literal["Dict", "Tuple"], space: Any) -> CompositeAction:
    """Returns the description of a Dict or Tuple action space. Raises EnvError if an entry is not supported,
    or if two elements have the same name."""
    entries = list[tuple[str, Action]]()
    for name, entry in space.spaces.items() if kind == "Dict" else enumerate(space.spaces):
        if kind == "Dict" and not isinstance(name, str):
            raise EnvError(f"the keys of Dict actions must be text, not {name!r} ({space})")
        try:
            entries.append((str(name), convert_action_space(entry)))
        except EnvError as problem:
            raise EnvError(f"entry {name}: {problem.message}", fix=problem.fix) from None
    composite = CompositeAction(kind, tuple(entries))
    names = composite.default_names
    if len(set(names)) < len(names) or not all(names):
        raise EnvError(f"the entries of {space} have no distinct names: {list(names)}")
    return composite


def _counts(space: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Returns the shape, the numbers of options and the smallest options of a MultiDiscrete space."""
    n, first = (tuple(int(x) for x in np.ravel(a)) for a in (space.nvec, space.start))
    return tuple(space.shape), n, first


def _limits(space: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the lower and upper bounds of a Box space, flattened."""
    flat = (np.asarray(x, dtype=np.float64).ravel() for x in (space.low, space.high))
    low, high = (tuple(float(v) for v in x) for x in flat)
    return low, high
