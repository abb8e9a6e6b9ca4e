"""
First clusters
==============

Cluster a small table with :class:`~kernelbraid.LKG`, compare the result with k-means, and look at what was
learned: the weights of the kernels, the consensus kernel, the graph, and the course of the iteration.
"""

# %%
# Data
# ----
# The wine data hold 178 wines of three cultivars, described by 13 chemical measurements with different units. LKG
# never rescales what it is given, so each measurement is standardised first.

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG
from kernelbraid.metrics import evaluate
from kernelbraid.plotting import (
    plot_convergence,
    plot_embedding,
    plot_graph,
    plot_kernel,
    plot_kernel_weights,
)

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)

# %%
# Fit
# ---
# Without further arguments LKG builds a few kernels, chosen by the number of features, and uses the settings of its
# preset ``"recommended"``. The labels ``y`` are used for scoring only.

model = LKG(n_clusters=3, random_state=0).fit(X)
print(f"{model.status_} after {model.n_iter_} steps")

# %%
# The eight measures, next to those of k-means:

kmeans = KMeans(n_clusters=3, n_init=100, random_state=0).fit(X)
lkg_scores, kmeans_scores = evaluate(y, model.labels_), evaluate(y, kmeans.labels_)
print(f"{'':10}{'LKG':>8}{'k-means':>9}")
for name in lkg_scores:
    print(f"{name:10}{lkg_scores[name]:8.3f}{kmeans_scores[name]:9.3f}")

# %%
# Weights, graph, embedding
# -------------------------
# The weights say how the combination nearest to the consensus kernel is made up. The graph keeps the ten strongest
# edges of each sample; its samples are sorted by cluster, so good clusters show as blocks on the diagonal. k-means runs
# on the embedding.

fig, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
plot_kernel_weights(model, ax=axes[0])
plot_graph(model, ax=axes[1])
plot_embedding(model, ax=axes[2])
plt.show()

# %%
# Kernel and convergence
# ----------------------
# The iteration stops when the kernel no longer changes. The residuals tell how far the two copies of the graph and
# of the kernel still are from each other.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
plot_kernel(model, ax=axes[0])
plot_convergence(model, ax=axes[1])
plt.show()

# %%
# The same numbers are in ``history_``, one array a quantity.

for name in ("kernel_change", "graph_residual", "kernel_residual", "mu"):
    values = model.history_[name]
    print(f"{name:16} first {values[0]:9.2e}  last {values[-1]:9.2e}")
