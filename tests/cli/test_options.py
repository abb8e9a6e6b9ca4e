import inspect
from typing import get_args

import pytest

from kernelbraid.cli import arguments, options
from kernelbraid.cli.recipe import FITTED
from kernelbraid.estimators import LKG

#: Parameters of estimators under the names of their options, where the two differ.
RENAMED = {
    "clusters": "n_clusters",
    "landmarks": "n_landmarks",
    "penalty": "graph_penalty",
    "neighbors": "n_neighbors",
    "jobs": "n_jobs",
    "seed": "random_state",
}
#: What the program itself does.
OURS = {"data", "out", "save", "as_json", "quiet", "key", "id_column", "drop", "header", "scale", "dask"}
OURS |= {"method", "confidence", "file_format", "delimiter", "decimal", "verbose"}


def option(annotation):
    """Return what typer is told of an option."""
    return get_args(annotation)[1]


OPTIONS = {name: option(value) for name, value in vars(options).items() if hasattr(value, "__metadata__")}


def test_every_option_of_cluster_is_a_parameter_that_some_estimator_has():
    taken = {name for model in FITTED.values() for name in model.get_params()}
    asked = {RENAMED.get(name, name) for name in set(inspect.signature(arguments.cluster).parameters) - OURS}
    assert asked <= taken
    assert set(RENAMED.values()) <= asked


def test_every_help_text_is_sentences():
    for name in OPTIONS:
        text = OPTIONS[name].help
        assert text == " ".join(text.split())
        assert text.endswith(".")
        assert text[0].isupper() or text[0] == "."


def test_every_option_is_one_of_cluster():
    used = [parameter.annotation for parameter in inspect.signature(arguments.cluster).parameters.values()]
    unused = [name for name in OPTIONS if getattr(options, name) not in used]
    assert unused == []


def test_nothing_is_given_by_default_but_the_seed():
    parameters = inspect.signature(arguments.cluster).parameters.values()
    given = {parameter.name: parameter.default for parameter in parameters if parameter.name != "data"}
    assert {name: value for name, value in given.items() if value is not None and value is not False} == {"seed": 0}


def test_an_option_takes_the_words_that_its_help_shows():
    for name in [name for name, told in OPTIONS.items() if "|" in (told.metavar or "") and told.parser]:
        told = OPTIONS[name]
        for word in told.metavar.replace("N|Ts", "3|3s").replace("N|", "3|").split("|"):
            assert str(told.parser(word)) in (word, "3.0")


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("Preset", "preset"),
        ("Penalty", "graph_penalty"),
        ("GraphFrom", "graph_from"),
        ("Edges", "edge_weights"),
        ("Storage", "storage"),
        ("FusionOf", "fusion"),
    ],
)
def test_the_words_of_an_option_are_those_of_the_estimator(name, parameter):
    words = OPTIONS[name].metavar.split("|")
    allowed = {word for kind in LKG._parameter_constraints[parameter] for word in getattr(kind, "options", ())}
    assert set(words) == allowed
