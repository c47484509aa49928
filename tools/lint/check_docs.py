#!/usr/bin/env python3
# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""User pages exist in English and Chinese under the same names, and links inside the tree lead somewhere."""

import re

from common import main, tracked

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def check(root, build):
    """Problems, one a line."""
    pages = {lang: {p.relative_to(f"docs/{lang}") for p in tracked(root, ".md") if p.is_relative_to(f"docs/{lang}")} for lang in ("en", "zh")}
    problems = [f"docs/zh/{p}: missing" for p in sorted(pages["en"] - pages["zh"])]
    problems += [f"docs/en/{p}: missing" for p in sorted(pages["zh"] - pages["en"])]
    for path in tracked(root, ".md"):
        for target in LINK.findall((root / path).read_text()):
            if "://" not in target and not (root / path).parent.joinpath(target).exists():
                problems.append(f"{path}: the link {target} leads nowhere")
    return problems


if __name__ == "__main__":
    main(check)
