"""The JSON file of a stored result."""

from __future__ import annotations

from typing import TypedDict

from gymnast.metrics.score import Score
from gymnast.runs.info import CpuInfo

# The functional form: "return" is a keyword.
StoredCurve = TypedDict("StoredCurve", {"env_steps": list[int], "return": list[float]})


class StoredSeed(TypedDict):
    seed: int
    solved: bool | None
    score: Score
    env_steps: int
    seconds: float
    curves: dict[str, StoredCurve]
    """`training` and `evaluation`."""


class StoredResult(TypedDict):
    version: int
    preset: str
    command: str
    date: str
    revision: str
    versions: dict[str, str]
    cpu: CpuInfo
    threshold: float | None
    seeds: list[StoredSeed]
    mean: float
    iqm: float
    low: float | None
    high: float | None
    solved: int
