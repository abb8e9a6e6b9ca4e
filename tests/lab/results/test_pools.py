from dataclasses import replace

import pytest

from lab.records import count_by_status
from lab.results.figures import surfaces
from lab.results.pools import AS_PUBLISHED, as_published, by_scoring, newest, pools
from lab.results.published import METHODS
from lab.results.table import Footnotes
from made_up_records import lost, record


def pool(*records):
    trial = records[0].trial
    return pools(newest(records))[trial.data, trial.method]


def at(acc, nmi=0.5, **parameters):
    return record(acc, others={"nmi": nmi, "entropy": 1 - acc}, parameters=parameters)


def test_each_measure_has_its_own_best_setting_and_the_smallest_entropy_is_the_best():
    found = pool(at(0.6, nmi=0.9, alpha=1), at(0.8, nmi=0.2, alpha=2))
    assert (found.best("acc").value, found.best("nmi").value) == (0.8, 0.9)
    assert found.best("nmi").outcome.trial.parameters == {"alpha": 1}
    assert found.best("entropy").value == pytest.approx(0.2)


def test_the_kernel_mean_is_taken_at_the_best_setting_of_its_bank():
    def on(kernel, acc, alpha, bank="rmkkm"):
        return record(acc, method="SCSK", bank=bank, kernel=kernel, parameters={"alpha": alpha})

    records = [on("a", 0.9, 1), on("b", 0.1, 1), on("a", 0.6, 2), on("b", 0.6, 2), on("a", 0.2, 1, "paper")]
    cell = pool(*records).best("acc")
    assert (cell.value, cell.kernel_mean, cell.n_kernels) == (0.9, 0.5, 2)
    assert pool(record(0.8, bank="rmkkm")).best("acc").kernel_mean is None


def test_a_cell_without_results_has_the_commonest_reason():
    records = [lost("failed", "boom"), lost("skipped", "too large", seed=1), lost("failed", "boom", seed=2)]
    notes = Footnotes()
    assert pool(*records).best("acc").show("YALE, LKGr", notes) == "failed [1]"
    assert list(notes.notes()) == ["[1] boom (YALE, LKGr)"]
    assert pools([])["yale", "LKGr"].best("acc").show("YALE, LKGr", notes) == "not run"


def test_a_figure_of_a_collapsed_fit_is_told():
    notes = Footnotes()
    assert pool(record(0.9, "kernel_vanished")).best("acc").show("here", notes) == "90.00 [1]"
    assert list(notes.notes()) == ["[1] the fit collapsed (kernel_vanished) (here)"]


def test_seeds_and_changes_are_averaged_not_chosen_from():
    assert pool(record(0.4, seed=0), record(0.6, seed=1)).best("acc").value == pytest.approx(0.5)
    changed = [record(acc, changes={"shuffled": 1, "kernel": kernel}) for kernel, acc in (("a", 0.4), ("b", 0.8))]
    assert pool(*changed).best("acc").value == pytest.approx(0.6)


def test_the_newest_record_of_a_setting_and_seed_counts():
    old, new = record(0.9, version="0.1"), record(0.5, version="0.2", created="2026-02-01T00:00:00Z")
    assert pool(new, old).best("acc").value == 0.5


def test_data_and_methods_that_changed_count_as_they_are_now():
    def made(acc, created, checksum="new", code="new", method="Mine", **more):
        first = record(acc, data="flowers", method=method, created=created, **more)
        trial = replace(first.trial, checksum=checksum, code=code if method == "Mine" else "")
        return replace(first, trial=trial)

    records = [
        made(0.9, "2026-01-01", checksum="old", parameters={"power": 1}),
        made(0.8, "2026-01-02", code="old", parameters={"power": 2}),
        made(0.5, "2026-01-03", parameters={"power": 3}),
        made(0.7, "2026-01-01", checksum="old", method="KMeans"),
    ]
    results = pools(newest(records))
    assert results["flowers", "Mine"].best("acc").value == 0.5
    assert results["flowers", "KMeans"].best("acc").why == "not run"


def test_a_trial_that_failed_and_was_run_by_another_version_counts_once():
    def by(version, made):
        return replace(made, trial=replace(made.trial, version=version))

    again = [by("0.1.0", lost("failed", "boom")), by("0.2.0", record(0.9)), by("0.2.0", record(0.8, seed=1))]
    assert count_by_status(newest(again)) == {"done": 2, "failed": 0, "skipped": 0}
    assert count_by_status(newest(again[:1])) == {"done": 0, "failed": 1, "skipped": 0}


def test_scorings_are_never_mixed_and_those_of_the_paper_are_told():
    both = [record(0.5), record(0.9, scoring="mean20")]
    assert by_scoring(both) == {AS_PUBLISHED: both[:1]}
    assert by_scoring(both[1:]) == {"mean20": both[1:]}
    other = [record(0.5, data="wine", scoring=scoring) for scoring in ("once", "mean20", "best100")]
    assert list(by_scoring(other)) == ["best100", "mean20", "once"]


def test_studies_and_altered_trials_stand_in_no_table_of_the_paper():
    for more in [{"study": "candidates"}, {"changes": {"noise": 0}}, {"method": "LKGr/whole"}]:
        assert by_scoring([record(0.5, **more)]) == {}


def test_as_published_takes_the_scoring_behind_the_figures_of_each_method():
    names = [(data, method) for data in ("yale", "cora", "nuswide_view3") for method in METHODS]
    names += [("yale", "KMeans")]
    records = [record(0.5, data=d, method=m, scoring=s) for d, m in names for s in ("best100", "mean20", "once")]
    own = record(0.5, method="Mine", scoring="once")
    taken = {(r.trial.data, r.trial.method): r.trial.scoring for r in as_published([*records, own])}
    once = {"SSR", "SCSK", "SCMK", "LKGs", "LKGr"}
    assert {name for name, scoring in taken.items() if scoring == "best100"} == {("yale", method) for method in once}
    assert taken["yale", "Mine"] == "once"
    assert len(as_published([*records, own])) == len(names) + 1


def grid(beta, gamma, status="converged", acc=0.5, mu=1.0):
    parameters = {"alpha": 0.1, "beta": beta, "gamma": gamma, "mu": mu}
    made = lost(status, "boom", parameters=parameters) if status == "failed" else None
    return made or record(acc, status, parameters=parameters)


def test_a_surface_is_the_best_sound_fit_over_other_parameters_and_tells_what_went_wrong():
    best = [grid(1, 1, acc=0.5), grid(1, 1, acc=0.7, mu=3.0), grid(1, 1, "graph_empty", acc=0.9, mu=9.0)]
    found = surfaces(pool(*best, grid(1, 2, "graph_empty", acc=0.25), grid(2, 1, "failed")))
    assert list(found) == [0.1]
    assert found[0.1][1, 1][:2] == (True, 70.0)
    assert found[0.1][1, 2] == (False, 25.0, "collapsed")
    assert found[0.1][2, 1][::2] == (False, "failed")


def test_half_of_a_grid_is_no_surface():
    half = [grid(1, 1), grid(2, 2), grid(1, 3)]  # of two times three
    assert surfaces(pool(*half)) == {}
    assert surfaces(pool(grid(1, 1), grid(1, 2))) == {}
    assert len(surfaces(pool(*half, grid(2, 1)))[0.1]) == 4
