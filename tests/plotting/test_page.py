"""The page of a fit, in Chromium where there is one, and what notebooks show."""

import json
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError

from kernelbraid import LKG, load_model, save_model
from kernelbraid.methods import MultipleKernelKMeans
from kernelbraid.plotting.page import contrasts, write_report

SWITCHES = (
    "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update "
    "disable-sync disable-dev-shm-usage hide-scrollbars"
)
WIDTHS, SCHEMES = (1280, 400), ("light", "dark")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("there is no Chromium; apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for switch in SWITCHES.split():
        options.add_argument(f"--{switch}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


def visit(browser, path, width=1280, scheme="light"):
    """Open a page, and return the addresses it has asked for."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get_log("performance")
    browser.get(path.as_uri())
    told = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [one["params"]["request"]["url"] for one in told if one["method"] == "Network.requestWillBeSent"]


def text_of(page):
    """Return what stands on a page, without markup and without the program that draws."""
    words = re.sub(r"<(script|style).*?</\1>", " ", page.read_text(), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", words).replace("&nbsp;", " ").split())


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def fitted(iris):
    return LKG(3, random_state=0).fit(iris)


@pytest.fixture(scope="module")
def page(fitted, iris, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "iris.html"
    assert fitted.report(path, ids=[f"flower-{i}" for i in range(150)], title="Flowers") is fitted
    return path


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_browser_shows_it_without_a_network_and_without_complaint(browser, page, width, scheme):
    asked = visit(browser, page, width, scheme)
    assert asked
    schemes = {address.partition(":")[0] for address in asked}
    assert schemes <= {"file", "data", "blob", "chrome"}  # the last is the browser's own first tab
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert len(browser.find_elements("css selector", "#map .scatterlayer path.point")) == 150
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", ground))) < 60) == (scheme == "dark")


def test_it_names_what_sets_clusters_apart_whom_to_look_at_and_how_to_repeat_it(page, fitted, iris):
    told = text_of(page)
    setosa = iris[fitted.labels_ == fitted.labels_[0]]["petal length (cm)"].mean()
    assert f"petal length (cm) {setosa:.3g}" in told
    least = int(np.argmin(fitted.confidence_))
    assert f"flower-{least} {fitted.labels_[least]} {fitted.confidence_[least]:.2f}" in told
    aside = int(np.argmax(fitted.outlier_scores_))
    assert f"flower-{aside} {fitted.labels_[aside]} {fitted.outlier_scores_[aside]:.2f}" in told
    assert "LKG(n_clusters=3, random_state=0)" in told.replace("&#39;", "'")
    for sentence in fitted.why_:
        assert sentence in told
    assert "In another order of the samples the random draws fall on others, as with another seed" in told


def test_the_same_model_gives_the_same_page_also_from_a_file(page, fitted, tmp_path):
    save_model(fitted, tmp_path / "iris.model")
    loaded = load_model(tmp_path / "iris.model")
    loaded.report(tmp_path / "again.html", ids=[f"flower-{i}" for i in range(150)], title="Flowers")
    assert (tmp_path / "again.html").read_text() == page.read_text()


def test_names_are_words_and_no_markup(browser, tmp_path):
    X = 1e4 * make_blobs(40, n_features=2, centers=2, random_state=0)[0]
    evil = "</script><script>document.title = 'lost'</script><b>bold</b>"
    frame = pd.DataFrame(X, columns=["plain", evil], index=[f"{evil}{i}" for i in range(40)])
    path = tmp_path / "evil.html"
    LKG(2, random_state=0).fit(X).report(path, frame, title=evil)
    visit(browser, path)
    assert browser.get_log("browser") == []
    assert browser.title == evil
    assert "e+0" not in text_of(path)
    assert not browser.find_elements("css selector", "body b b, td b, .features b")
    visit(browser, path, 400)
    cut_off = "return [...document.querySelectorAll('.wide')].filter(one => one.scrollWidth > one.clientWidth).length"
    assert browser.execute_script(cut_off) == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_features_are_compared_as_means_in_deviations_of_all_samples(form):
    rng = np.random.default_rng(0)
    X, labels = rng.poisson(1.0, (50, 4)).astype(float), rng.integers(0, 3, 50)
    found = contrasts(form(X), labels, list("abcd"), 4, 4)
    for cluster in range(3):
        own, others = X[labels == cluster], X[labels != cluster]
        effect = (own.mean(axis=0) - others.mean(axis=0)) / X.std(axis=0)
        order = np.argsort(-np.abs(effect))
        assert [one.name for one in found[cluster]] == ["abcd"[j] for j in order]
        np.testing.assert_allclose([one.effect for one in found[cluster]], effect[order])
        np.testing.assert_allclose([one.outside for one in found[cluster]], others.mean(axis=0)[order])
    assert found[3] == []


def test_samples_are_kept_in_their_own_units_by_view_also_copies_and_without_gaps():
    X, _ = make_blobs(80, n_features=6, centers=3, random_state=0)
    X = np.concatenate([X, X[:10]]) * 7 + 100
    views = [X[:, :3].copy(), X[:, 3:].copy()]
    views[1][5] = np.nan
    model = LKG(3, random_state=0).fit(views)
    kept = model._kept_samples()
    assert list(kept) == [0, 1]
    for view, (rows, A) in kept.items():
        there = np.isfinite(views[view]).all(axis=1)
        np.testing.assert_array_equal(rows, np.flatnonzero(there))
        np.testing.assert_allclose(A, views[view][there])
    weights = np.ones(90)
    weights[20] = 0  # it has no copy
    rows, A = LKG(3, random_state=0).fit(X, sample_weight=weights)._kept_samples()[0]
    np.testing.assert_array_equal(rows, np.delete(np.arange(90), 20))
    np.testing.assert_allclose(A, X[rows])


def test_rows_keep_samples_in_their_own_units_too():
    X, _ = make_blobs(2100, n_features=3, centers=3, random_state=0)
    X = X * 3 + 50
    rows, A = LKG(3, random_state=0, n_init=2).fit(X)._kept_samples()[0]
    np.testing.assert_allclose(A, X[rows], rtol=1e-5)


def test_levels_are_rows_of_clusters_from_coarse_to_fine(browser, tmp_path):
    centres = np.array([[0, 0], [0, 9], [40, 0], [40, 9], [0, 60], [9, 60]])
    X = make_blobs(240, n_features=2, centers=centres, random_state=0)[0]
    model = LKG("auto", random_state=0).fit(X)
    assert len(model.levels_) > 1
    path = tmp_path / "levels.html"
    model.report(path)
    visit(browser, path, 400)
    rows = browser.find_elements("css selector", "#levels ~ div .row div")
    for level, row in zip(model.levels_, rows, strict=False):
        widths = [part.size["width"] for part in row.find_elements("css selector", "span")]
        assert len(widths) == level.n_clusters
        shares = np.sort(np.bincount(level.labels)) / 240
        np.testing.assert_allclose(np.sort(widths) / sum(widths), shares, atol=0.02)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    told = text_of(path)
    assert "taken" in told
    LKG(6, random_state=0).fit(X).report(path)
    assert "Levels" not in text_of(path)


def test_views_are_told_with_their_agreement_and_the_numbers_they_had(tmp_path):
    X, _ = make_blobs(90, n_features=4, centers=3, random_state=0)
    noise = np.random.default_rng(0).normal(size=(90, 2))
    with pytest.warns(UserWarning, match="view 2"):
        model = LKG(3, random_state=0).fit([X, noise, X[:, :2] * 2])
    model.report(tmp_path / "views.html")
    told = text_of(tmp_path / "views.html")
    assert "(view 3)" in told
    assert "(view 2)" not in told
    assert all(entry["why"] in told for entry in model.views_.entries())


@pytest.mark.parametrize(
    "model",
    [MultipleKernelKMeans(3, random_state=0), LKG(3, kernels="graph")],
    ids=lambda model: type(model).__name__,
)
def test_what_a_model_does_not_know_is_left_out(model, tmp_path, samples):
    is_graph = getattr(model, "kernels", None) == "graph"
    X = np.exp(-((samples[:, None] - samples[None]) ** 2).sum(axis=2)) if is_graph else samples
    model.fit(X).report(tmp_path / "page.html", None if is_graph else X)
    told = text_of(tmp_path / "page.html")
    assert ("No features are known" in told) == is_graph
    assert ("How far to rely on it" in told) == hasattr(model, "reliability_")
    assert f"from kernelbraid{'' if is_graph else '.methods'} import {type(model).__name__} model" in told


def test_mistakes_are_told_in_a_sentence(fitted, iris, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    with pytest.raises(NotFittedError, match="not fitted"):
        LKG(3).report(path)
    with pytest.raises(ValueError, match=r"there is no folder .*; create it first"):
        fitted.report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(ValueError, match="ids holds 'a' more than once; give every sample a name"):
        fitted.report(path, ids=["a"] * 150)
    with pytest.raises(ValueError, match="ids has 3 entries, and the model was fitted on 150 samples"):
        fitted.report(path, ids=list("abc"))
    with pytest.raises(ValueError, match="X has 100 samples, and the model was fitted on 150"):
        fitted.report(path, iris[:100], ids=range(150))
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(
        ImportError, match=r'A report needs plotly; install it with pip install "kernelbraid\[report\]"'
    ):
        write_report(fitted, path)
    assert not path.exists()


def test_notebooks_show_parameters_and_after_a_fit_sizes_reliability_and_a_map(fitted):
    assert "clusters of" not in LKG(3)._repr_html_()
    shown = fitted._repr_html_()
    sizes = ", ".join(map(str, np.bincount(fitted.labels_)))
    assert f"3 clusters of 150 samples: {sizes}" in shown
    assert f"reliability {fitted.reliability_:.2f}" in shown
    assert shown.count("<circle") == 150
    assert "n_clusters" in shown
