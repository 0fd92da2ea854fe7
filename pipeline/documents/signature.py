"""What a block of code defines, by its first lines: functions, classes, tables, commands."""

import re

MOST_NAMED = 4
"""Definitions that a description names."""

_DEFINITIONS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^[ \t]*((?:async )?def \w+\([^)]*\)(?: *-> *[^:\n]+)?)",
        r"^[ \t]*(class \w+(?:\([^)]*\))?)",
        r"^[ \t]*((?:export )?(?:default )?(?:async )?function\*? \w+\([^)]*\))",
        r"^[ \t]*((?:pub(?:\([^)]*\))? )?(?:async )?fn \w+(?:<[^>]*>)?\([^)]*\)(?: *-> *[^{\n]+)?)",
        r"^[ \t]*(func (?:\([^)]*\) )?\w+\([^)]*\)(?: *[\w*.()\[\], ]+)?)",
        r"^[ \t]*((?:pub |export )?(?:struct|enum|trait|interface|type) \w+)",
        r"^[ \t]*((?:(?:public|private|protected|static|final|const|inline) )+[\w<>\[\], :*&]+"
        r"\([^)]*\))(?=\s*(?:\{|throws))",
        r"(?i:^[ \t]*(create (?:table|view|index) (?:if not exists )?[\w.\"]+))",
        r"^[ \t]*((?:export )?(?:const|let|var) \w+) *= *(?:async )?(?:\([^)]*\)|\w+) *=>",
    )
)


def signature(code: str) -> str:
    """The definitions in their order, or the first line that says anything."""
    found = sorted(
        {
            (match.start(1), " ".join(match[1].split()))
            for one in _DEFINITIONS
            for match in one.finditer(code)
        }
    )
    named = list(dict.fromkeys(text for _, text in found))
    if named:
        more = "; …" if len(named) > MOST_NAMED else ""
        return "; ".join(named[:MOST_NAMED]) + more
    lines = (line.strip() for line in code.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "//", "--"))), "")
    return first[:120] or code.strip().splitlines()[0][:120]
