import pytest

from kernelbraid.bench.records.store import Store
from kernelbraid.bench.trials import own_methods
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.experiment import read_experiment
from kernelbraid.bench.trials.runner import run, run_group
from kernelbraid.datasets import DataError, available, load

FLOWERS = "x,y_,species\n" + "".join(f"{row % 2 * 9 + row / 40},{row % 3},{'ab'[row % 2]}\n" for row in range(20))
MINE = """
import numpy as np

class Mine:
    def __init__(self, n_clusters=2, column=0):
        self.n_clusters, self.column = n_clusters, column

    def fit(self, X):
        self.labels_ = (X[:, self.column] > X[:, self.column].mean()).astype(int)
"""
WHOLE = """
title = "Mine"

[data.flowers]
files = "flowers.csv"
labels = "species"

[methods.First]
class = "mine.py:Mine"
grid = { column = [0, 1] }

[[run]]
data = ["flowers", "wine"]
methods = ["First", "KMeans"]
scoring = ["once"]
"""


@pytest.fixture
def read(tmp_path):
    """Read an experiment beside which there are a table and a method."""
    (tmp_path / "flowers.csv").write_text(FLOWERS)
    (tmp_path / "mine.py").write_text(MINE)

    def of(text):
        (tmp_path / "mine.toml").write_text(text)
        return read_experiment(tmp_path / "mine.toml", load, available(), "1.0")

    return of


def by_method(experiment):
    return [(trial.data, trial.method, dict(trial.parameters)) for trial in experiment.trials]


def test_tables_name_data_and_methods_and_a_grid_is_gone_through(read):
    experiment = read(WHOLE)
    expected = [(data, "First", {"column": at}) for data in ("flowers", "wine") for at in (0, 1)]
    assert [found for found in by_method(experiment) if found[1] == "First"] == expected
    assert all(bool(trial.code) == (trial.method == "First") for trial in experiment.trials)


def test_files_in_the_lists_of_a_run_have_their_own_names(read, tmp_path):
    (tmp_path / "groups.csv").write_text(FLOWERS.replace("species", "class"))
    experiment = read('[[run]]\ndata = ["groups.csv"]\nmethods = ["mine.py:Mine", "LKG"]\n')
    assert by_method(experiment) == [("groups", "Mine", {}), ("groups", "LKG", {})]


def test_settings_of_a_table_stand_on_every_record_and_those_of_a_run_win(read):
    text = WHOLE.replace("grid = { column = [0, 1] }", "settings = { column = 1 }")
    assert {trial.parameters["column"] for trial in read(text).trials if trial.code} == {1}
    text = text.replace('methods = ["First", "KMeans"]', 'methods = ["First"]\nsettings = { column = 0 }')
    assert {trial.parameters["column"] for trial in read(text).trials} == {0}


def test_a_method_of_a_package_is_known_by_its_name(read, monkeypatch):
    point = own_methods.EntryPoint("Theirs", "sklearn.cluster:Birch", own_methods.GROUP)
    monkeypatch.setattr(own_methods, "entry_points", lambda group: [point])
    experiment = read(WHOLE.replace('"KMeans"', '"Theirs"'))
    assert {trial.code for trial in experiment.trials if trial.method == "Theirs"} == {"sklearn.cluster:Birch"}


def test_a_run_is_kept_and_resumed_until_a_file_changes(read, tmp_path):
    experiment, store = read(WHOLE.replace(', "wine"', "")), Store(tmp_path / "s.db")
    assert (run(experiment, store).done, run(experiment, store).done) == (3, 0)
    scores = {record.trial.parameters.get("column"): record.scores["acc"] for record in store.records()}
    assert scores[0] == 1.0
    (tmp_path / "mine.py").write_text(MINE + "# mended\n")
    assert run(read(WHOLE.replace(', "wine"', "")), store).done == 2
    (tmp_path / "flowers.csv").write_text(FLOWERS.replace("0.05,", "0.06,"))
    assert run(read(WHOLE.replace(', "wine"', "")), store).done == 3


def test_other_processes_find_the_files(read, tmp_path):
    experiment, store = read(WHOLE.replace(', "wine"', "")), Store(tmp_path / "s.db")
    progress = run(experiment, store, n_jobs=2)
    assert (progress.done, progress.failed) == (3, 0)


def test_a_data_file_that_changes_while_it_runs_ends_the_run(read, tmp_path):
    experiment = read(WHOLE)
    (tmp_path / "flowers.csv").write_text(FLOWERS.replace("0.05,", "0.06,"))
    with pytest.raises(DataError, match="leave the files as they are while it runs"):
        run_group(experiment.trials[:1], experiment.sources)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("self.labels_", "self.labels"), "TypeError: Mine has no labels_ after fit"),
        (("column=0", "column"), "TypeError"),
    ],
)
def test_a_method_that_breaks_its_contract_is_a_failure_with_a_reason(read, tmp_path, change, reason):
    (tmp_path / "mine.py").write_text(MINE.replace(*change).replace("n_clusters=2", "n_clusters"))
    experiment = read('[[run]]\ndata = ["wine"]\nmethods = ["mine.py:Mine"]\nscoring = ["once"]\n')
    [record] = run_group(experiment.trials, experiment.sources)
    assert record.status == "failed"
    assert record.reason.startswith(reason)


def test_several_views_are_one_matrix_unless_a_method_takes_them(read, tmp_path):
    (tmp_path / "more.csv").write_text("u\n" + "1\n" * 20)
    body = "        self.labels_ = np.arange(20) % len(X)\n"  # as many clusters as there are views, or rows
    (tmp_path / "mine.py").write_text(MINE[: MINE.index("        self.labels_")] + body)
    text = (
        WHOLE.replace('"flowers.csv"', '["flowers.csv", "more.csv"]').replace(', "wine"', "").replace(', "KMeans"', "")
    )
    for views, accuracy in (("true", 1.0), ("false", 0.1)):
        experiment = read(text.replace("grid = { column = [0, 1] }", f"views = {views}"))
        [record] = run_group(experiment.trials, experiment.sources)
        assert record.scores["acc"] == pytest.approx(accuracy)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[data.flowers]", "[data.wine]"), "'wine' is a data set that is known already"),
        (("[methods.First]", "[methods.LKG]"), "'LKG' is a method that is known already"),
        (("[methods.First]", '[methods."LKGr/mine"]'), "'LKGr/mine' cannot name a method"),
        (('files = "flowers.csv"', ""), "[data.flowers] has no files"),
        (('class = "mine.py:Mine"', ""), "[methods.First] has no class"),
        (('labels = "species"', "labels = 3"), "labels = 3 is not what it must be"),
        (('labels = "species"', 'lables = "species"'), "'lables' is no key; the nearest: labels"),
        (("[data.flowers]", "[data]"), "data are tables with names; write [data.mine]"),
        (("column = [0, 1]", "colour = [0, 1]"), "'colour' is no parameter of First"),
        (('data = ["flowers", "wine"]', 'data = ["flower"]'), "'flower' is no data set; the nearest: flowers"),
        (('methods = ["First", "KMeans"]', 'methods = ["Frist"]'), "'Frist' is no method; the nearest: First"),
    ],
)
def test_a_wrong_word_is_one_sentence(read, change, says):
    assert change[0] in WHOLE
    with pytest.raises(ProtocolError) as error:
        read(WHOLE.replace(*change))
    assert says in str(error.value)


def test_two_files_of_one_name_need_tables(read, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "mine.py").write_text(MINE)
    with pytest.raises(ProtocolError, match="two files give the method 'Mine'"):
        read('[[run]]\ndata = ["wine"]\nmethods = ["mine.py:Mine", "more/mine.py:Mine"]\n')
