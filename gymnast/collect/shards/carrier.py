"""The protocol of carriers, which bring orders to hosts and answers back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gymnast.collect.shards.orders import Order
from gymnast.errors import GymnastError

Array = np.ndarray
STARTED = b"started"
"""The first message of a host's process: its program has been loaded, and it carries out orders."""


@dataclass(frozen=True)
class Lost:
    """A host that died, or that could not be reached or started."""

    reason: str
    has_worked: bool = True
    """False if it could not be started, which says nothing about its orders."""


@dataclass(frozen=True)
class Answer:
    """The answer of a host to its last orders."""

    host: int
    value: list[Any] | GymnastError | Lost
    """The answers, the error of an order, or the loss of the host."""
    n_bytes: int = 0
    """Size of the answer, as far as the carrier knows it."""


class Carrier(Protocol):
    """Starts hosts, numbered from 0, and carries orders to them. A host has at most one message at a time."""

    def start(self, host: int) -> None:
        """Starts a host, in place of the one that had this number before. A failure is the answer to the
        first orders."""
        ...

    def share(self, parameters: dict[str, Array]) -> object:
        """Returns the parameters in the form in which they are sent, once for all hosts."""
        ...

    def send(self, host: int, orders: Sequence[Order], parameters: object = None) -> None:
        """Sends orders. `parameters`: the result of `share`."""
        ...

    def receive(self, timeout: float) -> Answer | None:
        """Returns the next answer of any host; None after `timeout` seconds."""
        ...

    def pid(self, host: int) -> int | None:
        """Returns the process of a host; None until it has started."""
        ...

    def describe(self) -> str:
        """Returns what is known about the room for hosts, for messages; empty if there is nothing to say."""
        ...

    def end(self, host: int) -> None:
        """Ends a host at once, in the middle of its work too."""
        ...

    def close(self) -> None:
        """Ends all hosts."""
        ...
