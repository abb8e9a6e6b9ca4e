from types import SimpleNamespace

import pytest

from kernelbraid import LKG, __version__
from kernelbraid.cli.verbose import Log, settings_of
from kernelbraid.learning.progress import on_course, stretch
from kernelbraid.methods import METHODS


def test_nothing_is_written_that_nobody_asked_for(capsys, blobs):
    log = Log(False)
    log.begin()
    log("text")
    log.fitted(LKG(3, random_state=0).fit(blobs[0]))
    with log.listening(), on_course("names", 1.0):
        pass
    assert capsys.readouterr() == ("", "")


def test_progress_is_written_in_tenths(capsys):
    with Log(True).listening(), on_course("names", 40.0):
        for _ in range(40):
            with stretch(1.0):
                pass
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("s  ")[1] for line in lines] == [f"choosing names: {share} %" for share in range(0, 101, 10)]


def test_settings_have_the_values_behind_those_left_open(blobs):
    told = settings_of(LKG(3, random_state=0).fit(blobs[0]))
    assert told["alpha"] > 0
    assert told["n_neighbors"] in (5, 10)
    assert None not in told.values()


def test_every_method_tells_its_settings(run, blobs_csv):
    for method in METHODS:
        result = run("cluster", blobs_csv, "-k", 3, "--method", method, "--verbose")
        assert result.exit_code == 0, result.stderr
        assert f"kernelbraid {__version__}" in result.stderr
        assert "read blobs.csv: 30 x 4, float64" in result.stderr
        assert "settings: " in result.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], ["choosing the number of clusters: 100 %", "kernels: gaussian", "graph: 30 samples"]),
        (["-k", 3, "--gamma", 10], ["step 2: change", "penalty frobenius"]),
        (["-k", 3, "--landmarks", 12], ["graph: 12 samples"]),
    ],
)
def test_what_is_done_and_decided_is_written(run, blobs_csv, options, says):
    result = run("cluster", blobs_csv, "--verbose", *options)
    assert result.exit_code == 0, result.stderr
    for fragment in says:
        assert fragment in result.stderr


def test_quiet_and_verbose_exclude_each_other(refuse, no_fit, blobs_csv):
    refuse("cluster", blobs_csv, "-k", 3, "-q", "-v", code=2, says=["--verbose", "leave out one"])


def test_a_state_without_a_kernel_has_a_change_of_its_own(capsys):
    Log(True).step(3, SimpleNamespace(change=0.5))
    assert capsys.readouterr().err.endswith("step 3: change 5.0e-01\n")
