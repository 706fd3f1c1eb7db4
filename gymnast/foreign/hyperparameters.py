"""Hyperparameters of foreign runs: reading them, and what they are as settings of gymnast."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from gymnast.config.plain_value import PlainValue
from gymnast.foreign.libraries import LR, Library
from gymnast.foreign.run import Row

_TABLE_ROW = re.compile(r"^\|([^|]+)\|(.*)\|\s*$")
_MAX_DATA = 10_000_000
"""Size in bytes of the largest description of a model that is read."""
LOGGED = {"algo.lr": LR, "algo.clip": "hyper/clip"}
"""Setting -> the metric with its present value, for libraries that log no hyperparameters."""


OTHER_NAMES = {"algo.lr": ("lr",)}
"""Setting -> names that scripts give it in place of the library's."""


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


def from_wandb_yaml(file: Path) -> dict[str, object]:
    """Returns the hyperparameters in `config.yaml` of W&B, whose entries are `{value: ...}`, without W&B's
    own. Empty if there is no such file, or if it cannot be read."""
    from ruamel.yaml import YAML, YAMLError

    try:
        if file.stat().st_size > _MAX_DATA:
            return {}
        content = cast(object, YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, YAMLError, RecursionError):
        return {}
    entries = cast("dict[object, object]", content) if isinstance(content, dict) else {}
    return {
        str(key): cast("dict[str, object]", entry)["value"]
        if isinstance(entry, dict) and "value" in entry
        else entry
        for key, entry in entries.items()
        if not str(key).startswith(("_", "wandb_"))
    }


def flat(hyperparameters: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Returns nested hyperparameters by their dotted names."""
    found: dict[str, object] = {}
    for key, value in hyperparameters.items():
        if isinstance(value, Mapping):
            found |= flat(cast("Mapping[str, object]", value), f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def lookup(hyperparameters: Mapping[str, object], *names: str) -> object:
    """Returns the hyperparameter with the first of these names: at the top, or else in a section, if it is
    the same in all that have it. None if there is none."""
    for name in names:
        if name in hyperparameters:
            return hyperparameters[name]
        inner = [value for key, value in hyperparameters.items() if key.endswith(f".{name}")]
        if inner and all(value == inner[0] for value in inner):
            return inner[0]
    return None


def own_settings(config: Mapping[str, object]) -> dict[str, object]:
    """Returns the settings of a run of gymnast. `config`: as it was sent to a tracker."""
    from gymnast.config.serialize import flat_plain

    return {**flat_plain(cast("dict[str, PlainValue]", config))}


def to_settings(
    hyperparameters: Mapping[str, object], library: Library, rows: list[Row]
) -> dict[str, object]:
    """Returns the settings of gymnast that these hyperparameters (`flat`) and the logged ones are."""
    found: dict[str, object] = {}
    for setting, name in library.hyperparameters.items():
        value = number(lookup(hyperparameters, name, *OTHER_NAMES.get(setting, ())))
        if value is not None:
            found[setting] = value
    for setting, key in LOGGED.items():
        logged = {row[key] for row in rows if key in row}
        # one that changes is a schedule, which the values alone do not give
        if setting not in found and len(logged) == 1:
            found[setting] = _shortest(logged.pop())
    # the size of a rollout is the product of both
    if "env.n_envs" not in found:
        found.pop("algo.n_steps", None)
    return found


def _shortest(value: float) -> float:
    """Returns the number with the fewest digits that has this value in single precision, in which event files
    store numbers: 0.2 for 0.20000000298; a number that is not in single precision as it is."""
    for digits in range(1, 9) if abs(value) < 1e38 else ():
        shorter = float(f"{value:.{digits}g}")
        if struct.unpack("f", struct.pack("f", shorter))[0] == value:
            return shorter
    return value


def first_number(hyperparameters: Mapping[str, object], names: tuple[str, ...]) -> float | None:
    """Returns the first of these hyperparameters that is a number above 0; None if there is none."""
    for name in names:
        value = number(lookup(hyperparameters, name))
        if value is not None and value > 0:
            return float(value)
    return None


def number(value: object) -> int | float | None:
    """Returns a hyperparameter as a number; None if it is none. YAML reads `1e-6` as a string."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def first_text(hyperparameters: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Returns the first of these hyperparameters that is a text; empty if there is none."""
    texts = (lookup(hyperparameters, name) for name in names)
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
