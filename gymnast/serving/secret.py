"""The secret with which sessions and tokens are signed, one per user of the machine."""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from gymnast.serving.options import ServerOptions
from gymnast.settings import state_directory

LENGTH = 32
SIGNATURE_DIGITS = 40
"""Hexadecimal digits of a signature: 160 bits."""


def user_secret() -> bytes:
    """Returns the secret of this user, from a file in the state directory that only the user can read. It is
    created if there is none, and replaced if others could read it. Without a writable state directory, it
    is a new one, and browsers must sign in again after a restart."""
    file = state_directory() / "studio-secret"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _read(file) or _create(file)
    except OSError:
        return secrets.token_bytes(LENGTH)


def scope_key(options: ServerOptions, secret: bytes) -> bytes:
    """Returns the key for a runs directory and the rights of its server. A token of a read-only server gives
    no right to change something in another one."""
    rights = "read" if options.read_only else "code" if options.allow_code else "change"
    scope = f"{options.runs_dir.resolve()}\n{rights}"
    return hmac.new(secret, scope.encode(errors="surrogateescape"), sha256).digest()


def sign(key: bytes, text: str) -> str:
    """Returns the signature of a text, in hexadecimal digits."""
    return hmac.new(key, text.encode(errors="replace"), sha256).hexdigest()[:SIGNATURE_DIGITS]


def _read(file: Path) -> bytes | None:
    """Returns the stored secret; None if there is none, or others could have read it."""
    try:
        with file.open("rb") as opened:
            stat = os.fstat(opened.fileno())
            secret = opened.read()
    except FileNotFoundError:
        return None
    is_private = stat.st_mode & 0o077 == 0 and stat.st_uid == os.getuid()
    if is_private and len(secret) == LENGTH:
        return secret
    with suppress(FileNotFoundError):
        file.unlink()
    return None


def _create(file: Path) -> bytes:
    """Stores a new secret, unless another process just did, and returns the stored one."""
    draft = file.with_name(f"{file.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as opened:
            opened.write(secrets.token_bytes(LENGTH))
        with suppress(FileExistsError):
            os.link(draft, file)  # all at once: nobody reads half of it
    finally:
        draft.unlink()
    return file.read_bytes()
