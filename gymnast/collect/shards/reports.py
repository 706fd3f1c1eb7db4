"""Reports about the hosts of a run: metrics of every rollout, and events."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.collect.shards.orders import Collected
from gymnast.collect.shards.pieces import Piece
from gymnast.hosts import Difference

SLOW, SLOW_ROLLOUTS = 2.0, 5
"""A host is slow if it takes this many times as long as the median in this many rollouts in a row."""


class HostReports:
    """Counts losses and bytes, compares the speed of hosts, and collects events."""

    def __init__(self, hosts: int) -> None:
        self.restarts = np.zeros(hosts, np.int64)
        self._bytes = np.zeros(hosts, np.int64)
        self._work = np.zeros(hosts)
        """Seconds that each host took for its last part."""
        self._slow = np.zeros(hosts, np.int64)
        """Number of rollouts in a row in which a host was slow."""
        self._events: deque[tuple[str, dict[str, object]]] = deque()
        """Threads may add events while another takes them."""

    def answered(self, host: int, n_bytes: int) -> None:
        """Records an answer of a host."""
        self._bytes[host] = n_bytes

    def lost(self, host: int, reason: str) -> None:
        """Records that a host was lost."""
        self.restarts[host] += 1
        self._events.append(("host lost", {"host": host, "why": reason}))

    def replaced(self, host: int, seconds: float) -> None:
        """Records that another process has done the work of a lost host, `seconds` after the loss."""
        self._events.append(("host replaced", {"host": host, "seconds": round(seconds, 3)}))

    def differs(self, host: int, differences: Sequence[Difference]) -> None:
        """Records in what a host differs from the training process."""
        for one in differences:
            detail = {"host": host, "what": one.what, "here": one.here, "there": one.there}
            self._events.append(("host differs", detail))

    def restarted(self, copies: Mapping[int, str]) -> None:
        """Records the copies whose episodes a new host could not continue, each with the reason: from here on
        the run differs from one whose host was not lost."""
        why = "; ".join(dict.fromkeys(copies.values()))
        self._events.append(("episodes restarted", {"copies": list(copies), "why": why}))

    def take_events(self) -> list[tuple[str, dict[str, object]]]:
        """Returns the events since the last call, as (kind, detail)."""
        return [self._events.popleft() for _ in range(len(self._events))]

    def row(self, parts: Sequence[Collected], seconds: float) -> dict[str, float]:
        """Returns the metrics of a rollout that took `seconds`, and compares the hosts."""
        work = np.array([part.fragment.seconds for part in parts])
        steps = np.array([part.fragment.env_steps for part in parts])
        speed = steps / np.maximum(work, 1e-9)
        self._compare(work)
        row = self.counts() | {
            "hosts/slowest": float(work.max()),
            "hosts/median": _median(work),
            "hosts/wait": max(seconds - float(work.max()), 0.0),
            "hosts/cpu": float(sum(part.cpu_seconds for part in parts)),
        }
        for k in range(len(parts)):
            row[f"host{k}:hosts/speed"] = float(speed[k])
            row[f"host{k}:hosts/restarts"] = float(self.restarts[k])
            row[f"host{k}:hosts/bytes"] = float(self._bytes[k])
        return row

    def async_row(
        self, pieces: Sequence[Piece], dropped: Sequence[Piece], version: int
    ) -> dict[str, float]:
        """Returns the metrics of a rollout that consists of `pieces`, and compares the hosts. `dropped`: the
        parts that were too old; `version`: the number of updates so far."""
        work = np.array([piece.fragment.seconds for piece in pieces])
        for piece in (*pieces, *dropped):
            self._work[piece.host] = piece.fragment.seconds
        if self._work.all():  # every host has sent a part
            self._compare(self._work)
        for piece in dropped:
            detail: dict[str, object] = {
                "host": piece.host,
                "staleness": version - piece.version,
                "env_steps": piece.fragment.env_steps,
            }
            self._events.append(("part dropped", detail))
        row = self.counts() | {
            "hosts/count": float(len({piece.host for piece in pieces})),
            "hosts/bytes": float(sum(piece.n_bytes for piece in pieces)),
            "hosts/slowest": float(work.max()),
            "hosts/median": _median(work),
            "hosts/cpu": float(sum(piece.cpu_seconds for piece in pieces)),
            "hosts/dropped": float(sum(piece.fragment.env_steps for piece in dropped)),
        }
        for host in range(len(self.restarts)):
            row[f"host{host}:hosts/restarts"] = float(self.restarts[host])
            own = [piece for piece in pieces if piece.host == host]
            if not own:
                continue
            seconds = max(sum(piece.fragment.seconds for piece in own), 1e-9)
            steps = sum(piece.fragment.env_steps for piece in own)
            row[f"host{host}:hosts/speed"] = steps / seconds
            row[f"host{host}:hosts/bytes"] = float(sum(piece.n_bytes for piece in own))
            oldest = max(version - piece.version for piece in own)
            row[f"host{host}:hosts/staleness"] = float(oldest)
        return row

    def counts(self) -> dict[str, float]:
        """Returns the metrics that do not depend on how long the hosts took."""
        return {
            "hosts/count": float(len(self.restarts)),
            "hosts/restarts": float(self.restarts.sum()),
            "hosts/bytes": float(self._bytes.sum()),
        }

    def _compare(self, work: np.ndarray) -> None:
        """Adds an event for every host that has become slow."""
        if len(work) < 2:
            return
        median = _median(work)
        is_slow = work > SLOW * median
        self._slow = np.where(is_slow, self._slow + 1, 0)
        for host in np.flatnonzero(self._slow == SLOW_ROLLOUTS).tolist():
            detail = {"host": host, "seconds": float(work[host]), "median": median}
            self._events.append(("host slow", detail))


def _median(work: np.ndarray) -> float:
    """Returns the lower median: with the mean of both, one of two hosts could never be slow."""
    return float(np.quantile(work, 0.5, method="lower"))
