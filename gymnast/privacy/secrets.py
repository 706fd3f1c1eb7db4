"""Patterns of secrets in texts and in settings: tokens, keys, passwords."""

from __future__ import annotations

import re
from collections.abc import Mapping

REMOVED = "[removed]"
"""Replaces a secret."""

_NAMES = (
    r"api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|token|secret|passw(?:or)?d|passphrase"
    r"|credentials?|authorization|cookie"
)
_SECRET_NAME = re.compile(rf"(?i)(?:{_NAMES})|[._-](?:key|auth|pwd)$")
_PREFIXED = {
    r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}": (  # OpenAI, Anthropic, Stripe
        *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"),
    ),
    r"\bgh[pousr]_[A-Za-z0-9]{16,}": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),  # GitHub
    r"\bgithub_pat_\w{16,}": ("github_pat_",),
    r"\bglpat-[\w-]{16,}": ("glpat-",),  # GitLab
    r"\bhf_[A-Za-z0-9]{16,}": ("hf_",),  # Hugging Face
    r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}": ("AKIA", "ASIA"),  # AWS
    r"\bAIza[\w-]{30,}": ("AIza",),  # Google
    r"\bxox[a-z]-[\w-]{10,}": ("xox",),  # Slack
    r"\bnpm_[A-Za-z0-9]{30,}": ("npm_",),
    r"\bpypi-[\w-]{16,}": ("pypi-",),
    r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?": ("eyJ",),  # JSON Web Tokens
}
"""Tokens that begin with the name of their kind -> how they may begin. Nothing else looks like them, not even
in binary files."""
_TOKENS = (
    *_PREFIXED,
    r"(?<![A-Za-z0-9])[A-Fa-f0-9]{32,}(?![A-Za-z0-9])",  # W&B keys, digests
    # Long texts with digits and both cases are random; words and numbers are not.
    r"(?<![\w+-])(?=[\w+-]*\d)(?=[\w+-]*[A-Z])(?=[\w+-]*[a-z])[\w+-]{32,}[\w+/=-]*",
)
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)", re.S)
# The start of a key may be missing, for example in the last lines of a log.
_PEM_END = re.compile(r"\A(?:(?!-----BEGIN).)*?-----END [A-Z ]*PRIVATE KEY-----", re.S)
_IN_URL = re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^\s/@]{1,200}@")
_SCHEME = re.compile(r"(?i)\b(bearer|basic|digest)[ \t]+[\w.~+/=-]{6,}")
# Lengths are limited so that long lines without spaces take no longer than others.
_BEFORE, _AFTER = r"[\w.-]{0,40}", r"[\w.-]{0,40}"
_ASSIGNED = re.compile(
    rf"(?i)({_BEFORE}(?:{_NAMES}){_AFTER}[\"'`]*[ \t]*[:=|][ \t]*`*)"
    r"(\"[^\"\n]*\"|'[^'\n]*'|[^\s|]+)"
)
# Without a sign between name and value: in a sentence, only what is no ordinary word is a value.
_NAMED = re.compile(
    rf"(?i)((?:{_BEFORE}[_.-](?:{_NAMES}|key){_AFTER}|(?:{_NAMES})[_.-]{_AFTER}"
    r"|(?:api|access|private|auth)[_-]key)[ \t]+)(\S+)"
    rf"|((?:{_NAMES})[ \t]+(?:is[ \t]+)?)(?=\S*\d)(\S+)"
)
_NAME = re.compile(rf"(?i){_NAMES}|[_.-]key")
_TOKEN = re.compile("|".join(_TOKENS))
_IN_BYTES = {
    re.compile(pattern.encode()): tuple(start.encode() for start in starts)
    for pattern, starts in (
        _PREFIXED | {"-----BEGIN [A-Z ]*PRIVATE KEY-----": ("PRIVATE KEY-----",)}
    ).items()
}
_SHORTEST = 6
"""Length of the shortest value of an environment variable that is looked for in texts."""


def is_secret_name(name: str) -> bool:
    """Returns whether a setting or an environment variable with this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def secret_variables(environment: Mapping[str, str]) -> list[str]:
    """Returns the values of the environment variables whose names say that they are secret."""
    values = {v for name, v in environment.items() if is_secret_name(name) and len(v) >= _SHORTEST}
    return sorted(values, key=len, reverse=True)


def has_token(content: bytes) -> bool:
    """Returns whether a file, which may be binary, has a token of a known kind or a private key."""
    return any(
        pattern.search(content)
        for pattern, starts in _IN_BYTES.items()
        if any(start in content for start in starts)  # which is much faster than the pattern
    )


def remove_secrets(text: str) -> str:
    """Returns a text in which everything that looks like a secret is replaced."""
    if "PRIVATE KEY-----" in text:
        text = _PEM_END.sub(REMOVED, _PEM.sub(REMOVED, text))
    text = _IN_URL.sub(rf"\g<1>{REMOVED}@", text)
    text = _SCHEME.sub(rf"\g<1> {REMOVED}", text)
    if _NAME.search(text):  # few lines have one, and the patterns around it are slow
        text = "\n".join(_remove_named(line) for line in text.split("\n"))
    return _TOKEN.sub(REMOVED, text)


def _remove_named(line: str) -> str:
    """Returns a line without the values that follow the name of a secret."""
    if not _NAME.search(line):
        return line
    line = _ASSIGNED.sub(rf"\g<1>{REMOVED}", line)
    return _NAMED.sub(lambda found: f"{found[1] or found[3]}{REMOVED}", line)
