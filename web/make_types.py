"""Writes the TypeScript types of the API's records and arguments, from the same schemas as OpenAPI.

`python web/make_types.py` writes web/src/api/records.ts; `--check` only reports whether it is current.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gymnast.api import OPERATIONS
from gymnast.api.operation import Operation
from gymnast.record_schema import NOT_FINITE

OUT = Path(__file__).parent / "src" / "api" / "records.ts"
HEAD = "// Written by web/make_types.py from the records of gymnast.api; do not edit.\n"
SERVER_ARGUMENTS = ("runs_dir", "deadline")
"""Arguments that the server fills in."""
Schema = Mapping[str, object]


def types_text() -> str:
    """Returns the content of records.ts."""
    records: dict[str, Schema] = {}
    arguments: list[str] = []
    results: list[str] = []
    shapes: dict[str, object] = {}
    for operation in OPERATIONS.values():
        result = operation.result_schema()
        records |= {
            name: _mapping(record) for name, record in _mapping(result.get("$defs", {})).items()
        }
        if "properties" in result:
            records[str(result["title"])] = result
        name = _type(result, top=True)
        results.append(f"  {operation.name}: {name};")
        arguments.append(f"  {operation.name}: {_arguments(operation)};")
        shapes[operation.name] = _shape(result, top=True)
    interfaces = [_interface(name, record) for name, record in sorted(records.items())]
    record_shapes = {
        name: shape for name, record in sorted(records.items()) if (shape := _fields(record))
    }
    kept = _with_numbers(record_shapes)
    return "\n".join(
        [
            HEAD,
            *interfaces,
            "/** Operation -> its result; that of the task, if it starts one. */",
            "export interface Results {",
            *results,
            "}\n",
            "/** Operation -> its arguments. */",
            "export interface Arguments {",
            *arguments,
            "}\n",
            f"export type ReadOperation = {_names('reads')};",
            f"export type ChangeOperation = {_names('changes')};",
            f"export type TaskOperation = {_names('task')};\n",
            "/** Where numbers are in records: JSON has texts for those that are not finite. */",
            f"export const RECORD_SHAPES: Record<string, unknown> = {_compact(kept)};",
            "export const RESULT_SHAPES: Record<string, unknown> = "
            + _compact({name: _pruned(shape, kept) for name, shape in shapes.items()})
            + ";\n",
        ]
    )


def _names(effect: str) -> str:
    return " | ".join(f'"{o.name}"' for o in OPERATIONS.values() if o.effect == effect)


def _interface(name: str, record: Schema) -> str:
    """Returns the interface of a record. `to_json` writes all fields, so that none is optional."""
    lines = [f"{_comment(record)}export interface {name} {{"]
    for key, value in _mapping(record.get("properties", {})).items():
        schema = _mapping(value)
        lines.append(f"{_comment(schema, '  ')}  {key}: {_type(schema)};")
    return "\n".join([*lines, "}\n"])


def _arguments(operation: Operation) -> str:
    schema = operation.arguments_schema()
    required = schema.get("required", [])
    assert isinstance(required, list)
    fields = [
        f"{key}{'' if key in required else '?'}: {_type(_mapping(value))}"
        for key, value in _mapping(schema.get("properties", {})).items()
        if key not in SERVER_ARGUMENTS
    ]
    return f"{{ {'; '.join(fields)} }}" if fields else "Record<string, never>"


def _comment(schema: Schema, indent: str = "") -> str:
    text = str(schema.get("description", "")).replace("\n", " ").replace("*/", "* /")
    return f"{indent}/** {text} */\n" if text else ""


def _type(schema: Schema, top: bool = False) -> str:
    """Returns the TypeScript type of a schema. `top`: a result, whose record may be the schema itself."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        members = [m for m in _schemas(schema["anyOf"]) if m.get("enum") != NOT_FINITE]
        return " | ".join(dict.fromkeys(_type(member) for member in members))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        values = schema["enum"]
        assert isinstance(values, list)
        return " | ".join(json.dumps(value) for value in values)
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in _schemas(schema['prefixItems']))}]"
    kind = schema.get("type")
    if kind == "array":
        item = _type(_mapping(schema.get("items", {})))
        return f"({item})[]" if " | " in item else f"{item}[]"
    if kind == "object":
        if top and "title" in schema:
            return str(schema["title"])
        values = schema.get("additionalProperties", True)
        return (
            f"Record<string, {'unknown' if isinstance(values, bool) else _type(_mapping(values))}>"
        )
    plain = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean"}
    return "null" if kind == "null" else plain.get(str(kind), "unknown")


def _shape(schema: Schema, top: bool = False) -> object:
    """Returns where numbers are in a value: 1 is a number, [shape] a list, {"*": shape} a mapping,
    a text the name of a record; None if there are none."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        members = _schemas(schema["anyOf"])
        if any(member.get("enum") == NOT_FINITE for member in members):
            # A text "nan" of a value that may be a text too is that text.
            return None if any(member.get("type") == "string" for member in members) else 1
        found = [shape for member in members if (shape := _shape(member)) is not None]
        return found[0] if len(found) == 1 else None
    if "prefixItems" in schema:
        found = [_shape(item) for item in _schemas(schema["prefixItems"])]
        return {str(i): shape for i, shape in enumerate(found) if shape is not None} or None
    if schema.get("type") == "array":
        item = _shape(_mapping(schema.get("items", {})))
        return None if item is None else [item]
    if schema.get("type") == "object":
        if top and "title" in schema:
            return str(schema["title"])
        values = schema.get("additionalProperties", True)
        item = None if isinstance(values, bool) else _shape(_mapping(values))
        return None if item is None else {"*": item}
    return None


def _fields(record: Schema) -> dict[str, object]:
    fields = _mapping(record.get("properties", {}))
    shapes = {key: _shape(_mapping(value)) for key, value in fields.items()}
    return {key: shape for key, shape in shapes.items() if shape is not None}


def _with_numbers(shapes: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """Returns the records that have numbers, themselves or in the records they refer to."""
    while True:
        pruned = {
            name: kept
            for name, fields in shapes.items()
            if (kept := {k: s for k, v in fields.items() if (s := _pruned(v, shapes)) is not None})
        }
        if pruned == shapes:
            return shapes
        shapes = pruned


def _pruned(shape: object, known: Mapping[str, object]) -> object:
    """Returns a shape without references to records that have no numbers."""
    if isinstance(shape, str):
        return shape if shape in known else None
    if isinstance(shape, list):
        item = _pruned(shape[0], known)
        return None if item is None else [item]
    if isinstance(shape, dict):
        return {
            key: s for key, value in shape.items() if (s := _pruned(value, known)) is not None
        } or None
    return shape


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _mapping(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def _schemas(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value


if __name__ == "__main__":
    from made_file import write_or_check  # its directory is in the path only if this is the program

    raise SystemExit(write_or_check(OUT, types_text(), "web/make_types.py"))
