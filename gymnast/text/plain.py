"""Text from outside as plain text: nothing in it moves the cursor, changes colors or hides other text."""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # operating system commands: titles, links
    r"|[\x1b\x9b]\[?[0-?]*[ -/]*[@-~]"  # control sequences: colors, cursor
)
_KEPT = "\n\t"


def plain_text(text: str) -> str:
    """Returns a text without terminal escape sequences, control characters and characters that reverse or
    hide others. Line breaks and tabs stay; all line breaks become newlines."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n")).replace("\r", "\n")
    return "".join(c for c in text if c in _KEPT or not _is_control(c))


def _is_control(character: str) -> bool:
    # Cc: control characters; Cf: invisible formatting such as right-to-left overrides; Cs: lone surrogates.
    # The zero-width joiner is a part of many emoji.
    return unicodedata.category(character) in ("Cc", "Cf", "Cs") and character != "\u200d"
