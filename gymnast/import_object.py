"""Imports objects by name: our own that take long to import, and those of the user.

`import_user_module` is the only function that imports a module which a config names. It imports only modules
that were permitted in this process or in the process that started it: modules that the user's own command,
preset or Python call names (`config/resolve.py`), and modules of a run that the user trained
(`runs/trust.py`).
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from gymnast.errors import CodeNotAllowed

ALLOW_VARIABLE = "GYMNAST_ALLOW_CODE"
"""Environment variable that permits all code, which --allow-code sets to 1. Child processes inherit it."""
PERMITTED_VARIABLE = "GYMNAST_PERMITTED_CODE"
"""Environment variable with the permitted modules, one per line. Child processes inherit it."""
RUN_FILE = "run.json"
"""A directory with this file is a run (`runs/layout.py`)."""


def import_object(path: str) -> Any:
    """Returns the object at `package.module:Name` of an installed package. Raises ValueError for a path of
    another form, ImportError or AttributeError if there is no such object."""
    module, _, name = path.partition(":")
    if not module or not name:
        raise ValueError(f"{path} is not of the form package.module:Name")
    return getattr(importlib.import_module(module), name)


def import_user_code(path: str) -> Any:
    """Returns the user's object at `package.module:Name`. Raises what `import_user_module` and
    `import_object` raise."""
    module, _, name = path.partition(":")
    if not module or not name:
        raise ValueError(f"{path} is not of the form package.module:Name")
    return getattr(import_user_module(module), name)  # of the module that was permitted, no other


def import_user_module(name: str) -> ModuleType:
    """Returns the user's module in `[py:]package.module:Name`. The working directory is searched too. Raises
    CodeNotAllowed unless this module is permitted, or if it is inside of a runs directory; otherwise
    ImportError, and whatever the module raises while it is imported."""
    module = module_of(name)
    if not is_permitted(name):
        raise CodeNotAllowed(f"{name} is not imported: it is named by a run, not by you")
    here = os.getcwd()
    if here not in sys.path and not _is_in_runs(Path(here, "module.py")):
        sys.path.insert(0, here)
    _refuse_code_in_runs(module)
    return importlib.import_module(module)


def permit_code(names: Iterable[str]) -> None:
    """Permits importing the modules of these names (`py:package.module:Class` or `package.module:Class`), in
    this process and its children."""
    added = {module_of(name) for name in names} - _permitted()
    if added:
        os.environ[PERMITTED_VARIABLE] = "\n".join(sorted(_permitted() | added))


def allow_all_code() -> None:
    """Permits importing whatever a config names, in this process and its children."""
    os.environ[ALLOW_VARIABLE] = "1"


def all_code_is_allowed() -> bool:
    return os.environ.get(ALLOW_VARIABLE) == "1"


def is_permitted(name: str) -> bool:
    """Returns whether the code with this name may be imported."""
    return all_code_is_allowed() or module_of(name) in _permitted()


def any_is_permitted() -> bool:
    return all_code_is_allowed() or bool(_permitted())


def module_of(name: str) -> str:
    """Returns the module of `[...]py:package.module[:Class]`, or of `package.module:Name`."""
    return re.sub(r"^.*py:", "", name).partition(":")[0]


def _permitted() -> set[str]:
    return {name for name in os.environ.get(PERMITTED_VARIABLE, "").split("\n") if name}


def _refuse_code_in_runs(module: str) -> None:
    """Raises CodeNotAllowed if a module, or a package that contains it, could be found inside of a runs
    directory."""
    places = [Path(place or ".") for place in sys.path]
    for part in module.split("."):
        places = [place / name for place in places for name in (part, f"{part}.py")]
        places = [place.resolve() for place in places if place.exists()]
        for place in filter(_is_in_runs, places):
            problem = f"{module} is not imported: it is inside of a runs directory"
            raise CodeNotAllowed(problem, at=str(place), fix="move it out of the runs directory")


def _is_in_runs(place: Path) -> bool:
    """Returns whether a file or package is inside of a run, or next to runs."""
    if any((folder / RUN_FILE).exists() for folder in (place, *place.parents)):
        return True
    try:
        return any((entry / RUN_FILE).exists() for entry in place.parent.iterdir())
    except OSError:
        return False


def import_frozen(module: str) -> ModuleType:
    """Returns a module, imported with garbage collection off; afterwards all objects are frozen.

    Collections during the import find no garbage but take time, and frozen objects (torch alone has
    many) are skipped by every later collection.
    """
    gc.disable()
    try:
        imported = importlib.import_module(module)
    finally:
        gc.enable()
    gc.freeze()
    return imported
