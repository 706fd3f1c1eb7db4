"""Compares hosts: code, versions and CPU must be equal so that one continues the work of another.

`HostFacts.here()` describes this machine, `differences` compares two descriptions. Everything is read without
importing a package or the user's own modules.
"""

from __future__ import annotations

import hashlib
import platform
import re
import socket
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from gymnast.config.families import family_of
from gymnast.errors import GymnastError
from gymnast.runs.machine import PACKAGES, cpu_info, installed_version
from gymnast.runs.revision import ENVELOPES, PACKAGE, RESULTS, revision

MISSING = "not installed"
_USER_CODE = re.compile(r"\bpy:([A-Za-z_][\w.]*)")
"""Start of an environment, algorithm, ... that is a class of the user: `py:package.module:Class`."""


@dataclass(frozen=True)
class HostFacts:
    """The properties of a host that the results of a run depend on."""

    host: str
    """Name of the host."""
    code: str
    """The first digits of the SHA-256 of gymnast's own Python files and presets. It is the same on two hosts
    with the same code, also if the code was changed after its last commit or was installed from a wheel."""
    revision: str
    """Commit of gymnast's code, for messages; empty if it is unknown."""
    python: str
    """Version of Python, without its last number: 3.11."""
    packages: dict[str, str] = field(default_factory=dict[str, str])
    """Package -> installed version, or `not installed`."""
    modules: dict[str, str] = field(default_factory=dict[str, str])
    """Module of the user -> the first digits of the SHA-256 of its file, or `not installed`."""
    instructions: tuple[str, ...] = ()
    """Instruction sets of the CPU that affect sums of floats."""

    @staticmethod
    def here(packages: Iterable[str] = (), modules: Iterable[str] = ()) -> HostFacts:
        """Returns the facts of this machine. `packages`: further packages that matter, such as those of an
        environment (`env_packages`); `modules`: modules of the user (`user_modules`)."""
        return HostFacts(
            host=socket.gethostname(),
            code=code_digest(),
            revision=revision(),
            python=".".join(platform.python_version_tuple()[:2]),
            packages={
                name: installed_version(name) or MISSING
                for name in dict.fromkeys([*PACKAGES, *packages])
            },
            modules={name: module_digest(name) for name in dict.fromkeys(modules)},
            instructions=tuple(cpu_info()["instructions"]),
        )

    @staticmethod
    def for_env(env_id: str) -> HostFacts:
        """Returns the facts of this machine that matter for an environment: with its packages, or with the
        module of the user that it is."""
        return HostFacts.here(env_packages(env_id), user_modules(env_id))


@dataclass(frozen=True)
class Difference:
    """Something that differs between two hosts."""

    what: str
    """gymnast, python, the name of a package or module, or cpu."""
    here: str
    there: str
    blocks: bool
    """True if one host cannot continue the work of the other. CPUs with other instruction sets can: the
    results are valid, but their last bits may differ."""

    def __str__(self) -> str:
        return f"{self.what}: {self.here or 'none'} here, {self.there or 'none'} there"


def differences(here: HostFacts, there: HostFacts) -> list[Difference]:
    """Returns what differs between two hosts: gymnast first, CPUs last. A package or module that only one of
    them describes is not compared."""
    found = list[Difference]()
    if here.code != there.code:
        found.append(Difference("gymnast", _code_name(here), _code_name(there), blocks=True))
    if here.python != there.python:
        found.append(Difference("python", here.python, there.python, blocks=True))
    for ours, theirs in ((here.packages, there.packages), (here.modules, there.modules)):
        found += [
            Difference(name, ours[name], theirs[name], blocks=True)
            for name in ours
            if name in theirs and ours[name] != theirs[name]
        ]
    if set(here.instructions) != set(there.instructions):
        sets = (" ".join(facts.instructions) for facts in (here, there))
        found.append(Difference("cpu", *sets, blocks=False))
    return found


def refuse_differences(here: HostFacts, there: HostFacts) -> list[Difference]:
    """Returns the differences that do not block. Raises GymnastError, with all of them, if one does."""
    found = differences(here, there)
    if any(difference.blocks for difference in found):
        listed = "; ".join(str(difference) for difference in found if difference.blocks)
        raise GymnastError(
            f"{there.host} differs from {here.host}: {listed}",
            fix=f"install the same versions on {there.host}",
        )
    return found


def common_instructions(hosts: Sequence[HostFacts]) -> tuple[str, ...]:
    """Returns the instruction sets that all of these hosts have, in the order of the first one."""
    return tuple(
        name for name in hosts[0].instructions if all(name in host.instructions for host in hosts)
    )


def env_packages(env_id: str) -> list[str]:
    """Returns the packages that gymnast installs for an environment: those of the extra of its family."""
    family = family_of(env_id)
    return _extra_packages("gymnast", family.extra) if family is not None and family.extra else []


def _extra_packages(package: str, extra: str) -> list[str]:
    """Returns the packages that an extra of an installed package adds, also those of the extras that it
    names itself, as in `gymnasium[mujoco]`."""
    try:
        declared = requires(package) or []
    except PackageNotFoundError:  # gymnast is used from a directory that is not installed
        return []
    found = list[str]()
    for line in declared:
        named = re.match(r"([\w.-]+)(?:\[([\w.,-]+)\])?", line)
        if named is None or not re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", line):
            continue
        found.append(named[1])
        found += [
            more
            for inner in (named[2] or "").split(",")
            if inner
            for more in _extra_packages(named[1], inner)
        ]
    return [*dict.fromkeys(found)]


def user_modules(*texts: str | None) -> list[str]:
    """Returns the modules of the user that texts refer to, as `py:package.module:Class`: names of
    environments and algorithms, values of settings, whole configs."""
    return [*dict.fromkeys(name for text in texts if text for name in _USER_CODE.findall(text))]


def module_digest(module: str) -> str:
    """Returns the first digits of the SHA-256 of a module's file; `not installed` if there is none."""
    spec = find_module(module)
    if spec is None or not spec.origin:
        return MISSING
    return _digest([Path(spec.origin)], Path(spec.origin).parent)


def find_module(module: str) -> ModuleSpec | None:
    """Returns where a module is, without importing its parent packages; None if it is not found. The working
    directory is searched first, as when it is imported."""
    path, spec = ["", *sys.path], None
    for end in range(1, module.count(".") + 2):
        spec = PathFinder.find_spec(".".join(module.split(".")[:end]), path)
        if spec is None:
            return None
        path = [*(spec.submodule_search_locations or ())]
    return spec


@cache
def code_digest() -> str:
    """Returns the first digits of the SHA-256 of gymnast's Python files and presets."""
    files = [*PACKAGE.rglob("*.py"), *(PACKAGE / "presets").rglob("*.yaml")]
    measured = (RESULTS, ENVELOPES)  # what `gymnast reproduce --store` writes is not code
    code = [file for file in files if not any(map(file.is_relative_to, measured))]
    return _digest(code, PACKAGE)


def _digest(files: Iterable[Path], root: Path) -> str:
    """Returns the first digits of the SHA-256 of the names, relative to `root`, and the content of files."""
    digest = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


def _code_name(facts: HostFacts) -> str:
    return f"{facts.code} ({facts.revision[:12]})" if facts.revision else facts.code
