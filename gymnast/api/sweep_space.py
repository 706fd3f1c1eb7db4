"""Search spaces of studies, as text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gymnast.config.form import setting_text as setting_text
from gymnast.errors import UsageError


@dataclass(frozen=True)
class SpaceText:
    """A search space in YAML."""

    target: str
    """`ENV[:variant]` that it is for."""
    text: str


def sweep_init(target: str = "", *, wandb: str = "", file: str = "sweep.yaml") -> SpaceText:
    """Returns a commented search space for `ENV[:variant]`, to be edited and given to `sweep_start`. `wandb`:
    instead, the space of this config of a W&B sweep, as YAML text, whose program is the default of `target`;
    `file`: its name, for messages."""
    if wandb:
        from gymnast.sweep.space_file import parse_space
        from gymnast.sweep.wandb_space import convert_sweep

        text = convert_sweep(wandb, file, target or None)
        return SpaceText(parse_space(text, f"the space of {file}").space.target, text)
    if not target:
        raise UsageError("name an environment", fix="gymnast sweep init CartPole-v1")
    from gymnast.sweep.shipped import space_text

    return SpaceText(target, space_text(target))


def read_file(path: str) -> str:
    """Returns the text of a space file. Raises UsageError if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        fix = "gymnast sweep init ENV > space.yaml"
        raise UsageError(f"the space cannot be read: {reason}", at=path, fix=fix) from None
