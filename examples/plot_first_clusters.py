"""
First clusters
==============

Cluster images with :class:`~kernelbraid.LKG`, compare the result with k-means, and look at what was found: the
clusters, the graph, the embedding. After that, have the kernel learned, too, and look at its weights and at the course
of the iteration.
"""

# %%
# Data
# ----
# 300 handwritten digits of 8 x 8 pixels. LKG never rescales what it is given; here each image is scaled to unit length,
# so that bold and thin writing count alike.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from kernelbraid import ADMM, LKG
from kernelbraid.metrics import evaluate
from kernelbraid.plotting import plot_convergence, plot_embedding, plot_graph, plot_kernel_weights

X, y = load_digits(return_X_y=True)
X, y = normalize(X[:300]), y[:300]

# %%
# Fit
# ---
# Without further arguments LKG takes the average of a few kernels, chosen by the number of directions in which the
# samples vary, finds the graph in one linear system, and keeps the strongest edges of each sample. Clusters are the
# communities of the graph, or pieces of its embedding that share many edges, whichever are steadier. The classes ``y``
# are used for scoring only.

model = LKG(n_clusters=10, random_state=0).fit(X)

# %%
# How far can the clusters be relied on? The graph is cut again, with other weights and in other ways, and the results
# are compared.

print(*model.why_, sep="\n")

# %%
# The eight measures, next to those of k-means:

kmeans = KMeans(n_clusters=10, n_init=100, random_state=0).fit(X)
lkg_scores, kmeans_scores = evaluate(y, model.labels_), evaluate(y, kmeans.labels_)
print(f"{'':10}{'LKG':>8}{'k-means':>9}")
for name in lkg_scores:
    print(f"{name:10}{lkg_scores[name]:8.3f}{kmeans_scores[name]:9.3f}")

# %%
# Clusters, graph, embedding
# --------------------------
# The first twelve images of every cluster, a row each. The samples of the graph are sorted by cluster, so good clusters
# show as blocks on the diagonal. On the map, neighbours in the graph stand together.

fig, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained", width_ratios=(1.2, 1.2, 1.3))
rows = [np.pad(X[model.labels_ == cluster][:12].reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1))) for cluster in range(10)]
axes[0].imshow(np.vstack([np.hstack(images) for images in rows]), cmap="gray_r")
axes[0].set_title("Clusters, a row each", loc="left")
axes[0].set(xticks=[], yticks=range(5, 100, 10), yticklabels=range(10))
axes[0].tick_params(length=0)
axes[0].spines[:].set_visible(False)
plot_graph(model, ax=axes[1])
plot_embedding(model, ax=axes[2])
plt.show()

# %%
# Have the kernel learned
# -----------------------
# With :class:`~kernelbraid.ADMM` a consensus kernel is learned together with the graph, as in the paper. It takes
# several times as long and changes little here, which is why it is not the default. Do it to see which kernels the
# consensus is made of.

learned = LKG(n_clusters=10, solver=ADMM(), random_state=0).fit(X)
print(f"{learned.solution_.status} after {learned.n_iter_} steps")
print(f"adjusted Rand index with the clusters before: {evaluate(model.labels_, learned.labels_)['ari']:.2f}")

fig, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
plot_kernel_weights(learned, ax=axes[0])
plot_convergence(learned, ax=axes[1])
plt.show()

# %%
# The iteration stops when the kernel no longer changes. The residuals tell how far the two copies of the graph and of
# the kernel still are from each other. The same numbers are in ``solution_.history``, one array per quantity.

for name in ("kernel_change", "graph_residual", "kernel_residual", "mu"):
    values = learned.solution_.history[name]
    print(f"{name:16} first {values[0]:9.2e}  last {values[-1]:9.2e}")
