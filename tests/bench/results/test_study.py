import pytest

from bench.synthetic_records import experiment, lost, record, searched, study
from bench.synthetic_records import label_free as free
from kernelbraid.bench.report.page import write_report
from kernelbraid.bench.results.published import DATA, RECORD_NAMES, TABLE_2
from kernelbraid.bench.results.study import PUBLISHED, TUNED, study_tables
from kernelbraid.bench.results.writing import write_tables


def candidate(acc, title="YALE", **parameters):
    of_trial = {"method": "LKG", "bank": "middle", "study": "candidates", "parameters": parameters}
    return record(acc, data=RECORD_NAMES[title], **of_trial)


def made(*records):
    return {table.name: table for table in study_tables(records)}


def row(table, *first):
    [found] = [row for row in table.rows if row[: len(first)] == first]
    return dict(zip(table.header, found, strict=True))


def test_without_records_of_the_study_there_are_no_tables():
    assert study_tables(experiment()) == []


def test_methods_without_labels_stand_above_the_rows_that_are_called_label_tuned():
    table = made(*study())["study_label_free"]
    assert table.header == ("Method", "Scored", *DATA, "mean")
    assert [line[0] for line in table.rows] == [
        "LKGSearch", "LKG", "SC-knn", "SC-rbf", "KMeans", "HDBSCAN", TUNED, PUBLISHED,
    ]  # fmt: skip
    assert all("label-tuned" in name for name in (TUNED, PUBLISHED))
    assert row(table, PUBLISHED)["YALE"] == "66.1"
    assert row(table, TUNED)["YALE"] == "55.0"
    assert row(table, PUBLISHED)["mean"] == "68.5"


def test_the_best_without_labels_is_bold_and_nothing_label_tuned_is():
    table = made(*study())["study_label_free"]
    assert row(table, "LKGSearch")["YALE"] == "**50.0**"
    assert (row(table, "LKGSearch")["TDT2"], row(table, "SC-knn")["TDT2"]) == ("90.0", "**95.0**")
    assert row(table, "LKGSearch")["mean"] == "**70.0**"
    assert "*" not in "".join(row(table, TUNED).values()) + "".join(row(table, PUBLISHED).values())


def test_the_scoring_of_every_method_is_told():
    table = made(*study())["study_label_free"]
    assert [row(table, name)["Scored"] for name in ("LKG", "KMeans", "HDBSCAN")] == ["best100", "mean20", "-"]


def test_it_is_counted_where_the_search_keeps_up_with_the_rivals():
    notes = made(*study())["study_label_free"].notes
    assert "LKGSearch is within 2 points of the better of KMeans and SC-knn, or above, on 8 of 9 data sets." in notes


def test_seeds_are_averaged():
    table = made(free(0.4, seed=0), free(0.5, seed=1), free(0.6, seed=2))["study_label_free"]
    assert row(table, "LKG")["YALE"] == "**50.0**"
    assert row(table, "LKG")["mean"] == "1 of 9"


def test_no_setting_is_picked_by_label():
    table = made(free(0.4), free(0.9, parameters={"alpha": 3.0}), free(0.8, bank="rmkkm"))["study_label_free"]
    assert row(table, "LKG")["YALE"] == "**40.0**"


def test_a_skipped_cell_says_why():
    skipped = lost("skipped", "no end", data="ba", method="SC-rbf", scoring="mean20", study="label-free")
    table = made(skipped)["study_label_free"]
    assert row(table, "SC-rbf")["BA"] == "skipped [1]"
    assert any("no end" in note for note in table.notes)


def test_what_choosing_costs_is_the_gap_to_the_best_of_the_same_candidates():
    records = [searched(0.6, 0.8, seed=0), searched(0.7, 0.8, seed=1, chosen="alpha 3"), searched(0.9, 0.9, "JAFFE")]
    table = made(*records)["study_choosing"]
    found = row(table, "YALE")
    assert [found[name] for name in table.header[1:5]] == ["65.0", "80.0", "15.0", "81 %"]
    assert found["Chosen without labels"] == "alpha 1; alpha 3"
    assert row(table, "mean of 2")["Cost"] == "7.5"


def test_the_left_out_setting_is_chosen_on_the_others_alone():
    figures = {1.0: {"YALE": 0.2, "JAFFE": 0.9, "ORL": 0.9}, 3.0: {"YALE": 0.9, "JAFFE": 0.5, "ORL": 0.5}}
    records = [
        candidate(acc, title, alpha=alpha, gamma=float("inf"))
        for alpha, line in figures.items()
        for title, acc in line.items()
    ]
    table = made(*records)["study_left_out"]
    assert row(table, "YALE") == {
        "Data": "YALE",
        "Best on the others": "alpha 1.0",
        "Accuracy": "20.0",
        "Best on all": "20.0",
        "Label-tuned here": "90.0",
    }
    assert row(table, "JAFFE")["Best on the others"] == "alpha 3.0"  # 0.70 against 0.55
    assert row(table, "mean of 3")["Best on all"] == "66.7"
    assert any("2 settings, all with bank middle, gamma inf" in note for note in table.notes)
    assert any(note.startswith("Best on all: alpha 1.0.") for note in table.notes)


def test_a_setting_that_a_data_set_lacks_is_not_chosen():
    records = [candidate(acc, title, alpha=1.0) for title, acc in (("YALE", 0.3), ("JAFFE", 0.3))]
    table = made(*records, candidate(0.9, "JAFFE", alpha=3.0))["study_left_out"]
    assert row(table, "YALE")["Accuracy"] == "30.0"


def test_one_data_set_leaves_nothing_to_choose_on():
    assert "study_left_out" not in made(candidate(0.5, alpha=1.0))


def test_noise_stands_below_the_clean_data():
    noisy = [free(0.4, seed=seed, changes={"noise": 1}) for seed in (0, 1)]
    noisy.append(free(0.3, "KMeans", scoring="mean20", changes={"noise": 1}))
    table = made(free(0.6), free(0.7, "KMeans", scoring="mean20"), *noisy)["study_noise"]
    assert table.header == ("Data", "Noise", "LKG", "KMeans")
    assert table.rows == (
        ("YALE", "0", "60.0", "**70.0**"),
        ("YALE", "1", "**40.0**", "30.0"),
        ("mean of 1", "0", "60.0", "**70.0**"),
        ("mean of 1", "1", "**40.0**", "30.0"),
    )


def test_noise_does_not_enter_the_other_tables():
    table = made(free(0.6), free(0.1, changes={"noise": 1}))["study_label_free"]
    assert row(table, "LKG")["YALE"] == "**60.0**"


def test_a_method_on_one_kernel_shows_the_mean_over_its_kernels():
    kernels = [
        record(acc, method="KKM", bank="rmkkm", kernel=name, study="baselines")
        for name, acc in (("a", 0.8), ("b", 0.2))
    ]
    table = made(free(0.6), *kernels)["study_baselines"]
    assert table.header == ("Method", "YALE", "mean")
    assert [row(table, name)["YALE"] for name in ("LKG", "KKM")] == ["**60.0**", "50.0"]


def test_cora_stands_beside_what_is_published_of_its_views():
    table = made(searched(0.5, 0.55, "Cora"), free(0.4, title="Cora"))["study_cora"]
    assert [line[:2] for line in table.rows] == [
        ("LKGSearch", "50.0"), ("LKG", "40.0"), (TUNED, "55.0"),
        (f"{PUBLISHED}, view 1 alone", "40.5"), (f"{PUBLISHED}, view 2 alone", "45.2"),
    ]  # fmt: skip
    assert len(table.header) == 1 + len(TABLE_2)


@pytest.fixture(scope="module")
def both():
    noisy = [free(0.4, changes={"noise": 0.5}), free(0.3, "KMeans", changes={"noise": 0.5})]
    baseline = record(0.99, method="SSR", study="baselines")
    return experiment(), [*study(), candidate(0.99, alpha=1.0), candidate(0.9, "ORL", alpha=1.0), *noisy, baseline]


def test_the_tables_of_the_paper_do_not_know_the_study(both, tmp_path):
    paper, ours = both
    before = {path.name: path.read_bytes() for path in write_tables(paper, tmp_path / "before", ["md"])}
    after = {path.name: path.read_bytes() for path in write_tables([*ours, *paper], tmp_path / "after", ["md"])}
    assert {name: text for name, text in after.items() if not name.startswith("study_")} == before
    assert len(after) - len(before) == 5


def test_a_store_of_the_study_alone_gives_its_tables_and_its_picture(both, tmp_path):
    names = {path.name for path in write_tables(both[1], tmp_path, ["md", "tex", "csv", "png"])}
    assert all(name.startswith("study") for name in names)
    assert "study.png" in names
    latex = (tmp_path / "study_label_free.tex").read_text()
    assert r"\textbf{50.0}" in latex
    assert "*" not in latex + (tmp_path / "study_label_free.csv").read_text()


def test_the_report_has_the_study_in_a_section_of_its_own(both, tmp_path):
    text = write_report([*both[0], *both[1]], tmp_path / "report.html").read_text()
    head, _, section = text.partition("<section id='study'>")
    assert "<b>50.0</b>" in section
    assert "LKGSearch" not in head.partition("<main>")[2]
    assert "Without labels" not in write_report(both[0], tmp_path / "empty.html").read_text()
