"""Tables of methods as they come: the study, several views, the fifteen methods."""

import pytest
from scipy.stats import chi2

from kernelbraid.methods import METHODS
from lab.results.comparison import BESIDE, FIFTEEN, comparison
from lab.results.pools import newest
from lab.results.published import DATA
from lab.results.significance import critical_difference
from lab.results.study import PUBLISHED, study
from lab.results.views import BEST_VIEW, KERNELS, MEAN_VIEW, SEVEN, views
from made_up_records import by_name, compared, label_free, lost, of_views, record, row

FALSE = {"noise_views": 3, "decoys": 1}


def studied(*records):
    return by_name(study(records))


def viewed(*records):
    return by_name(views(newest(records)))


def ranked(*records):
    return by_name(comparison(newest(records)))


def candidate(acc, title="yale", **parameters):
    return record(acc, data=title, method="LKG", bank="middle", study="candidates", parameters=parameters)


def clean(acc=0.8, method="LKG", **more):
    return [of_views(acc, name, method, **more) for name in SEVEN]


def everything(*names, methods=(*FIFTEEN, *BESIDE), **more):
    """Every method on some data sets, each a little better than the one before it."""
    return [compared(0.2 + 0.03 * i, name, method, **more) for name in names for i, method in enumerate(methods)]


def test_studies_have_tables_of_their_own_records_alone():
    assert not studied(record(0.5), compared(0.5), of_views(0.5))
    assert not viewed(record(0.5), compared(0.5), label_free(0.5))
    assert not ranked(record(0.5), of_views(0.5), label_free(0.5))


def test_methods_without_labels_stand_above_what_is_published_and_the_best_is_bold():
    seeds = [label_free(acc, seed=seed) for seed, acc in enumerate((0.4, 0.5, 0.6))]
    skipped = lost("skipped", "no end", data="ba", method="SC-rbf", scoring="mean20", study="label-free")
    table = studied(*seeds, label_free(0.3, "KMeans", scoring="mean20"), skipped)["study_label_free"]
    assert table.header == ("Method", "Scored", *DATA, "mean")
    assert [line[0] for line in table.rows] == ["LKG", "SC-knn", "SC-rbf", "KMeans", "HDBSCAN", PUBLISHED]
    assert (row(table, "LKG")["YALE"], row(table, "LKG")["mean"]) == ("**50.0**", "1 of 9")
    assert [row(table, name)["Scored"] for name in ("LKG", "KMeans", "HDBSCAN")] == ["best100", "mean20", "-"]
    assert (row(table, "SC-rbf")["BA"], table.notes[-1]) == ("skipped [1]", "[1] no end (BA, SC-rbf)")
    assert (row(table, PUBLISHED)["YALE"], row(table, PUBLISHED)["mean"]) == ("66.1", "68.5")


def test_the_left_out_setting_is_chosen_on_the_others_alone():
    figures = {1.0: {"yale": 0.2, "jaffe": 0.9, "orl": 0.9}, 3.0: {"yale": 0.9, "jaffe": 0.5, "orl": 0.5}}
    records = [candidate(acc, name, alpha=alpha, gamma=9) for alpha, of in figures.items() for name, acc in of.items()]
    lacking = candidate(1.0, alpha=5.0, gamma=9)  # on one set alone
    table = studied(*records, lacking)["study_left_out"]
    assert tuple(row(table, "YALE").values())[1:] == ("alpha 1.0", "20.0", "20.0", "90.0")
    assert row(table, "JAFFE")["Best on the others"] == "alpha 3.0"  # 0.70 against 0.55
    assert row(table, "mean of 3")["Best on all"] == "66.7"
    assert "2 settings, all with bank middle, gamma 9" in table.notes[0]
    assert table.notes[1].startswith("Best on all: alpha 1.0.")


def test_noise_stands_below_the_clean_data():
    noisy = [label_free(0.4, seed=seed, changes={"noise": 1}) for seed in (0, 1)]
    noisy += [label_free(0.3, "KMeans", changes={"noise": 1})]
    table = studied(label_free(0.6), label_free(0.7, "KMeans"), *noisy)["study_noise"]
    assert table.header == ("Data", "Noise", "LKG", "KMeans")
    lines = (("0", "60.0", "**70.0**"), ("1", "**40.0**", "30.0"))
    assert table.rows == (*(("YALE", *line) for line in lines), *(("mean of 1", *line) for line in lines))


def test_a_method_on_one_kernel_shows_the_mean_over_its_kernels():
    kernels = [record(acc, method="KKM", kernel=name, study="baselines") for name, acc in (("a", 0.8), ("b", 0.2))]
    table = studied(label_free(0.6), *kernels)["study_baselines"]
    assert table.rows == (("LKG", "**60.0**", "**60.0**"), ("KKM", "50.0", "50.0"))


def test_a_figure_of_views_is_the_mean_over_the_seeds_and_the_mean_is_over_the_seven_sets():
    old, new = of_views(0.9, seed=1, version="0.1.0"), of_views(0.6, seed=1, created="2027")
    table = viewed(*clean(0.8), new, old, of_views(0.5, "cora"))["views_methods"]
    assert row(table, "LKG")["ngs"] == "**70.0**"
    assert row(table, "LKG")["mean of 7"] == f"{(6 * 80 + 70) / 7:.1f}"
    assert row(viewed(*clean()[:3])["views_methods"], "LKG")["mean of 7"] == "3 of 7"


def test_averaged_kernels_single_views_and_joined_rows_stand_beside_it():
    single = [of_views(acc, changes={"view": i}) for i, acc in ((1, 0.6), (2, 0.9))]
    joined = [of_views(0.81, method="SC-knn-joined"), of_views(0.4, "bbc", "SC-knn-joined")]
    skipped = lost("skipped", "too slow", data="ngs", method="MKKM", scoring="once", study="views")
    others = [*single, *joined, of_views(0.7, parameters={"fusion": "kernels"}), skipped, of_views(0.5, "bbc", "MKKM")]
    tables = viewed(*clean(), *others)
    table = tables["views_methods"]
    named = {name: row(table, name)["ngs"] for name in ("LKG", KERNELS, "SC-knn-joined", MEAN_VIEW, BEST_VIEW, "MKKM")}
    assert list(named.values()) == ["80.0", "70.0", "**81.0**", "75.0", "90.0", "skipped [1]"]
    assert "LKG is below the best single view on 1 of 1, by more than 3 points on 1: ngs (10.0)." in table.notes
    assert "LKG is below SC-knn-joined on 1 of 2, by more than 3 points on 0: ngs (1.0)." in table.notes
    assert tuple(row(tables["views_single"], "ngs").values()) == ("ngs", "60.0", "90.0", "80.0")


def test_false_views_cost_the_clean_figure_less_what_is_left():
    kinds = ({"decoys": 1}, {"decoys": 2}, {"noise_views": 3}, {"decoys": 2, "noise_views": 3}, {"copies": 1})
    records = [of_views(0.8 - 0.01 * i, changes=changes) for i, changes in enumerate(kinds, 1)]
    table = viewed(*clean(), *records)["views_false"]
    assert table.header[1:] == ("clean", "noise", "one decoy", "two decoys", "noise and decoys", "copy", "most lost")
    line = row(table, "ngs, LKG").values()  # a copy is no false view
    assert tuple(line)[1:] == ("80.0", "77.0", "79.0", "78.0", "76.0", "75.0", "4.0")


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ((0.5, 0.5, 0.0), ("1 of 1", "0 of 2")),
        ((0.0, 0.5, 0.5), ("0 of 1", "1 of 2")),
        ([1 / 11] * 11 + [0.0], ("1 of 1", "0 of 11")),
    ],
)
def test_views_that_are_left_out_are_counted_apart_by_being_false_or_real(weights, says):
    made = of_views(0.8, weights=weights, changes={"decoys": 1})
    made.learned.update({name: made.learned.pop(name) for name in sorted(made.learned)})  # as they are in a file
    table = viewed(*clean(weights=(0.5, 0.5)), made)["views_named"]
    assert tuple(row(table, "one decoy").values())[1:] == says
    assert tuple(row(table, "clean").values())[1:] == ("-", "0 of 14")


def test_missing_samples_and_poor_views_cost_points():
    some = [of_views(0.8 - share, name, changes={"missing": share}) for name in SEVEN for share in (0.1, 0.3)]
    digits = [of_views(acc, "digits", changes={"row_sums": level}) for level, acc in ((0, 0.9), (1, 0.85))]
    tables = viewed(*clean(), *some, *digits)
    assert tuple(row(tables["views_missing"], "lost").values()) == ("lost", "0.0", "10.0", "30.0")
    assert tables["views_poor"].rows == (("digits: a view of their row sums", "85.0", "90.0", "5.0"),)


def test_methods_of_the_paper_stand_with_and_without_noise():
    noisy = [of_views(acc, method=m, changes={"noise_views": 3}) for m, acc in (("MKKM", 0.3), ("LKG", 0.78))]
    table = viewed(*clean(), of_views(0.5, method="MKKM"), *noisy)["views_noise"]
    assert [row(table, "ngs", kind)["MKKM"] for kind in ("clean", "noise")] == ["50.0", "30.0"]
    assert row(table, "ngs", "noise")["LKG"] == "78.0"


def test_the_fifteen_are_those_of_the_library():
    assert set(FIFTEEN) == METHODS.keys()


def test_data_with_false_views_and_joined_rows_stand_with_the_method_and_data_that_they_are_of():
    records = [compared(0.5, "ngs"), compared(0.3, "ngs", changes=FALSE), compared(0.7, "ngs", "KKM-joined")]
    table = ranked(*records)["comparison_acc"]
    assert row(table, "ngs", "several views") == {
        "Data": "ngs", "Kind": "several views", "KKM": "**70.0**", "LKGr": "50.0",
    }  # fmt: skip
    assert row(table, "ngs", "with false views")["LKGr"] == "**30.0**"


def test_means_and_ranks_are_over_the_sets_on_which_all_methods_have_a_figure():
    skipped = lost("skipped", "too large", data="tdt2", method="LKGr", scoring="once", study="comparison")
    tables = ranked(*everything("yale", "jaffe", "ngs"), compared(0.99, "orl", "KKM"), skipped)
    assert row(tables["comparison_acc"], "mean of 2", "one view")["KKM"] == "20.0"
    assert row(tables["comparison_acc"], "tdt2")["LKGr"] == "skipped [1]"
    ranks, notes = row(tables["comparison_ranks"], "KKM"), tables["comparison_ranks"].notes
    assert (ranks["Accuracy, one view"], ranks["Accuracy, all"]) == ("15.00", "15.00")
    assert "Ranked, one view (2): yale, jaffe; without orl, tdt2, where methods have no figure." in notes


def test_false_views_have_ranks_of_their_own_and_users_methods_are_ranked_one_by_one():
    turned = everything("ngs", changes=FALSE, methods=(*FIFTEEN, *BESIDE)[::-1])
    table = ranked(*everything("yale", "ngs"), *turned)["comparison_ranks"]
    assert row(table, "KKM")["Accuracy, with false views"] == "1.00"
    assert [line[0] for line in table.rows] == [*reversed(FIFTEEN), *BESIDE]
    # Each of the four is better than the fifteen, and the last of them no worse for the others.
    assert [row(table, name)["Accuracy, all"] for name in (*BESIDE, FIFTEEN[-1])] == ["1.00"] * 5
    p = chi2.sf(2 * 14, 14)  # of two data sets on which fifteen methods have the same order
    assert any(f"15 methods on 2 data sets has p = {p:.1g}" in note for note in table.notes)
    assert any(f"less than {critical_difference(15, 2):.2f} do not differ" in note for note in table.notes)


def test_fewer_seeds_and_fits_that_found_nothing_are_told():
    seeds = [compared(0.5, method=name, seed=1) for name in (*FIFTEEN[:-1], *BESIDE)]
    notes = ranked(*everything("yale"), *seeds, compared(0.1, "orl", "LKGs", status="graph_diagonal"))
    assert f"{FIFTEEN[-1]} has fewer seeds than the others on yale." in notes["comparison_ranks"].notes
    told = "LKGs: 1 of 3 fits ended with a graph or kernel that says nothing."
    assert told in notes["comparison_ranks"].notes
