#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Writes one page for each operator family from the schemas: operators.py SCHEMA_FOLDER OUTPUT_FOLDER.

The pages are built, not committed; a second list of families would only go stale.
"""

import json
import pathlib
import sys

STEPS = (
    '`{"op": "add", "input": NAME}`, the same with `sub` and `mul`: the operand broadcasts against the result',
    '`{"op": "scale", "value": X}`',
    '`{"op": "clamp", "min": X, "max": Y}`',
    '`{"op": "relu"}`, the same with `silu`, `sigmoid`, `tanh`',
    '`{"op": "gelu", "approximate": "none"}` or `"tanh"`',
)


def cell(text):
    """Text that can stand in a table."""
    return text.replace("|", "\\|")


def table(heads, rows):
    """Lines of a table."""
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *(f"| {' | '.join(map(cell, row))} |" for row in rows), ""]


def operand_rows(operands):
    """One row for each operand."""
    for name, facts in operands.items():
        shown = "your names" if name == "*" else f"`{name}`"
        yield shown + (" (optional)" if facts.get("optional") else ""), facts["shape"], ", ".join(facts["dtypes"]), facts["doc"]


def attribute_rows(attributes):
    """One row for each attribute."""
    for name, facts in attributes.items():
        kind = " ".join(f"`{c}`" for c in facts["choices"]) if "choices" in facts else facts["type"]
        default = facts.get("default_text") or ("required" if facts.get("required") else f"`{json.dumps(facts['default'])}`")
        yield f"`{name}`", kind, default, facts["doc"]


def page(schema):
    """The text of a family's page."""
    lines = [f"# {schema['op']}", "", schema["summary"], ""]
    for title, key in (("Inputs", "inputs"), ("Outputs", "outputs")):
        lines += [f"## {title}", "", *table(("name", "shape", "types", "meaning"), operand_rows(schema[key]))]
    if schema.get("attributes"):
        lines += ["## Attributes", "", *table(("name", "type", "default", "meaning"), attribute_rows(schema["attributes"]))]
    if schema.get("epilogue"):
        lines += ["## Epilogue", "", *(f"- {step}" for step in STEPS), ""]
    if schema.get("notes"):
        lines += ["## Notes", "", *(f"- {note}" for note in schema["notes"]), ""]
    lines += ["## Examples", ""]
    for title, description in schema["examples"].items():
        lines += [f"{title}:", "", "```json", json.dumps(description, indent=2), "```", ""]
    return "\n".join(lines)


def main():
    schemas, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    for path in sorted(schemas.glob("*.json")):
        schema = json.loads(path.read_text())
        if schema["op"] != path.stem:
            sys.exit(f"{path.name}: describes {schema['op']}")
        (output / f"{path.stem}.md").write_text(page(schema))


if __name__ == "__main__":
    main()
