"""What the package loads, and when; each case is a process of its own."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernelbraid
from kernelbraid import methods

UNIX_ONLY = ("resource", "fcntl", "pwd", "grp", "termios")
# What Windows has not. Other packages are loaded before it goes: they look at the platform, which stays the same.
OS_NAMES = ("sysconf", "getuid", "geteuid", "fork", "getloadavg", "sched_getaffinity", "mkfifo", "nice")
SIGNAL_NAMES = ("SIGKILL", "SIGALRM", "SIGHUP", "SIGUSR1", "alarm", "setitimer")
AS_ON_WINDOWS = f"""
import importlib, os, pkgutil, signal, sys
sys.modules.update(dict.fromkeys({UNIX_ONLY!r}))
import joblib, numpy, rich.live, scipy.stats, sklearn.cluster, typer
for module, names in ((os, {OS_NAMES!r}), (signal, {SIGNAL_NAMES!r})):
    for name in names:
        vars(module).pop(name, None)
"""


def outcome(code):
    """Return what a new Python prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def loaded(statement):
    """Return the modules that a new Python has after a statement."""
    return set(outcome(f"import sys\n{statement}\nprint(*sys.modules)"))


def rooms(modules):
    return {".".join(name.split(".")[:2]) for name in modules if name.startswith("kernelbraid.")}


def test_the_package_itself_loads_next_to_nothing():
    modules = loaded("import kernelbraid; kernelbraid.__version__; dir(kernelbraid)")
    assert rooms(modules) == {"kernelbraid._version"}
    assert modules.isdisjoint(("numpy", "scipy", "sklearn"))


def test_aligning_views_loads_no_estimator_and_pandas_when_it_is_called():
    modules = loaded("from kernelbraid import align_views")
    assert rooms(modules) == {"kernelbraid._version", "kernelbraid.io"}
    assert modules.isdisjoint(("sklearn", "pandas"))


def test_an_estimator_loads_little_that_scikit_learn_does_not():
    """A clock would measure the machine: what is loaded beside our own modules is what takes time."""
    modules = loaded("from kernelbraid import LKG")
    assert rooms(modules).isdisjoint({"kernelbraid.cli", "kernelbraid.plotting"})
    assert modules.isdisjoint(("matplotlib", "torch", "distributed", "plotly"))
    more = modules - loaded("import sklearn.cluster")
    packages = {name.split(".")[0] for name in more} - set(sys.stdlib_module_names)
    assert packages == {"kernelbraid", "array_api_compat"}
    assert not [name for name in more if name.startswith("scipy.")]


def test_all_names_are_there_and_are_the_estimators_and_what_prepares_views():
    from kernelbraid import estimators
    from kernelbraid.estimators import gathering
    from kernelbraid.io import align

    others = {"Blocks", "EachView", "align_views", "save_model", "load_model", "__version__"}
    assert set(kernelbraid.__all__) == {*estimators.__all__} | others
    assert len(kernelbraid.__all__) <= 11  # ten, and the version
    assert kernelbraid.align_views is align.align_views
    assert kernelbraid.Blocks is gathering.Blocks
    for name in estimators.__all__:
        assert getattr(kernelbraid, name) is getattr(estimators, name)
    assert set(kernelbraid.__all__) <= set(dir(kernelbraid))


def test_a_page_holds_the_parameters_of_every_class():
    most = {"LKG": 18, "ADMM": 14, "LKGClassifier": 6, "EachView": 1}
    classes = [getattr(room, name) for room in (kernelbraid, methods) for name in room.__all__]
    for kind in (kind for kind in classes if isinstance(kind, type) and hasattr(kind, "get_params")):
        assert len(inspect.signature(kind).parameters) <= most.get(kind.__name__, 10), kind.__name__


def test_packages_are_attributes_without_an_import():
    for room in kernelbraid._ROOMS:
        assert getattr(kernelbraid, room).__name__ == f"kernelbraid.{room}"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'kernelbraid' has no attribute 'KLG'"):
        kernelbraid.KLG  # noqa: B018 (reading it is the test)
    with pytest.raises(ImportError, match="KLG"):
        from kernelbraid import KLG  # noqa: F401 (importing it is the test)


def test_python_m_runs_the_command_line():
    for module in ("kernelbraid",):
        command = [sys.executable, "-m", module, "--version"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert (result.returncode, result.stdout) == (0, f"kernelbraid {kernelbraid.__version__}\n")


def test_project_files_tell_the_version_of_the_code():
    folder = Path(__file__).parents[1]
    assert f"\nversion: {kernelbraid.__version__}\n" in (folder / "CITATION.cff").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(.+?)\]", (folder / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest[1] == kernelbraid.__version__


def test_everything_loads_and_a_fit_works_without_what_only_unix_has():
    code = AS_ON_WINDOWS + (
        "import kernelbraid\n"
        "for found in pkgutil.walk_packages(kernelbraid.__path__, 'kernelbraid.'):\n"
        "    if not found.name.endswith('__main__'):\n"
        "        importlib.import_module(found.name); print(found.name)\n"
        "from kernelbraid import LKG\n"
        "from kernelbraid._machine import peak_bytes\n"
        "X = [[0.0, 0.1], [0.1, 0.0], [0.1, 0.1], [5.0, 5.1], [5.1, 5.0], [5.1, 5.1]]\n"
        "print(*LKG(n_clusters=2, random_state=0).fit(X).labels_, peak_bytes())\n"
    )
    *names, a, b, c, d, e, f, peak = outcome(code)
    assert {"kernelbraid._machine", "kernelbraid.cli.cluster", "kernelbraid._dask"} <= set(names)
    assert a == b == c != d == e == f
    assert peak == "0"
