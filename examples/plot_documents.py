"""
Documents with words and links
==============================

*My documents have a text and links to each other. How do I cluster by both?* Each kind of description is a view, and a
list of matrices is a list of views.
"""

# %%
# Documents
# ---------
# 400 simulated papers on six topics. Words come from the topic and from a common vocabulary; of the links, most go to
# papers on the same topic. Topics 0 and 1 share their words, topics 4 and 5 cite each other freely: neither view tells
# all six apart.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from kernelbraid import LKG
from kernelbraid.metrics import accuracy
from kernelbraid.plotting import plot_embedding, plot_views

rng = np.random.default_rng(0)
n, n_words = 400, 1000
topics = rng.integers(6, size=n)
of_words = np.array([0, 0, 1, 2, 3, 4])[topics]  # what the words know
of_links = np.array([0, 1, 2, 3, 4, 4])[topics]  # what the links know

common = rng.dirichlet(np.full(n_words, 0.2))
by_topic = rng.dirichlet(np.full(n_words, 0.03), size=5)
counts = np.array([rng.multinomial(60, 0.6 * common + 0.4 * by_topic[topic]) for topic in of_words])

same = of_links[:, None] == of_links
cited = sparse.csr_array((rng.random((n, n)) < np.where(same, 0.08, 0.004)).astype(float))

# %%
# Two views
# ---------
# Words are weighed by tf-idf, which also gives rows unit length. Of the links, a paper is described by whom it cites
# and by whom it is cited. Both matrices are sparse, and stay so.

words = TfidfTransformer().fit_transform(sparse.csr_array(counts))
links = normalize(cited + cited.T + sparse.eye_array(n))
print(f"words: {words.shape}, {words.nnz} entries; links: {links.shape}, {links.nnz} entries")

# %%
# Clusters
# --------
# The graphs of views that agree are summed; ``fusion="kernels"`` joins their kernels instead. Either way, each view
# tells apart what the other one mixes.

fits = {
    "words alone": LKG(6, random_state=0).fit(words),
    "links alone": LKG(6, random_state=0).fit(links),
    "both, graphs summed": LKG(6, random_state=0).fit([words, links]),
    "both, kernels joined": LKG(6, fusion="kernels", random_state=0).fit([words, links]),
}
for name, model in fits.items():
    print(f"{name:22} accuracy {accuracy(topics, model.labels_):.3f}")

# %%
# Pictures
# --------
# Words and links share far more neighbours than chance would have them share, so that both are trusted. On the map,
# papers stand together that are neighbours in the graph.

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
plot_embedding(fits["both, graphs summed"], ax=axes[0])
plot_views(fits["both, graphs summed"], names=["words", "links"], ax=axes[1])
plt.show()
