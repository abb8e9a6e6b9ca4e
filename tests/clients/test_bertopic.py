"""BERTopic with a clusterer of ours; optional, for what it needs beside it."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from kernelbraid import LKG

bertopic = pytest.importorskip("bertopic", reason="bertopic is not installed")
pytest.importorskip("hdbscan", reason="hdbscan is not installed, which BERTopic looks at for new documents")

SUBJECTS = {
    "sea": "ship sail wave harbour anchor tide",
    "kitchen": "oven bread flour butter spoon recipe",
    "garden": "rose soil spade seed hedge blossom",
}


def documents(n_each=20, seed=0):
    """Return sentences of three subjects, their places in a space of meanings, and the subjects."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(SUBJECTS)), n_each)
    words = [text.split() for text in SUBJECTS.values()]
    sentences = [" ".join(rng.choice(words[subject], 4)) for subject in truth]
    return sentences, 8 * np.eye(3, 8)[truth] + rng.normal(size=(len(truth), 8)), truth


@pytest.mark.parametrize("model", [LKG(3, random_state=0)], ids=type)
def test_topics_are_the_clusters_and_new_documents_get_theirs(model):
    from bertopic.dimensionality import BaseDimensionalityReduction

    sentences, places, truth = documents()
    topics = bertopic.BERTopic(hdbscan_model=model, umap_model=BaseDimensionalityReduction(), embedding_model=None)
    found, _ = topics.fit_transform(sentences, embeddings=places)
    assert adjusted_rand_score(truth, found) == 1
    for subject, topic in zip(truth, found, strict=True):
        words = {word for word, _ in topics.get_topic(topic)[:4]}
        assert words <= set(SUBJECTS[list(SUBJECTS)[subject]].split())
    more, new, subjects = documents(seed=1)
    predicted, _ = topics.transform(more, embeddings=new)
    assert adjusted_rand_score(subjects, predicted) > 0.9
    assert set(predicted) <= set(found)
