"""documented.py - what docs/SQL.md says of a database: its examples and the functions that it names, for the tests of that database."""

import pathlib, re

PAGE = (pathlib.Path(__file__).resolve().parent.parent / "docs" / "SQL.md").read_text()


def section(name):
    return re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", PAGE, flags=re.M | re.S)[1]


def examples(name):
    """The SQL statements, in order; lines for the shell, or for a database's own client, are left out."""
    lines = re.findall(r"^    (.*)$", section(name), flags=re.M)
    sql = "\n".join(line for line in lines if not re.match(r"make |sqlite> |D ", line))
    return [statement.strip() for statement in re.split(r";\s*$", sql, flags=re.M) if statement.strip()]


def functions(name):
    return set(re.findall(r"\bevb_\w+", section(name)))
