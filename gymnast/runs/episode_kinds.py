"""The kinds of stored episodes, by who played them and why."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["train", "eval", "confirm", "fresh", "played"]
"""train: in training; eval: in an evaluation during training; confirm: in the final evaluation, on held-out
seeds; fresh: rolled out on request; played: by a person."""
RequestedKind = Literal["fresh", "played"]
"""The kinds that were asked for outside of training."""
KINDS: tuple[Kind, ...] = get_args(Kind)
REQUESTED: tuple[RequestedKind, ...] = get_args(RequestedKind)
