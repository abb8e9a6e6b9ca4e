import pickle
from importlib.metadata import EntryPoint
from textwrap import dedent

import pytest
from sklearn.cluster import KMeans

from kernelbraid.bench.trials import own_methods as module
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.own_methods import OwnMethod, installed_methods, is_method_file

MINE = """
class Mine:
    def __init__(self, n_clusters=2, power=1.0):
        self.n_clusters, self.power = n_clusters, power

    def fit(self, X):
        self.labels_ = [row % self.n_clusters for row in range(len(X))]
"""


@pytest.fixture
def write(tmp_path):
    """Write the file of a method and return its folder."""

    def to(text, name="mine.py"):
        (tmp_path / name).write_text(dedent(text))
        return tmp_path

    return to


@pytest.mark.parametrize("place", ["mine.py:Mine", "mine.py"])
def test_a_class_in_a_file_is_a_method_under_its_name(write, place):
    own = OwnMethod.at(place, write(MINE))
    assert own.name == "Mine"
    assert own.method().parameters == ["n_clusters", "power"]
    assert own.method().make(3, random_state=0).n_clusters == 3


def test_another_process_imports_the_same_class(write):
    own = OwnMethod.at("mine.py:Mine", write(MINE), "Yours", settings={"power": 2.0})
    again = pickle.loads(pickle.dumps(own))
    assert again == own
    assert again.load() is own.load()


def test_a_file_may_import_what_stands_beside_it(write, tmp_path):
    write("SHIFT = 7\n", "beside_the_method.py")
    write("from beside_the_method import SHIFT\n" + MINE)
    assert OwnMethod.at("mine.py", tmp_path).load().__name__ == "Mine"


def test_a_changed_file_is_another_method(write, tmp_path):
    first = OwnMethod.at("mine.py:Mine", write(MINE))
    second = OwnMethod.at("mine.py:Mine", write(MINE.replace("1.0", "3.0")))
    assert first.code != second.code
    with pytest.raises(ProtocolError, match="has changed since the run began"):
        first.load()
    assert second.load()().power == 3.0


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        (MINE, "other.py:Mine", "there is no file"),
        ("import nowhere_to_be_found\n", "mine.py:Mine", "could not be imported (ModuleNotFoundError: No module named"),
        ("def fit(:\n", "mine.py:Mine", "could not be imported (SyntaxError"),
        ("raise SystemExit\n", "mine.py:Mine", "could not be imported (SystemExit)"),
        (MINE.replace("fit", "fits"), "mine.py:Mine", "has no fit; a method is a class with fit(X) that sets labels_"),
        (MINE.replace("fit", "fits"), "mine.py", "has no class with fit"),
        (MINE + MINE.replace("Mine", "Yours"), "mine.py", "has 2 classes with fit: Mine, Yours"),
        (MINE, "mine.py:Yours", "has no class 'Yours', its classes: Mine; name one."),
        ("Mine = 7\n", "mine.py:Mine", "has no fit"),
        (MINE, "nobody-offers-this", "no installed package offers a method 'nobody-offers-this'"),
    ],
)
def test_what_is_wrong_with_a_method_is_one_sentence(write, text, place, says):
    folder = write(text)
    with pytest.raises(ProtocolError) as error:
        OwnMethod.at(place, folder).load()
    assert says in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_installed_packages_offer_methods(monkeypatch):
    points = [EntryPoint("Theirs", "sklearn.cluster:KMeans", "kernelbraid.methods")]
    monkeypatch.setattr(module, "entry_points", lambda group: [one for one in points if one.group == group])
    assert installed_methods() == ["Theirs"]
    own = OwnMethod.at("Theirs", module.Path())
    assert own.load() is KMeans
    assert own.code == "sklearn.cluster:KMeans"


def test_an_offer_that_does_not_import_is_one_sentence(monkeypatch):
    points = [EntryPoint("Theirs", "sklearn.cluster:Nothing", "kernelbraid.methods")]
    monkeypatch.setattr(module, "entry_points", lambda group: points)
    with pytest.raises(ProtocolError, match="'Theirs' could not be imported"):
        OwnMethod.at("Theirs", module.Path()).load()


def test_files_are_told_from_names_by_their_suffix():
    assert is_method_file("mine.py")
    assert is_method_file("folder/mine.py:Mine")
    assert not is_method_file("LKGr")
