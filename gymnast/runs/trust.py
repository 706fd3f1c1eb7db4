"""Whether the user of this machine trained a run, so that the code that its config names may be imported.

A run is data: whoever reads it imports nothing that it names. Training with user code writes a signature
of the names of this code, made with a key that only this user has. A run that was copied from elsewhere,
unpacked or edited to name other code has no valid signature, and its code is refused unless the user allows
it (--allow-code).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gymnast import import_object
from gymnast.errors import CodeNotAllowed
from gymnast.runs import durable, layout
from gymnast.settings import state_directory

KEY_BYTES = 32


def permit_code_of(run_dir: Path, values: Mapping[str, object]) -> None:
    """Permits importing the code that a run's config names. `values`: the config as plain values. Raises
    CodeNotAllowed if the user did not train this run and has not allowed its code."""
    from gymnast.config.named_code import code_names

    names = sorted(set(code_names(values)))
    if not names:
        return
    if import_object.all_code_is_allowed():
        with suppress(OSError):  # a directory that cannot be written must still be readable
            sign(run_dir, names)
    elif not _is_signed(run_dir, names):
        raise CodeNotAllowed(
            f"run {run_dir.name} names code to import ({', '.join(names)}), and was not trained by you here",
            at=str(layout.CONFIG.path(run_dir)),
        )
    import_object.permit_code(names)


def sign_permitted(run_dir: Path, config_text: str) -> None:
    """Signs a config that is about to be written, if this process may import all code that it names.
    `config_text`: YAML."""
    if not import_object.any_is_permitted():
        return  # most trainings: nothing to parse
    from ruamel.yaml import YAML

    from gymnast.config.named_code import code_names

    names = sorted(set(code_names(YAML(typ="safe", pure=True).load(config_text))))
    if names and all(map(import_object.is_permitted, names)):
        with suppress(OSError):  # without a key, its code must be allowed each time
            sign(run_dir, names)


def sign(run_dir: Path, names: Sequence[str]) -> None:
    """Writes the signature of the code that a run names."""
    durable.replace(layout.CODE.path(run_dir), _signature(names, _key(create=True)).encode())


def _is_signed(run_dir: Path, names: Sequence[str]) -> bool:
    try:
        with layout.CODE.path(run_dir).open("rb") as file:
            signature = file.read(1024)
        return hmac.compare_digest(signature, _signature(names, _key()).encode())
    except OSError:
        return False


def _signature(names: Sequence[str], key: bytes) -> str:
    return hmac.new(key, "\n".join(sorted(set(names))).encode(), hashlib.sha256).hexdigest()


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
