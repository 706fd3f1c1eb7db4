"""A project to begin with: an environment, its test and its preset, all working, to be changed.

`template/` is that project, under the name my_env; writing it elsewhere only renames it.
"""

from __future__ import annotations

import importlib.util
import keyword
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.runs import durable

TEMPLATE = Path(__file__).parent / "template"
_NAME, _CLASS = "my_env", "MyEnv"
_TAKEN = ("presets", "runs", "tests")


def write(name: str, directory: Path) -> list[Path]:
    """Everything under the new name; the files written. Refused where one of them exists."""
    _check(name)
    sources = [path for path in sorted(TEMPLATE.rglob("*")) if _belongs(path)]
    targets = [directory / str(path.relative_to(TEMPLATE)).replace(_NAME, name) for path in sources]
    for target in (directory / name, *targets):
        if target.exists():
            raise UsageError("is there already", at=str(target), fix="choose another name or --dir")
    if importlib.util.find_spec(name) is not None:
        problem = f"{name} is an installed module, which a package of this name would hide"
        raise UsageError(problem, fix="choose another name")
    for source, target in zip(sources, targets, strict=True):
        text = source.read_text(encoding="utf-8").replace(_NAME, name)
        with durable.explained(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            durable.write(target, text.replace(_CLASS, class_name(name)).encode())
    return targets


def class_name(name: str) -> str:
    """`line_walk` -> `LineWalk`."""
    return "".join(word[0].upper() + word[1:] for word in name.split("_") if word)


def _check(name: str) -> None:
    fix = "use letters, digits and _, beginning with a letter: my_env"
    if not (name.isidentifier() and name.isascii() and name[0].isalpha()):
        raise UsageError(f"{name!r} is not a Python identifier, so no package's name", fix=fix)
    if keyword.iskeyword(name) or name in _TAKEN:
        raise UsageError(f"{name!r} means something else here", fix=fix)


def _belongs(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts
