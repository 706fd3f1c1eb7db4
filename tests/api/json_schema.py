"""A validator for the parts of JSON schema that pydantic's schemas use."""

from __future__ import annotations

from typing import Any

TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "array": list,
}
KNOWN = {
    *("$defs", "$ref", "title", "description", "default", "format", "type", "enum", "const"),
    *("anyOf", "oneOf", "properties", "required", "additionalProperties", "items", "prefixItems"),
    *("minItems", "maxItems", "uniqueItems", "propertyNames", "discriminator", "mapping"),
}


def problems(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Returns why a value does not fit a schema; empty if it does. `root`: the schema with `$defs`."""
    assert not schema.keys() - KNOWN, f"unknown parts of a schema: {schema.keys() - KNOWN}"
    if "$ref" in schema:
        return problems(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, at)
    found: list[str] = []
    for word in ("anyOf", "oneOf"):
        options = [problems(value, option, root, at) for option in schema.get(word, ())]
        if options and all(options):
            found += min(options, key=len)
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is not in {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{at}: {value!r} is not {schema['const']!r}")
    kind = schema.get("type")
    is_bool = isinstance(value, bool) and kind in ("integer", "number")
    if kind is not None and (is_bool or not isinstance(value, TYPES[kind])):
        return [*found, f"{at}: {value!r} is not of type {kind}"]
    if isinstance(value, dict):
        found += _object_problems(value, schema, root, at)
    if isinstance(value, list):
        parts = schema.get("prefixItems", [schema.get("items", {})] * len(value))
        if len(parts) != len(value):
            found.append(f"{at}: {len(value)} items instead of {len(parts)}")
        for i, (item, part) in enumerate(zip(value, parts, strict=False)):
            found += problems(item, part, root, f"{at}[{i}]")
    return found


def _object_problems(
    value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str
) -> list[str]:
    properties = schema.get("properties", {})
    found = [f"{at}.{key} is missing" for key in schema.get("required", ()) if key not in value]
    for key, item in value.items():
        rest = schema.get("additionalProperties", not properties)
        part = properties.get(key, rest)
        if part is False:
            found.append(f"{at}.{key} is not in the schema")
        elif part is not True:
            found += problems(item, part, root, f"{at}.{key}")
    return found
