"""
Cells in an AnnData
===================

Simulated cells are clustered where scanpy keeps them, the number of clusters is chosen, and labels, graph and
confidence are looked at. Everything here works without scanpy; what one would call there is said on the way.
"""

# %%
# Cells
# -----
# 400 cells of five types, of which the rarest has a tenth of the share of the largest. Counts of 200 genes follow the
# type, the depth of sequencing differs from cell to cell. As usual, depth is divided out, logarithms are taken, and 20
# principal components are kept (``sc.pp.normalize_total``, ``sc.pp.log1p``, ``sc.pp.pca``).

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from anndata import AnnData  # pip install "kernelbraid[scverse]"
from sklearn.decomposition import PCA

from kernelbraid.metrics import ari
from kernelbraid.scverse import cluster

rng = np.random.default_rng(0)
share = np.linspace(1, 0.1, 5)
types = rng.choice(5, 400, p=share / share.sum())
programmes = np.exp(rng.normal(scale=0.4, size=(5, 200)))
depth = rng.lognormal(mean=6.5, sigma=0.5, size=(400, 1))
counts = rng.poisson(depth * programmes[types] / programmes.sum(axis=1)[types, None])

cells = AnnData(np.log1p(1e3 * counts / counts.sum(axis=1, keepdims=True)).astype(np.float32))
cells.layers["counts"] = counts
cells.obsm["X_pca"] = PCA(20, random_state=0).fit_transform(cells.X)
print(cells)

# %%
# Clusters
# --------
# One call. ``X_pca`` is taken because it is there.

cluster(cells)
print(f"{cells.uns['kernelbraid']['n_clusters']} clusters, adjusted Rand index", end=" ")
print(f"{ari(types, cells.obs['kernelbraid'].cat.codes.to_numpy()):.3f}")
print(cells)

# %%
# Why so many, and how far they can be relied on, is in ``uns``.

for sentence in cells.uns["kernelbraid"]["why"]:
    print("-", sentence)

# %%
# Pictures
# --------
# The learned graph is sparse, and falls into blocks when cells are sorted by cluster. On the right, cells in the first
# two components; large dots are cells whose labels are less sure. With scanpy, ``sc.tl.umap(cells,
# neighbors_key="kernelbraid")`` lays out the graph.

order = np.argsort(cells.obs["kernelbraid"].cat.codes, kind="stable")
graph = cells.obsp["kernelbraid_connectivities"][order][:, order]
fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
axes[0].spy(graph, markersize=0.6, color="black")
axes[0].set(title="Learned graph, sorted by cluster", xticks=[], yticks=[])
for name, group in cells.obs.groupby("kernelbraid", observed=True):
    at = cells.obs_names.get_indexer(group.index)
    doubt = 1 - group["kernelbraid_confidence"]
    axes[1].scatter(*cells.obsm["X_pca"][at, :2].T, s=8 + 60 * doubt, alpha=0.7, linewidths=0, label=name)
axes[1].set(title="Clusters", xlabel="PC1", ylabel="PC2")
axes[1].legend(title="cluster", frameon=False)
plt.show()

# %%
# Another representation
# ----------------------
# ``use_rep`` names another one, and ``key_added`` another place for the results. All genes, not reduced:

cluster(cells, 5, use_rep="X", key_added="genes")
print(f"all genes: {ari(types, cells.obs['genes'].cat.codes.to_numpy()):.3f}")
