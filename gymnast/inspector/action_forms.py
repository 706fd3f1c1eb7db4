"""Actions of requests and answers: the index of a Discrete action, or one number per element."""

from __future__ import annotations

import math

import numpy as np

from gymnast.config.facts import Facts
from gymnast.errors import UsageError
from gymnast.inspector.branch_record import ActionValue
from gymnast.spaces.action import Action

Array = np.ndarray


def to_row(space: Action, value: ActionValue | float) -> Array:
    """Returns an action as a row of its space; raises UsageError if it is not in the space."""
    flat = np.atleast_1d(np.asarray(value, np.float64))
    fits = flat.shape == (len(space.elements),) and all(
        math.isfinite(x) and e.low <= x <= e.high and (not e.n or x == int(x))
        for x, e in zip(flat.tolist(), space.elements, strict=True)
    )
    if not fits:
        what = f"{value!r} is not an action of a space with {space.text} ({space.name})"
        fix = "give the index of the action, or one number per element within its bounds"
        raise UsageError(what, fix=fix)
    spec = space.row_spec
    return space.unflatten(flat).astype(spec.dtype).reshape(spec.shape)


def to_value(space: Action, row: Array) -> ActionValue:
    """Returns a row as it appears in records."""
    flat = space.flatten(np.asarray(row))
    return int(flat[0]) if space.n_choices is not None else [float(x) for x in flat]


def label(space: Action, row: Array, facts: Facts) -> str:
    """Returns the name of an action: the declared one if there is one."""
    return space.action_text(space.unpack(row), facts)
