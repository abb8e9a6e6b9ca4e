from dataclasses import replace

import pytest

from bench.synthetic_records import lost, record
from kernelbraid.bench.records.record import SCORINGS
from kernelbraid.bench.results.published import DATA, METHODS, SCORED_ONCE, TABLE_2
from kernelbraid.bench.results.selection import COLLAPSED, Conditions, Endings, conditions, pools, state, surfaces
from kernelbraid.solvers.iterate import Status

BEST = Conditions("best100")


def pool(*records, under=BEST):
    found = pools(records, under)
    return found[records[0].trial.data, records[0].trial.method]


def at(acc, nmi=0.5, **parameters):
    return record(acc, others={"nmi": nmi, "entropy": 1 - acc}, parameters=parameters)


def test_each_measure_has_its_own_best_setting():
    found = pool(at(0.6, nmi=0.9, alpha=1), at(0.8, nmi=0.2, alpha=2))
    assert (found.best("acc").value, found.best("nmi").value) == (0.8, 0.9)
    assert found.best("nmi").outcome.parameters == {"alpha": 1}


def test_all_measures_can_be_taken_where_accuracy_is_best():
    found = pool(at(0.6, nmi=0.9, alpha=1), at(0.8, nmi=0.2, alpha=2)).at_best("acc")
    assert (found["acc"].value, found["nmi"].value) == (0.8, 0.2)


def test_the_smallest_entropy_is_the_best():
    assert pool(at(0.6, alpha=1), at(0.8, alpha=2)).best("entropy").value == pytest.approx(0.2)


def test_scorings_are_never_mixed():
    records = [record(0.5), record(0.9, scoring="mean20")]
    assert pool(*records).best("acc").value == 0.5
    assert pool(*records, under=Conditions("mean20")).best("acc").value == 0.9


def test_the_kernel_mean_is_taken_at_the_best_setting():
    def on(kernel, acc, alpha):
        return record(acc, method="SCSK", bank="rmkkm", kernel=kernel, parameters={"alpha": alpha})

    cell = pool(on("a", 0.9, 1), on("b", 0.1, 1), on("a", 0.6, 2), on("b", 0.6, 2)).best("acc")
    assert (cell.value, cell.kernel_mean, cell.kernels) == (0.9, 0.5, (2, 2))
    assert cell.caution == ""


def test_kernels_of_another_bank_do_not_enter_the_kernel_mean():
    def on(bank, kernel, acc):
        return record(acc, method="KKM", bank=bank, kernel=kernel)

    cell = pool(on("rmkkm", "a", 0.8), on("rmkkm", "b", 0.4), on("paper", "a", 0.1)).best("acc")
    assert cell.kernel_mean == pytest.approx(0.6)


def test_a_kernel_that_failed_is_counted_and_told():
    cell = pool(
        record(0.8, method="KKM", bank="rmkkm", kernel="a"),
        lost("failed", "boom", method="KKM", bank="rmkkm", kernel="b"),
    ).best("acc")
    assert cell.kernels == (1, 2)
    assert cell.caution == "1 of 2 kernels have no score at this setting"


def test_a_method_on_all_kernels_has_no_kernel_mean():
    assert pool(record(0.8, bank="rmkkm")).best("acc").kernel_mean is None


def test_records_are_counted_by_their_end():
    found = pool(
        at(0.6, alpha=1),
        record(0.1, "graph_diagonal", parameters={"alpha": 2}),
        lost("failed", "boom", parameters={"alpha": 3}),
        lost("skipped", "too large", parameters={"alpha": 4}),
    )
    assert found.counts == Endings(done=1, collapsed=1, failed=1, skipped=1)
    assert Endings(done=1) + Endings(done=2, failed=1) == Endings(done=3, failed=1)


def test_a_cell_without_results_says_why():
    assert pool(lost("failed", "boom"), lost("skipped", "too large", seed=1), lost("failed", "boom", seed=2)).best(
        "acc"
    ).why == ("failed: boom")
    assert pools([], BEST)["yale", "LKGr"].best("acc").why == "not run"
    assert pools([], BEST)["yale", "LKGr"].at_best() == {}


def test_a_figure_of_a_collapsed_fit_is_told():
    assert pool(record(0.9, "kernel_vanished")).best("acc").caution == "the fit collapsed (kernel_vanished)"


def test_seeds_are_averaged_not_chosen_from():
    assert pool(record(0.4, seed=0), record(0.6, seed=1)).best("acc").value == pytest.approx(0.5)


def test_the_newest_record_of_a_setting_and_seed_counts():
    old, new = record(0.9, version="0.1"), record(0.5, version="0.2")
    found = pool(replace(new, created="2026-02-01T00:00:00Z"), old)
    assert found.best("acc").value == 0.5
    assert found.counts == Endings(done=1, replaced=1)


def test_conditions_are_scorings_and_their_banks():
    records = [record(0.5, bank="rmkkm"), record(0.5, bank="paper"), record(0.5, scoring="mean20", bank="rmkkm")]
    assert list(map(str, conditions(records))) == [
        "scored as published, all banks",
        "best100, all banks",
        "best100, bank paper",
        "best100, bank rmkkm",
        "mean20, all banks",
    ]
    assert conditions([]) == [BEST]
    assert list(map(str, conditions(records[:1]))) == ["best100, all banks"]


def test_as_published_takes_the_scoring_behind_the_figures_of_each_method():
    under = Conditions("as published")
    taken = {
        method: [s for s in SCORINGS if under.admit(record(0.5, method=method, scoring=s).trial)]
        for method in (*METHODS, "KMeans")
    }
    once = {"SSR", "SCSK", "SCMK", "LKGs", "LKGr"}
    assert taken == {method: ["best100"] if method in once else ["mean20"] for method in taken}
    both = [record(0.5), record(0.9, scoring="mean20")]
    assert pool(*both, under=under).best("acc").value == 0.5


def test_methods_whose_published_accuracies_are_whole_counts_were_scored_once():
    def is_count(data, method):
        share = TABLE_2["acc"][data][method].value / 100
        return abs(round(share * DATA[data].instances) / DATA[data].instances - share) < 1e-4

    small = ("YALE", "JAFFE", "ORL")  # more samples, and any number would be near a count
    whole = [method for method in METHODS if all(is_count(data, method) for data in small)]
    assert set(whole) == set(SCORED_ONCE) - {"SCSK"}


def test_altered_trials_belong_to_conditions_that_ask_for_them_alone():
    trials = [record(0.5, **more).trial for more in ({}, {"changes": {"noise": 0}}, {"method": "LKGr/whole"})]
    assert [BEST.admit(trial) for trial in trials] == [True, False, False]
    assert [Conditions("best100", altered=True).admit(trial) for trial in trials] == [False, True, True]
    assert [Conditions("as published").admit(trial) for trial in trials] == [True, False, False]
    assert conditions([record(0.5, scoring="mean20", changes={"noise": 0})]) == [BEST]


def test_trials_of_the_study_belong_to_conditions_that_ask_for_them_alone():
    trials = [record(0.5, **more).trial for more in ({}, {"study": "label-free"}, {"study": "candidates"})]
    assert [BEST.admit(trial) for trial in trials] == [True, False, False]
    assert [Conditions("best100", study="label-free").admit(trial) for trial in trials] == [False, True, False]
    assert [Conditions("as published").admit(trial) for trial in trials] == [True, False, False]
    assert conditions([record(0.5, scoring="mean20", bank="middle", study="candidates")]) == [BEST]


def test_records_of_other_changes_are_averaged_not_replaced():
    records = [record(acc, changes={"shuffled": 1, "kernel": kernel}) for kernel, acc in (("a", 0.4), ("b", 0.8))]
    found = pool(*records, under=Conditions("best100", altered=True))
    assert found.best("acc").value == pytest.approx(0.6)
    assert found.counts == Endings(done=2)


def test_a_bank_admits_its_own_records_and_those_without_one():
    under = Conditions("best100", "paper")
    banks = [record(0.5, bank=bank).trial for bank in ("paper", "rmkkm", "")]
    assert [under.admit(trial) for trial in banks] == [True, False, True]


def test_collapsed_ends_are_those_of_the_solvers():
    assert set(Status) - COLLAPSED == {"converged", "max_iter", "stopped"}
    assert set(Status) >= COLLAPSED
    assert state(record(0.1, "done")) == "done"


def grid(beta, gamma, status="converged", acc=0.5, mu=1.0):
    parameters = {"alpha": 0.1, "beta": beta, "gamma": gamma, "mu": mu}
    return (
        lost(status, "boom", parameters=parameters)
        if status == "failed"
        else record(acc, status, parameters=parameters)
    )


def test_a_surface_is_the_best_over_other_parameters_and_tells_what_went_wrong():
    (surface,) = surfaces(
        pool(
            grid(1, 1, acc=0.5, mu=1.0),
            grid(1, 1, acc=0.7, mu=3.0),
            grid(1, 1, "graph_empty", acc=0.9, mu=9.0),
            grid(1, 2, "graph_empty", acc=0.1),
            grid(2, 1, "failed"),
        )
    )
    assert (surface.fixed, surface.rows, surface.columns) == (("alpha", 0.1), ("beta", (1, 2)), ("gamma", (1, 2)))
    (sound, collapsed), (failed, missing) = surface.patches
    assert (sound.state, sound.value, sound.detail) == ("done", 0.7, "mu 3.0")
    assert (collapsed.state, collapsed.value) == ("collapsed", 0.1)
    assert "graph_empty" in collapsed.detail
    assert (failed.state, failed.value, failed.detail) == ("failed", None, "boom")
    assert missing.state == "not run"


def test_a_line_is_no_surface():
    assert surfaces(pool(grid(1, 1), grid(1, 2))) == []


def test_half_of_a_grid_is_no_surface_and_more_is():
    half = [grid(1, 1), grid(2, 2), grid(1, 3)]  # of two times three
    assert surfaces(pool(*half)) == []
    [surface] = surfaces(pool(*half, grid(2, 1, "failed")))
    assert [[patch.state for patch in row] for row in surface.patches] == [
        ["done", "not run", "done"],
        ["failed", "done", "not run"],
    ]


@pytest.mark.parametrize(("data", "scoring"), [("yale", "best100"), ("cora", "mean20"), ("nuswide_view3", "mean20")])
def test_the_multi_view_tables_are_means_for_all_methods(data, scoring):
    wanted = Conditions("as published")
    other = {"best100": "mean20", "mean20": "best100"}[scoring]
    assert wanted.admit(replace(record(0.5, scoring=scoring).trial, data=data, method="LKGr"))
    assert not wanted.admit(replace(record(0.5, scoring=other).trial, data=data, method="LKGr"))


def test_data_and_methods_that_changed_count_as_they_are_now():
    def made(acc, created, checksum="new", code="new", method="Mine", **more):
        first = record(acc, data="flowers", method=method, **more)
        trial = replace(first.trial, checksum=checksum, code=code if method == "Mine" else "")
        return replace(first, trial=trial, created=created)

    records = [
        made(0.9, "2026-01-01", checksum="old", parameters={"power": 1}),
        made(0.8, "2026-01-02", code="old", parameters={"power": 2}),
        made(0.5, "2026-01-03", parameters={"power": 3}),
        made(0.7, "2026-01-01", checksum="old", method="KMeans"),
    ]
    results = pools(records, Conditions("best100"))
    assert results["flowers", "Mine"].best("acc").value == 0.5
    assert results["flowers", "Mine"].counts.replaced == 2
    assert results["flowers", "KMeans"].best("acc").why == "not run"


def test_one_fit_each_is_a_scoring_of_its_own_and_other_data_are_scored_as_they_were():
    both = [record(0.5, data="wine", scoring=scoring) for scoring in ("best100", "mean20", "once")]
    assert [under.scoring for under in conditions(both)] == ["best100", "mean20", "once"]
    assert conditions([*both, record(0.5)])[0].scoring == "as published"
