"""
How many clusters
=================

*I do not know the number of clusters.* ``n_clusters="auto"`` chooses one, says what speaks for it, names others that
are plausible, and warns where there are no clusters at all.
"""

# %%
# Clusters that are made of clusters
# ----------------------------------
# Three groups of three blobs each.

import warnings

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.datasets import make_blobs

from kernelbraid import LKG
from kernelbraid.plotting import plot_n_clusters

rng = np.random.default_rng(3)
far = np.repeat([[0.0, 0.0], [14.0, 0.0], [7.0, 12.0]], 3, axis=0)
near = np.tile([[0.0, 0.0], [3.6, 0.0], [1.8, 3.1]], (3, 1))
X, _ = make_blobs(270, centers=far + near, cluster_std=0.55, random_state=0)

model = LKG(n_clusters="auto", random_state=0).fit(X)
print(*model.why_, sep="\n")

# %%
# The score of every number is in ``n_clusters_evidence_``: how far graphs of different penalties agree on the clusters,
# times the share of edges within them, times their modularity over its limit.

evidence = model.n_clusters_evidence_
best = np.argsort(evidence["score"])[::-1][:4]
for i in best:
    print(f"{evidence['n_clusters'][i]:3d} clusters: score {evidence['score'][i]:.3f}")

fig, ax = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
plot_n_clusters(model, ax=ax)
plt.show()

# %%
# Coarser or finer
# ----------------
# Where clusters are made of smaller ones, both numbers are right, and what the clusters are for decides. ``why_`` has
# named the coarser one.

coarse = LKG(n_clusters=3, random_state=0).fit(X)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, fitted in zip(axes, (coarse, model), strict=True):
    ax.scatter(*X.T, c=fitted.labels_, s=14, cmap="tab10")
    ax.set(title=f"{fitted.n_clusters_} clusters", aspect="equal", xticks=[], yticks=[])
plt.show()

# %%
# No clusters
# -----------
# Any cloud can be cut. This one falls apart no more easily than others of its mean and covariance: it stays in one
# piece, with a warning.

cloud = rng.normal(size=(270, 2))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nothing = LKG(n_clusters="auto", random_state=0).fit(cloud)
print(f"{nothing.n_clusters_} cluster")
print(caught[0].message)
# sphinx_gallery_thumbnail_number = 1
