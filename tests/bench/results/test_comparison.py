from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tomllib import loads

import pytest
from scipy.stats import chi2

from bench.synthetic_records import experiment, lost, record
from kernelbraid.bench.report.page import report
from kernelbraid.bench.results.claims import verdicts
from kernelbraid.bench.results.comparison import (
    BESIDE,
    FALSE_VIEWS,
    FIFTEEN,
    FOURTEEN,
    JOINED,
    KINDS,
    LATER,
    NINE,
    ONE_VIEW,
    Compared,
    comparison_tables,
)
from kernelbraid.bench.results.ranks import critical_difference
from kernelbraid.bench.results.study import study_tables
from kernelbraid.bench.results.views import views_tables
from kernelbraid.bench.results.writing import write_tables
from kernelbraid.bench.trials.compared import COMPARED
from kernelbraid.datasets.single_sets import SINGLE_SETS
from kernelbraid.estimators import KernelKMeans, KernelSpectralClustering, MultipleKernelKMeans, TwinGraph
from kernelbraid.kernels import BANKS
from kernelbraid.kernels.banks import resolve_kernel
from kernelbraid.methods import METHODS

EXPERIMENT = Path(__file__).resolve().parents[3] / "experiments" / "comparison.toml"
RUN_EVERYWHERE = ("LKG", "KMeans", "SC-knn")  # what is cheap on any data set
FALSE = {"noise_views": 3, "decoys": 1}


def run(acc, data="yale", method="LKGr", **more):
    return record(acc, data=data, method=method, scoring="once", study="comparison", **more)


def everything(*names, changes=None, methods=(*FIFTEEN, *BESIDE)):
    """Every method on some data sets, each a little better than the one before it."""
    return [
        run(0.2 + 0.03 * place, name, method, changes=changes or {})
        for name in names
        for place, method in enumerate(methods)
    ]


def made(records):
    return {table.name: table for table in comparison_tables(records)}


def row(table, *first):
    [found] = [row for row in table.rows if row[: len(first)] == first]
    return dict(zip(table.header, found, strict=True))


def test_the_fifteen_are_those_of_the_registry_and_the_sets_those_of_the_catalogue():
    assert set(FIFTEEN) == METHODS.keys()
    assert len(FIFTEEN) == 15
    assert [entry.name for entry in SINGLE_SETS] == list(FOURTEEN)


def test_without_records_of_the_comparison_there_are_no_tables():
    assert comparison_tables(experiment()) == []


def test_records_of_the_comparison_enter_no_other_table(tmp_path):
    records = everything("yale", "jaffe")
    assert study_tables(records) == []
    assert views_tables(records) == []
    names = {path.name for path in write_tables(records, tmp_path, ["md", "png"])}
    assert names == {"comparison_ranks.md", "comparison_acc.md", "comparison_nmi.md", "comparison_ranks.png"}


def test_the_report_has_the_tables():
    page = report(everything("yale", "jaffe"))
    assert "Fifteen methods without labels: mean ranks" in page


def test_a_figure_is_the_mean_over_the_seeds_and_the_best_of_a_row_is_bold():
    table = made([run(0.5), run(0.7, seed=1), run(0.4, method="KKM")])["comparison_acc"]
    assert row(table, "yale", ONE_VIEW) == {"Data": "yale", "Kind": ONE_VIEW, "KKM": "40.0", "LKGr": "**60.0**"}


def test_of_two_records_of_a_trial_the_newer_counts():
    old, new = run(0.9, version="0.1.0"), replace(run(0.4), created="2027-01-01T00:00:00Z")
    assert row(made([new, old])["comparison_acc"], "yale")["LKGr"] == "**40.0**"


def test_joined_views_stand_with_the_method_that_was_given_them():
    table = made([run(0.5, "ngs"), run(0.7, "ngs", f"KKM{JOINED}")])["comparison_acc"]
    assert row(table, "ngs", "several views")["KKM"] == "**70.0**"


def test_data_with_false_views_are_told_from_the_same_as_they_are():
    table = made([run(0.5, "ngs"), run(0.3, "ngs", changes=FALSE)])["comparison_acc"]
    assert row(table, "ngs", "several views")["LKGr"] == "**50.0**"
    assert row(table, "ngs", FALSE_VIEWS)["LKGr"] == "**30.0**"


def test_what_was_not_run_has_its_reason_below():
    skipped = lost("skipped", "too large", data="tdt2", method="LKGr", scoring="once", study="comparison")
    table = made([*everything("yale"), run(0.5, "tdt2", "KMeans"), skipped])["comparison_acc"]
    assert row(table, "tdt2")["LKGr"] == "skipped [1]"
    assert row(table, "tdt2")["KMeans"] == "**50.0**"
    assert row(table, "tdt2")["KKM"] == "-"
    assert table.notes[-1] == "[1] too large (tdt2, LKGr)"


def test_means_and_ranks_are_over_the_sets_on_which_all_methods_have_a_figure():
    records = [*everything("yale", "jaffe", "ngs"), run(0.99, "orl", "KKM")]
    tables = made(records)
    assert row(tables["comparison_acc"], "mean of 2", ONE_VIEW)["KKM"] == "20.0"
    ranks = row(tables["comparison_ranks"], "KKM")
    assert (ranks["Accuracy, one view"], ranks["Accuracy, all"]) == ("15.00", "15.00")
    notes = tables["comparison_ranks"].notes
    assert "Ranked, one view (2): yale, jaffe; without orl, where methods have no figure." in notes
    assert "Ranked, several views (1): ngs." in notes


def test_ranks_are_means_over_the_data_sets_by_kind():
    others = {"yale": 0.9, "ngs": 0.1}
    records = [
        made
        for name, acc in others.items()
        for made in (run(acc, name, "KKM"), run(0.5, name, "LKGr"), run(0.3, name, "SMKL"))
    ]
    found = row(made(records)["comparison_ranks"], "KKM")
    assert [found[f"Accuracy, {kind}"] for kind in ("one view", "several views", "all")] == ["1.00", "3.00", "2.00"]


def test_data_with_false_views_have_ranks_of_their_own_and_no_part_in_the_test():
    records = [*everything("yale", "ngs"), *everything("ngs", changes=FALSE, methods=(*FIFTEEN, *BESIDE)[::-1])]
    table = made(records)["comparison_ranks"]
    assert row(table, "KKM")["Accuracy, with false views"] == "1.00"
    assert row(table, "KKM")["Accuracy, all"] == "15.00"
    p = chi2.sf(2 * 14, 14)  # of two data sets on which fifteen methods have the same order
    assert any(f"15 methods on 2 data sets has p = {p:.1g}" in note for note in table.notes)
    assert any(f"less than {critical_difference(15, 2):.2f} do not differ" in note for note in table.notes)


def test_what_users_have_is_ranked_one_by_one_below_the_fifteen():
    table = made(everything("yale", "jaffe"))["comparison_ranks"]
    assert [line[0] for line in table.rows] == [*reversed(FIFTEEN), *BESIDE]
    # Each of the four is better than the fifteen, and the last of them no worse for the others.
    assert [row(table, name)["Accuracy, all"] for name in (*BESIDE, FIFTEEN[-1])] == ["1.00"] * 5


def test_fewer_seeds_are_told():
    records = [*everything("yale"), *(run(0.5, method=name, seed=1) for name in FIFTEEN[:-1])]
    notes = made(records)["comparison_ranks"].notes
    assert f"{', '.join((FIFTEEN[-1], *BESIDE))} have fewer seeds than the others on yale." in notes
    more = [*records, *(run(0.5, method=name, seed=1) for name in BESIDE)]
    assert f"{FIFTEEN[-1]} has fewer seeds than the others on yale." in made(more)["comparison_ranks"].notes


def test_fits_that_found_nothing_count_and_are_told():
    records = [*everything("yale", "jaffe"), run(0.1, "orl", "LKGs", status="graph_diagonal")]
    tables = made(records)
    assert row(tables["comparison_acc"], "orl")["LKGs"] == "**10.0**"
    assert "LKGs: 1 of 3 fits ended with a graph or kernel that says nothing." in tables["comparison_ranks"].notes


@pytest.mark.parametrize(("gap", "expected"), [(0.1, "holds"), (-0.1, "fails")])
@pytest.mark.parametrize("rival", LATER)
def test_the_claims_compare_lkgr_with_what_came_later_on_data_as_they_are(rival, gap, expected):
    names = (*NINE, "ngs")
    records = [run(0.5 + gap + place / 1e4, name) for place, name in enumerate(names)]
    records += [run(0.5, name, rival) for name in names]
    records += [run(0.9, "ngs", method, changes=FALSE) for method in ("LKGr", rival)]  # no part in it
    [found] = [each for each in verdicts(records) if f"than {rival}, both as they come" in each.claim]
    assert found.verdict == expected
    assert f"better on {10 if gap > 0 else 0} of 10 data sets" in found.evidence


def test_figures_on_data_as_they_are_go_by_the_name_of_the_set():
    found = Compared.of([run(0.5), run(0.4, "ngs"), run(0.3, "ngs", changes=FALSE)])
    assert found.clean_figures("LKGr", "acc") == {"yale": 50.0, "ngs": pytest.approx(40.0)}
    assert fmean(found.figures("LKGr", "acc").values()) == pytest.approx(40.0)


def runs():
    return loads(EXPERIMENT.read_text(encoding="utf-8"))["run"]


def test_the_experiment_has_every_method_on_every_data_set_or_says_why_not():
    covered = {
        (data, FALSE_VIEWS if run.get("changes") else "", method.removesuffix(JOINED))
        for run in runs()
        for data in run["data"]
        for method in run["methods"]
    }
    for kind, names in KINDS.items():
        changed = FALSE_VIEWS if kind == FALSE_VIEWS else ""
        assert {(data, changed, method) for data in names for method in (*FIFTEEN, *RUN_EVERYWHERE)} <= covered


def test_the_experiment_has_the_defaults_of_the_estimators():
    alone = [run for run in runs() if any(COMPARED[name].policy == "each" for name in run["methods"])]
    assert alone
    for run in alone:
        assert (run["banks"], run["kernels"]) == (["paper"], ["gaussian t=1"])
    [kernel] = [kernel for kernel in BANKS["paper"] if kernel.name == "gaussian t=1"]
    for estimator in (KernelKMeans, KernelSpectralClustering, TwinGraph):
        default = resolve_kernel(estimator().kernel)
        assert (type(kernel), kernel.scale) == (type(default), default.scale)
    for run in runs():
        assert run.get("grid") is None
        if "settings" in run:
            assert set(run["methods"]) <= {"KKM", "RKKM", "MKKM", "RMKKM", f"KKM{JOINED}", f"RKKM{JOINED}"}
            for model in (KernelKMeans(), MultipleKernelKMeans()):
                assert {name: getattr(model, name) for name in run["settings"]} == run["settings"]
