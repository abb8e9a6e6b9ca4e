"""
A graph of neighbours that is there
===================================

*I have a graph already: of neighbours, of links, of friends. Can it be clustered as it is?* ``kernels="graph"`` reads
it out, with all that belongs to a fit: the number of clusters, how sure labels are, pictures, new samples.
"""

# %%
# Friends
# -------
# A planted network of 300 people in six circles. Two of one circle know each other far more often than two of different
# ones.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline

from kernelbraid import LKG
from kernelbraid.metrics import ari
from kernelbraid.plotting import plot_embedding, plot_graph

rng = np.random.default_rng(0)
circles = np.repeat(np.arange(6), [55, 55, 50, 50, 45, 45])
chance = np.where(circles[:, None] == circles, 0.35, 0.01)
knows = np.triu(rng.random((300, 300)) < chance, 1)
friends = sparse.csr_array((knows | knows.T).astype(float))
print(f"{friends.shape[0]} people, {friends.nnz // 2} friendships")

# %%
# How many circles, and which?
# ----------------------------
# Nothing is learned: the graph is embedded and clustered as it comes, sparse all the way.

model = LKG("auto", kernels="graph", random_state=0).fit(friends)
print(f"{model.n_clusters_} circles, adjusted Rand index {ari(circles, model.labels_):.3f}")
print(*model.why_, sep="\n")
unsure = np.argsort(model.confidence_)[:3]
print("least sure:", {f"person {person}": round(float(model.confidence_[person]), 2) for person in unsure})

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
plot_embedding(model, confidence=True, layout="graph", ax=axes[0])
plot_graph(model, ax=axes[1])
plt.show()

# %%
# A newcomer
# ----------
# A row of the people whom somebody knows is enough.

newcomer = np.zeros((1, 300))
newcomer[0, rng.choice(np.flatnonzero(circles == 3), 5, replace=False)] = 1.0
found = model.predict(newcomer)[0]
print("the newcomer joins the circle of person", np.flatnonzero(model.labels_ == found)[0])

# %%
# Neighbours of scikit-learn
# --------------------------
# ``kernels="distances"`` takes distances to nearest neighbours, as scikit-learn's transformer gives them, also through
# an approximate search of your own.

X, y = make_moons(400, noise=0.06, random_state=0)
near = make_pipeline(KNeighborsTransformer(n_neighbors=10), LKG(2, kernels="distances", random_state=0)).fit(X)
print(f"two moons: adjusted Rand index {ari(y, near[-1].labels_):.3f}")
