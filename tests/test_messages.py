"""What the library says, in the words of Python and of the command line."""

import ast
import copy
import inspect
import pickle
import re
import string
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kernelbraid
from kernelbraid import LKG, KernelKMeans, LandmarkLKG, MultipleKernelKMeans
from kernelbraid._messages import PHRASES, PYTHON, Message, content_of, join, say
from kernelbraid.cli.app import app
from kernelbraid.cli.messages import InOptions
from kernelbraid.learning.report import alternation_complaint
from kernelbraid.solvers.status import ADRIFT, DIVERGED, Status

SOURCE = Path(kernelbraid.__file__).parent
COMMAND_LINE = InOptions({"LKG": "LKGr"})
# Facts of which a number says too little; all others are 7 here.
FACTS = {
    "advice": "samples are rows",
    "aim": Message(" ({set.tol:g})", tol=7.0),
    "bad": "NaN",
    "chosen": join(", ", [Message("{set.alpha:s}", alpha="7"), Message("{set.graph_penalty:s}", graph_penalty="l1")]),
    "device": "cuda",
    "dtype": "complex128",
    "estimator": "LKG",
    "feature": Message("{feature.number}", number=7, view=1),
    "filling": "drop such samples or fill them in",
    "fitted": "2 settings were fitted.",
    "graph_from": "J",
    "header": "age",
    "is_there": "are free",
    "kept": "No setting is sound.",
    "kernel": "linear",
    "kernels": "precomputed",
    "kind": "generator",
    "limit": "7 GB",
    "name": Message("{view.number} of {data}", number=1),
    "needed": "7 TB",
    "overall": Message(", row {row} of {data}", row=7),
    "places": "cpu, cuda",
    "remedy": "Scale the kernels.",
    "returned": "",
    "room": "7 GB",
    "scaler": "StandardScaler()",
    "shape": (7, 7),
    "share": 0.7,
    "storage": "lazy",
    "told": "7 rows",
    "unsettled": Message("still changes by {change:.1e} ({set.tol:g})", change=7.0, tol=7.0),
    "ways": join(" or ", [Message("{through_landmarks}", n_clusters=7, n_landmarks=500), "fewer samples"]),
    "what": "stopped",
    "where": Message("{data}"),
    "which": "All 7 kernels",
}
# Where templates are put together while the library runs; tests of their own say them.
BUILT = {"_messages.py", "solvers/status.py", "estimators/tryouts.py"}


def fields(template):
    """Return the facts that a template needs, those of its phrases too."""
    for _, field, _, _ in string.Formatter().parse(template):
        if field in PHRASES:
            yield from fields(PHRASES[field])
        elif field:
            kind, _, name = field.partition(".")
            yield name or kind


def filled(template):
    return Message(template, **{name: FACTS.get(name, 7) for name in fields(template)})


def calls():
    """Yield the file and the template of every message in the source; None for one that is put together."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message":
                (template,) = node.args
                constant = template.value if isinstance(template, ast.Constant) else None
                yield path.relative_to(SOURCE).as_posix(), constant


def messages():
    """Return every message of the library, with facts that are like those of a fit."""
    found = [filled(template) for _, template in calls() if template is not None]
    sentences = [sentence for status in Status for sentence in status.sentences.values()]
    found += [filled(f"{sentence.what}. {sentence.remedy}") for sentence in [*sentences, ADRIFT, DIVERGED]]
    return list(dict.fromkeys(found))


def options_of_cluster():
    told = CliRunner().invoke(app, ["cluster", "--help"], env={"COLUMNS": "300", "TERM": "dumb", "NO_COLOR": "1"})
    return set(re.findall(r"--[a-z-]+", told.stdout))


def parameters_with_underscores():
    estimators = (LKG, LandmarkLKG, KernelKMeans, MultipleKernelKMeans)
    names = {name for estimator in estimators for name in inspect.signature(estimator).parameters}
    return {name for name in names if "_" in name}


# The library's messages


def test_only_known_places_put_templates_together():
    assert {path for path, template in calls() if template is None} <= BUILT


def test_the_command_line_says_everything_without_python():
    assert len(messages()) > 50
    for message in messages():
        words = message.worded(COMMAND_LINE)
        assert words.strip()
        assert not re.search(r"[={]|\bX\b", words), words
        assert not set(re.findall(r"\w+", words)) & {*parameters_with_underscores(), "memory_budget", "history_"}, words


def test_the_command_line_names_only_options_that_it_has():
    named = {option for message in messages() for option in re.findall(r"--[a-z-]+", message.worded(COMMAND_LINE))}
    assert {"--max-iter", "--landmarks", "--device", "--storage", "--clusters"} <= named
    assert named <= options_of_cluster()


# The mechanism


def test_a_message_is_its_python_wording():
    message = Message(
        "{set.mu:g} and {name.tol} of {class.who} on {data}; {set.device}", mu=1.0, who="LKG", device="cpu"
    )
    assert message == "mu=1 and tol of LKG on X; device='cpu'"
    assert message == message.worded(PYTHON)
    assert message.worded(COMMAND_LINE) == "--mu 1 and --tol of LKGr on DATA; --device cpu"


def test_a_message_tells_which_parameters_it_is_about():
    inner = Message("{set.mu}", mu=2)
    assert Message("{set.tol} {name.max_iter} {inner} {n}", tol=1, inner=inner, n=3).parameters == {
        "tol": 1,
        "max_iter": None,
        "mu": 2,
    }


def test_a_complaint_carries_what_it_says_as_data():
    told = alternation_complaint("KernelKMeans", Status.MAX_ITER, max_iter=9, unsettled="its clusters still changed")
    assert told == "KernelKMeans made max_iter=9 steps and its clusters still changed. Raise max_iter."
    assert told.parameters == {"max_iter": 9}
    words = InOptions({"KernelKMeans": "KKM"})
    assert told.worded(words) == "KKM made 9 steps and its clusters still changed. Raise --max-iter."


@pytest.mark.parametrize(("count", "words"), [(0, "0 samples"), (1, "1 sample"), (2, "2 samples")])
def test_counts_have_a_plural(count, words):
    assert Message("{n:#sample}", n=count) == words


def test_messages_travel_in_errors_between_processes():
    message = Message("{set.n_clusters} of {inner}", n_clusters=3, inner=Message("{data}"))
    for error in (ValueError(message), MemoryError(message), UserWarning(message)):
        for travelled in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error), copy.copy(error)):
            assert type(travelled) is type(error)
            assert str(travelled) == "n_clusters=3 of X"
            assert content_of(travelled).worded(COMMAND_LINE) == "--clusters 3 of DATA"


def test_parts_are_joined():
    joined = join(" or ", [Message("{set.mu}", mu=1), "fewer samples"])
    assert joined == "mu=1 or fewer samples"
    assert joined.worded(COMMAND_LINE) == "--mu 1 or fewer samples"
    assert join(", ", []) == ""


def test_what_is_no_message_stays_what_it_is():
    assert say(content_of(ValueError("X is wrong.")), COMMAND_LINE) == "X is wrong."
    assert content_of(ValueError("a", "b")) == "('a', 'b')"
    assert content_of(MemoryError()) == ""


def test_a_placeholder_of_an_unknown_kind_or_without_a_fact_is_a_mistake():
    for template in ("{other.mu}", "{set.mu}", "{nothing}"):
        with pytest.raises(KeyError):
            Message(template, nu=1)
