"""What the tests of the pages share."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import Checks  # noqa: E402, F401
from node import BUILD, ROOT  # noqa: E402, F401


def page(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def rows(text):
    """The cells of every row of every table."""
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip().strip("|").replace("\\|", "\0").split("|")]
