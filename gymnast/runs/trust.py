"""Signatures that distinguish what the user has chosen for a run from what only its files name.

A run is data: whoever reads it imports nothing that it names and writes nothing where it says. Training with
user code, or with a data directory elsewhere, writes a signature of that choice, made with a key that only
this user has. A run that was copied from elsewhere, unpacked, or edited to name something else has no valid
signature: its code is refused unless the user allows it (--allow-code), and so is its data directory.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gymnast import import_object
from gymnast.errors import CodeNotAllowed
from gymnast.runs import durable, files, layout
from gymnast.settings import state_directory

KEY_BYTES = 32
MAX_SIGNATURES = 1 << 16
"""Maximum size of the file with the signatures, in bytes."""


def require_code(folder: Path, names: Iterable[str], owner: str) -> None:
    """Permits importing code that the run or study in a folder names. `owner`: the run or study, for the
    message. Raises CodeNotAllowed if this user did not choose that code for it and has not allowed it."""
    chosen = sorted(set(names))
    if not chosen:
        return
    if import_object.all_code_is_allowed():
        sign(folder, _code(chosen))
    elif not is_signed(folder, _code(chosen)):
        problem = (
            f"{owner} names code to import ({', '.join(chosen)}), and was not trained by you here"
        )
        raise CodeNotAllowed(problem, at=str(folder))
    import_object.permit_code(chosen)


def sign_permitted(folder: Path, names: Iterable[str]) -> None:
    """Signs the code that a config or a search space names, if this process may import all of it."""
    chosen = sorted(set(names))
    if chosen and all(map(import_object.is_permitted, chosen)):
        sign(folder, _code(chosen))


def sign_code(folder: Path, names: Iterable[str]) -> None:
    """Signs the code that a run names, because another machine of this user chose it."""
    if chosen := sorted(set(names)):
        sign(folder, _code(chosen))


def sign(folder: Path, choice: str) -> None:
    """Signs a choice of the user for the run or study in a folder. Does nothing if it cannot be written, such
    as in a read-only directory: it must then be allowed each time."""
    if is_signed(folder, choice):
        return
    with suppress(OSError):
        signature = _signature(choice, _key(create=True))
        durable.append(layout.SIGNATURES.path(folder), signature.encode())


def is_signed(folder: Path, choice: str) -> bool:
    """Returns whether this user has signed this choice for the run or study in a folder."""
    try:
        stored = files.read(layout.SIGNATURES.path(folder), limit=MAX_SIGNATURES).split()
    except OSError:
        return False
    return any(is_signature(signature.decode("ascii", "replace"), choice) for signature in stored)


def new_signature(choice: str) -> str:
    """Returns this user's signature of a choice. Raises GymnastError if the key cannot be written."""
    with durable.explain_os_errors(state_directory()):
        return _signature(choice, _key(create=True))


def is_signature(signature: str, choice: str) -> bool:
    """Returns whether this is this user's signature of a choice."""
    try:
        expected = _signature(choice, _key())
    except OSError:
        return False
    return hmac.compare_digest(signature.encode(), expected.encode())


def _code(names: Iterable[str]) -> str:
    return "\n".join(["code", *names])


def _signature(choice: str, key: bytes) -> str:
    return hmac.new(key, choice.encode(), hashlib.sha256).hexdigest()


def _key(create: bool = False) -> bytes:
    """Returns the user's key. Raises OSError if it cannot be read, or written with `create`."""
    file = state_directory() / "trust-key"
    if create and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".trust-key-{os.getpid()}-{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):  # another process was faster: its key counts
            os.link(draft, file)
        draft.unlink()
    key = file.read_bytes()
    if len(key) != KEY_BYTES:
        raise OSError(f"{file} is not a key")
    return key
