"""One table of what users are told, in another tree of the project and in this one.

Two sources, so that nothing is missed: every sentence in the code, its facts being 7, and what calls and commands say
that go wrong. ``python tests/test_messages.py --against FOLDER`` prints it.
"""

import ast
import difflib
import json
import os
import string
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernelbraid._messages import PHRASES, Message
from kernelbraid.cli.messages import InOptions
from provoked_messages import CALLS, COMMANDS

HERE = Path(__file__).resolve().parents[1]
COMMAND_LINE = InOptions({})
# Rooms whose sentences the command line words for itself; all others have one wording.
WORDED = ("_arrays.py", "_cluster.py", "blocks/", "estimators/", "kernels/", "learning/", "solvers/")
# Files with pieces that other sentences hold.
SILENT = ("_messages.py", "cli/wording.py", "cli/messages.py")
LEAST_WORDS, MOST_LETTERS = 4, 1000  # less is a name, a key or a piece, more a style or a script
ALIKE = 0.6  # share of equal letters above which two sentences are one, reworded
# Words another tree in its own way, where it has one.
WORD = """
import json, sys
try:
    from kernelbraid.cli.wording import in_options
except ImportError:
    print("null")
else:
    print(json.dumps([in_options(text, estimator="LKG", method="LKG") for text in json.load(sys.stdin)]))
"""


class Seven:
    """A fact that is 7 in every format."""

    def __format__(self, spec):
        return "7"

    def __add__(self, other):
        return self

    __str__ = __repr__ = lambda self: "7"


@dataclass(frozen=True)
class Row:
    """A message: where it stands or what calls for it, and its wordings; a tree that does not have it says nothing."""

    place: str
    before: str = ""
    after: str = ""
    before_options: str = ""
    after_options: str = ""

    @property
    def note(self):
        if (self.before, self.before_options) == (self.after, self.after_options):
            return "same"
        if not self.before + self.before_options:
            return "new"
        return "reworded" if self.after + self.after_options else "gone"


# Sentences in the code


def literals(path):
    """Yield the texts of a file that are no docstrings: what they say with 7 for every fact, and whether it is one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    seen = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in seen:
            continue
        if isinstance(node, ast.JoinedStr):
            seen |= {id(part) for part in ast.walk(node)}
            yield "".join(part.value if isinstance(part, ast.Constant) else "7" for part in node.values), False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, True


def message_of(text):
    """Return the text as a message with 7 for every fact, None if it is no template."""
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(text) if field]
        names = [field.rpartition(".")[2] for field in fields + fields_of_phrases(fields)]
        return Message(text, **{name: Seven() for name in names if name not in PHRASES})
    except (KeyError, ValueError, IndexError):
        return None


def fields_of_phrases(fields):
    texts = [PHRASES[field] for field in fields if field in PHRASES]
    return [field for text in texts for _, field, _, _ in string.Formatter().parse(text) if field]


def sentences(tree):
    """Return the place, the Python wording and that of the command line of every sentence of a tree."""
    source, found = tree / "src" / "kernelbraid", {}
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source).as_posix()
        if place.startswith(SILENT):
            continue
        for text, is_constant in literals(path):
            message = message_of(text) if is_constant and "{" in text else None
            said = " ".join(str(text if message is None else message).split())
            is_type = " | " in said
            if len(said.split()) >= LEAST_WORDS and len(said) <= MOST_LETTERS and not is_type:
                worded = said if message is None else " ".join(message.worded(COMMAND_LINE).split())
                found.setdefault(said, (place, worded if place.startswith(WORDED) else said))
    asked = [said for said, (place, _) in found.items() if place.startswith(WORDED)]
    told = json.loads(python(tree, WORD, json.dumps(asked)))
    own = {} if told is None else dict(zip(asked, told, strict=True))
    return [(place, said, own.get(said, worded)) for said, (place, worded) in found.items()]


def compared(before, after):
    """Return a row for every sentence of two trees: equal ones, then those that are alike, then those of one alone."""
    old, new = {said: rest for said, *rest in map(turned, before)}, {said: rest for said, *rest in map(turned, after)}
    pairs = [(said, said) for said in old if said in new]
    left, right = [said for said in old if said not in new], [said for said in new if said not in old]
    ratios = [(difflib.SequenceMatcher(None, a, b).ratio(), a, b) for a in left for b in right]
    for ratio, a, b in sorted(ratios, reverse=True):
        if ratio > ALIKE and a in left and b in right:
            pairs.append((a, b))
            left.remove(a)
            right.remove(b)
    rows = [Row(new[b][0], a, b, old[a][1], new[b][1]) for a, b in pairs]
    rows += [Row(old[a][0], before=a, before_options=old[a][1]) for a in left]
    return rows + [Row(new[b][0], after=b, after_options=new[b][1]) for b in right]


def turned(sentence):
    place, said, worded = sentence
    return said, place, worded


# What is said when something goes wrong


def python(tree, code, text=""):
    """Run code with a tree of the project."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [sys.executable, "-c", code], input=text, env=env, cwd=folder, capture_output=True, text=True, check=False
        )
    if result.returncode:
        raise RuntimeError(result.stderr)
    return result.stdout.splitlines()[-1]


def told_in(tree):
    """Return what a tree says to the calls and the commands of `provoked_messages`."""
    code = (Path(__file__).parent / "provoked_messages.py").read_text(encoding="utf-8")
    return json.loads(python(tree, code + "\nprint(tell())"))


def provoked(before, after):
    """Return a row for every call and command in two trees."""
    old, new = told_in(before), told_in(after)
    rows = [Row(call, old["calls"][call], new["calls"][call]) for call in CALLS]
    told = [(command, old["commands"][command], new["commands"][command]) for command in COMMANDS]
    return rows + [Row(command, before_options=a, after_options=b) for command, a, b in told]


# The table


def rows_against(before, after=HERE):
    """Return all rows of two trees."""
    return compared(sentences(before), sentences(after)) + provoked(before, after)


def markdown(rows):
    """Return the table with the number of its rows of each kind; what differs stands first."""
    order = {"reworded": 0, "gone": 1, "new": 2, "same": 3}
    rows = sorted(rows, key=lambda row: order[row.note])
    counts = ", ".join(f"{sum(row.note == note for row in rows)} {note}" for note in order)
    header = ("", "where", "Python before", "Python after", "command line before", "command line after")
    lines = [header, ("---",) * len(header)]
    lines += [(row.note, row.place, row.before, row.after, row.before_options, row.after_options) for row in rows]
    cells = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([f"{len(rows)} messages: {counts}.", "", *cells])
