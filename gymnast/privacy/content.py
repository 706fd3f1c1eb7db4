"""Cleans the content of files: documents value by value, tables cell by cell, headers of arrays.

A file in which nothing is private keeps its bytes, so that hashes and numbers stay what they are.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import cast

from gymnast.privacy.sanitize import Sanitizer
from gymnast.records import JsonValue

_CELL = re.compile(r"[^,\n]*[A-Za-z/\\@][^,\n]*")
"""A cell of a table that may be more than a number."""
_ALIAS = re.compile(rb"(^|[\s\[{,-])\*\w")
"""An alias in YAML."""
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|nan|inf)", re.IGNORECASE)


def clean_content(name: str, content: bytes, sanitizer: Sanitizer) -> bytes:
    """Returns the content of a file without anything private. `name`: its file name, whose suffix says what
    it is. Raises ValueError for arrays (.safetensors) that cannot be read; a document that cannot be parsed
    is cleaned as text."""
    suffix = name.rpartition(".")[2]
    if suffix == "safetensors":
        return _clean_tensors(content, sanitizer)
    try:
        clean = _CLEANERS.get(suffix, _clean_text)
        return clean(content, sanitizer)
    except (ValueError, RecursionError):
        return _clean_text(content, sanitizer)


def _clean_text(content: bytes, sanitizer: Sanitizer) -> bytes:
    return sanitizer.text(content.decode(errors="replace")).encode()


def _clean_json(content: bytes, sanitizer: Sanitizer) -> bytes:
    stored: JsonValue = json.loads(content)
    clean = sanitizer.value(stored)
    if clean == stored:
        return content
    return json.dumps(clean, ensure_ascii=False, indent=1 if b"\n" in content else None).encode()


def _clean_json_lines(content: bytes, sanitizer: Sanitizer) -> bytes:
    """Cleans every line. A line that was cut short by a crash, or is being written, is dropped."""
    lines: list[bytes] = []
    for line in content.splitlines():
        try:
            lines.append(_clean_json(line, sanitizer))
        except (ValueError, RecursionError):
            continue
    return b"".join(line + b"\n" for line in lines)


def _clean_yaml(content: bytes, sanitizer: Sanitizer) -> bytes:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if _ALIAS.search(content):  # a few lines could stand for billions of values
        raise ValueError("it has aliases")
    yaml = YAML(typ="safe", pure=True)
    try:
        stored = cast("JsonValue", yaml.load(content))
    except YAMLError as error:
        raise ValueError(str(error)) from error
    clean = sanitizer.value(stored)
    # Comments are no values: a file in which something looks private outside of values is written anew.
    if clean == stored and _clean_text(content, sanitizer) == content:
        return content
    yaml.default_flow_style, yaml.width = None, 1 << 20  # no line breaks inside of texts
    yaml.sort_base_mapping_type_on_output = False  # pyright: ignore[reportAttributeAccessIssue]
    text = io.StringIO()
    yaml.dump(clean, text)  # pyright: ignore[reportUnknownMemberType]
    return text.getvalue().encode()


def _clean_table(content: bytes, sanitizer: Sanitizer) -> bytes:
    """Cleans the cells that are not numbers, each text once: a table of steps has millions of cells."""
    known: dict[str, str] = {}

    def clean(cell: re.Match[str]) -> str:
        text = cell[0]
        if text not in known:
            known[text] = text if _NUMBER.fullmatch(text) else sanitizer.text(text)
        return known[text]

    return _CELL.sub(clean, content.decode()).encode()


def _clean_tensors(content: bytes, sanitizer: Sanitizer) -> bytes:
    """Cleans the metadata in the header of a safetensors file; its arrays follow unchanged. Raises ValueError
    if there is no such header."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    if not isinstance(header, dict):
        raise ValueError("is not a safetensors file")
    metadata = cast("dict[str, str]", header.get("__metadata__", {}))  # pyright: ignore[reportUnknownMemberType]
    clean = {
        sanitizer.text(key): _clean_metadata(text, sanitizer) for key, text in metadata.items()
    }
    if clean == metadata:
        return content
    head = json.dumps(header | {"__metadata__": clean}, ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)  # arrays are aligned
    return len(head).to_bytes(8, "little") + head + content[8 + length :]


def _clean_metadata(text: str, sanitizer: Sanitizer) -> str:
    """Cleans an entry of the metadata, which is a JSON document or plain text."""
    try:
        stored: JsonValue = json.loads(text)
    except ValueError:
        return sanitizer.text(text)
    clean = sanitizer.value(stored)
    return text if clean == stored else json.dumps(clean, ensure_ascii=False)


_CLEANERS: dict[str, Callable[[bytes, Sanitizer], bytes]] = {
    "json": _clean_json,
    "jsonl": _clean_json_lines,
    "yaml": _clean_yaml,
    "csv": _clean_table,
}
