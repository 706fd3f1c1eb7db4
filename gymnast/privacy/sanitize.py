"""Removes what identifies a person or a machine, and everything that looks like a secret, from texts and
records that leave this machine.

Every value is cleaned before it is rendered, because a table may escape or wrap it, and every rendered part
once more, because a value may only become recognizable next to its name.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gymnast.privacy.secrets import (
    REMOVED,
    has_token,
    is_secret_name,
    remove_secrets,
    secret_variables,
)
from gymnast.records import JsonValue, from_json, to_json
from gymnast.text.plain import plain_text

T = TypeVar("T")
HOME, RUNS, USER, HOST, EMAIL = "~", "RUNS", "USER", "HOST", "EMAIL"
"""Replacements of paths and names."""
IMPERSONAL = ("root", "user", "localhost", "localdomain")
"""Names of users and hosts that identify nobody and are ordinary words."""
_ANY_HOME = re.compile(r"(?:/(?:home|Users)/|[A-Za-z]:\\+Users\\+)[^/\\\s\"'`:,;)\]}|<>]+")
_HOME_IN_BYTES = re.compile(rb"(?:/(?:home|Users)/|[A-Za-z]:\\+Users\\+)[\w.-]+")
_SHORTEST_PATH = 5
"""Length of the shortest path that is looked for in binary files, where shorter ones occur by chance."""
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]+)+")


@dataclass(frozen=True)
class Identity:
    """Paths, names and texts that must not leave this machine, besides secrets in general."""

    paths: Mapping[str, str] = field(default_factory=dict[str, str])
    """Absolute directory -> replacement."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name of a user or a host -> replacement."""
    secrets: tuple[str, ...] = ()
    """Texts that are known to be secret."""


def this_identity(
    runs_dir: Path, hosts: Iterable[str] = (), ordinary: Collection[str] = ()
) -> Identity:
    """Returns the identity of the user and the machine. `runs_dir`: the runs directory; `hosts`: names of
    other machines, such as that on which a run was trained; `ordinary`: words in lower case that are no names
    even if the user or a machine is called like that."""
    paths: dict[str, str] = {}
    for path, replacement in ((runs_dir, RUNS), (_working_directory(), "."), (_home(), HOME)):
        if path is not None:
            paths |= {text: replacement for text in _spellings(path) if len(text) > 1}
    names = dict.fromkeys(_users(), USER)
    for host in (socket.gethostname(), *hosts):
        names |= dict.fromkeys((host, host.partition(".")[0]), HOST)
    words = {*IMPERSONAL, *ordinary}
    known = {n: word for n, word in names.items() if len(n) > 1 and n.lower() not in words}
    return Identity(paths, known, tuple(secret_variables(os.environ)))


class Sanitizer:
    """Cleans texts and records."""

    def __init__(self, identity: Identity) -> None:
        self._secrets = identity.secrets
        # The longest first: the runs directory is usually inside of the home directory.
        self._paths = [
            (re.compile(rf"{re.escape(path)}(?![\w-])"), identity.paths[path])
            for path in sorted(identity.paths, key=len, reverse=True)
        ]
        self._names = [
            (re.compile(rf"(?i)(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"), word)
            for name, word in sorted(identity.names.items(), key=lambda item: -len(item[0]))
        ]
        self._path_bytes = [
            re.compile(rb"%s(?![\w-])" % re.escape(path.encode()))
            for path in identity.paths
            if len(path) >= _SHORTEST_PATH
        ]

    def text(self, text: str) -> str:
        """Returns a text without control characters, secrets, home directories and names."""
        text = plain_text(text)
        for secret in self._secrets:
            text = text.replace(secret, REMOVED)
        for pattern, replacement in self._paths:
            text = pattern.sub(lambda _, word=replacement: word, text)
        text = _ANY_HOME.sub(HOME, remove_secrets(text))
        text = _EMAIL.sub(EMAIL, text) if "@" in text else text
        for pattern, replacement in self._names:
            text = pattern.sub(lambda _, word=replacement: word, text)
        return text

    def record(self, record: T) -> T:
        """Returns a record of which every text is clean, and every value with a secret name is removed."""
        return from_json(type(record), self.value(to_json(record)))

    def value(self, value: JsonValue, name: str = "") -> JsonValue:
        """Returns a JSON value with clean texts and keys. `name`: the key under which it was found."""
        if isinstance(value, dict):
            return {self.text(key): self.value(item, key) for key, item in value.items()}
        if name and is_secret_name(name) and value not in (None, "", [], True, False):
            return REMOVED
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return self.text(value) if isinstance(value, str) else value

    def private_part(self, content: bytes) -> str:
        """Returns what a file, which may be binary, has that must not leave this machine, as a noun; empty if
        there is nothing. Names are only found within paths, because a short one occurs in any array."""
        if any(secret.encode() in content for secret in self._secrets):
            return "the value of a secret environment variable"
        if has_token(content):
            return "a token or key"
        if any(pattern.search(content) for pattern in self._path_bytes):
            return "a path of this machine"
        has_home = any(start in content for start in (b"/home/", b"/Users/", b"\\Users\\"))
        return "a home directory" if has_home and _HOME_IN_BYTES.search(content) else ""


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # a user without a home directory
        return None


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was deleted
        return None


def _spellings(path: Path) -> set[str]:
    """Returns the absolute forms of a path: as it was given, and with symbolic links followed."""
    return {os.path.abspath(path), os.path.realpath(path)}


def _users() -> set[str]:
    try:
        return {getpass.getuser()}
    except (KeyError, OSError):  # no entry in the list of users
        return set()
