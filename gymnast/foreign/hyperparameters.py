"""Hyperparameters of foreign runs: reading them, and what they are as settings of gymnast."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from gymnast.foreign.libraries import LR, Library
from gymnast.foreign.run import Row

_TABLE_ROW = re.compile(r"^\|([^|]+)\|(.*)\|\s*$")
_MAX_DATA = 10_000_000
"""Size in bytes of the largest description of a model that is read."""
LOGGED = {"algo.lr": LR, "algo.clip": "hyper/clip"}
"""Setting -> the metric with its present value, for libraries that log no hyperparameters."""


def from_markdown(text: str) -> dict[str, object]:
    """Returns the hyperparameters of a Markdown table `|param|value|`, which CleanRL logs as a text."""
    rows = (_TABLE_ROW.match(line.strip()) for line in text.splitlines())
    found = {row[1].strip(): _plain(row[2].strip()) for row in rows if row}
    return {name: value for name, value in found.items() if name not in ("param", "-")}


def from_model(file: Path) -> dict[str, object]:
    """Returns the hyperparameters in a model that SB3 saved (`model.save`): the plain values of its JSON
    document. Nothing is unpickled. Empty if the file is no such model."""
    try:
        with zipfile.ZipFile(file) as archive:
            if archive.getinfo("data").file_size > _MAX_DATA:
                return {}
            content = cast(object, json.loads(archive.read("data")))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return {}
    if not isinstance(content, dict):
        return {}
    plain = cast("dict[str, object]", content)
    found = dict[str, object]()
    found |= {key: v for key, v in plain.items() if v is None or isinstance(v, int | float | str)}
    space = plain.get("action_space")
    if isinstance(space, dict) and "Discrete" in str(space.get(":type:")):  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        n = str(cast("dict[str, object]", space).get("n", ""))
        found |= {"n_actions": int(n)} if n.isdecimal() else {}
    return found


def to_settings(
    hyperparameters: Mapping[str, object], library: Library, rows: list[Row]
) -> dict[str, object]:
    """Returns the settings of gymnast that these hyperparameters and the logged ones are."""
    found: dict[str, object] = {}
    for setting, name in library.hyperparameters.items():
        value = hyperparameters.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[setting] = value
    for setting, key in LOGGED.items():
        logged = {row[key] for row in rows if key in row}
        # one that changes is a schedule, which the values alone do not give
        if setting not in found and len(logged) == 1:
            found[setting] = logged.pop()
    # the size of a rollout is the product of both
    if "env.n_envs" not in found:
        found.pop("algo.n_steps", None)
    return found


def first_number(hyperparameters: Mapping[str, object], names: tuple[str, ...]) -> float | None:
    """Returns the first of these hyperparameters that is a number above 0; None if there is none."""
    for name in names:
        value = hyperparameters.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return float(value)
    return None


def first_text(hyperparameters: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Returns the first of these hyperparameters that is a text; empty if there is none."""
    texts = (hyperparameters.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text), "")


def _plain(text: str) -> object:
    """Returns the value of a cell, as Python prints it."""
    words: dict[str, object] = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
