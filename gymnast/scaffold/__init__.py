"""Writes a starter project (`gymnast init`): an environment, its tests and its preset, all working.

`template/` is that project under the name my_env; writing it elsewhere only renames it.
"""

from __future__ import annotations

import importlib.util
import keyword
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.runs import durable

TEMPLATE = Path(__file__).parent / "template"
_NAME, _CLASS = "my_env", "MyEnv"
"""Names in the template, replaced by the user's."""
_RESERVED = ("presets", "runs", "tests")
"""Directories that a project or its user has anyway."""


def write_project(name: str, directory: Path) -> list[Path]:
    """Writes the project under a new name and returns its files. Raises UsageError if one exists already."""
    _check(name)
    sources = [path for path in sorted(TEMPLATE.rglob("*")) if _is_source(path)]
    targets = [directory / str(path.relative_to(TEMPLATE)).replace(_NAME, name) for path in sources]
    # All checks come before the first file, so that a failure leaves nothing behind.
    for target in (directory / name, *targets):
        if target.exists():
            raise UsageError("already exists", at=str(target), fix="choose another name or --dir")
    if importlib.util.find_spec(name) is not None:
        problem = f"{name} is an installed module, which a package of this name would hide"
        raise UsageError(problem, fix="choose another name")
    for source, target in zip(sources, targets, strict=True):
        text = source.read_text(encoding="utf-8").replace(_NAME, name)
        with durable.explain_os_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            durable.write(target, text.replace(_CLASS, class_name(name)).encode())
    return targets


def class_name(name: str) -> str:
    """Returns the class name of a package: `LineWalk` for `line_walk`."""
    return "".join(word[0].upper() + word[1:] for word in name.split("_") if word)


def _check(name: str) -> None:
    """Raises UsageError if a package cannot or should not have this name."""
    fix = "use letters, digits and _, starting with a letter: my_env"
    if not (name.isidentifier() and name.isascii() and name[0].isalpha()):
        raise UsageError(
            f"{name!r} is not a Python identifier, so it cannot name a package", fix=fix
        )
    if keyword.iskeyword(name) or name in _RESERVED:
        raise UsageError(f"{name!r} is a reserved name", fix=fix)


def _is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts
