import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.learning.coefficients import express
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.readout import read_out
from kernelbraid.learning.reliability import Evidence, judge, tell
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.sources import Views
from problems import blobs


def fitted(X, n_clusters, **given):
    """Return a reading of samples, and how it was made."""
    settings = Settings.of({"preset": "recommended", **given}).sized(X.shape[0], n_clusters)
    candidates = Views([X]).pose("auto")
    learned = LearnedGraph.of(express(candidates, settings.learning), settings.readout, candidates.identities)
    return read_out(learned, settings.readout, random_state=np.random.RandomState(0)), settings.readout


@pytest.mark.parametrize("way", ["merge", "kmeans"])
def test_clear_clusters_are_relied_on_and_noise_is_not(way):
    X, y = blobs(n=90)
    clear = judge(*fitted(X, 3, assign_labels=way), random_state=np.random.RandomState(0))
    noise = np.random.default_rng(0).normal(size=(120, 20))
    vague = judge(*fitted(noise, 6, assign_labels=way), random_state=np.random.RandomState(0))
    assert clear.reliability == pytest.approx(1.0)
    assert vague.reliability < 0.5
    assert len(set(y)) == 3


def test_reliability_is_a_product_between_zero_and_one():
    assert Evidence(0.5, 0.4).reliability == pytest.approx(0.2)
    assert Evidence(-0.1, -0.2).reliability == 0.0
    assert Evidence().reliability == 1.0
    assert Evidence(0.5, 0.4, 0.5).reliability == pytest.approx(0.1)


def test_one_cluster_and_one_for_each_sample_cannot_be_cut_otherwise():
    X, _ = blobs(n=12)
    for n_clusters in (1, 12):
        assert judge(*fitted(X, n_clusters), random_state=np.random.RandomState(0)) == Evidence()


def test_sentences_say_what_the_number_means():
    low, high, middle = (tell(Evidence(value, value), 3, 2) for value in (0.4, 0.95, 0.8))
    assert "reliability 0.16" in low[0]
    assert "That is low" in low[1]
    assert "That is high" in high[1]
    assert middle[1:] == ["The graph has 2 connected components."]
    assert tell(Evidence(), 1, 1) == ["All samples are in one cluster: nothing was cut."]


def test_more_components_than_clusters_are_put_together_by_chance():
    X = np.repeat(np.eye(3), 20, axis=0) + 1e-3 * np.random.default_rng(0).normal(size=(60, 3))
    reading, readout = fitted(X, 2, n_neighbors=5)
    evidence = judge(reading, readout, random_state=np.random.RandomState(0))
    assert reading.placed.n_components == 3
    assert evidence.of_parts == pytest.approx(2 / 3)
    assert "3 connected components, more than clusters" in tell(evidence, 2, 3)[-1]


@pytest.mark.parametrize("preset", ["recommended", "authors", "paper"])
def test_every_fit_says_how_far_it_can_be_relied_on(preset):
    X, _ = blobs(n=40)
    model = LKG(3, preset=preset, random_state=0).fit(X)
    assert 0 <= model.reliability_ <= 1
    assert any(f"reliability {model.reliability_:.2f}" in sentence for sentence in model.why_)


def test_judging_does_not_change_labels():
    X = np.random.default_rng(0).normal(size=(60, 5))
    reading, readout = fitted(X, 4)
    before = reading.labels.copy()
    judge(reading, readout, random_state=np.random.RandomState(0))
    np.testing.assert_array_equal(reading.labels, before)
    np.testing.assert_array_equal(LKG(4, random_state=0).fit_predict(X), before)
