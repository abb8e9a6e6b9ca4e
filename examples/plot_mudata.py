"""
Modalities of which cells are missing
=====================================

Cells in a MuData: RNA and protein that agree, a third modality that is noise, and many cells that were not measured in
all of them.
"""

# %%
# Three modalities
# ----------------
# 500 cells of six types. RNA tells four of them apart, protein another four, so that both are needed. The third
# modality failed. A fifth of the cells lacks RNA, another fifth protein.

import warnings

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import mudata  # pip install "kernelbraid[scverse]"
import numpy as np
from anndata import AnnData  # pip install "kernelbraid[scverse]"

from kernelbraid.metrics import ari
from kernelbraid.scverse import cluster

rng = np.random.default_rng(0)
types = rng.integers(6, size=500)
names = np.array([f"cell{i}" for i in range(500)])


def measured(seen, n_features, there, feature):
    """Return those cells that are there in a modality, which sees some types as one."""
    centres = rng.normal(scale=1.5, size=(6, n_features))[seen]
    data = AnnData((centres[types] + rng.normal(size=(500, n_features))).astype(np.float32))
    data.obs_names = names
    data.var_names = [f"{feature}{i}" for i in range(n_features)]
    return data[there].copy()


lot = rng.random(500)
rna = measured([0, 0, 0, 1, 2, 3], 40, lot > 0.2, "gene")
protein = measured([0, 1, 2, 3, 3, 3], 20, (lot < 0.2) | (lot > 0.4), "antibody")
failed = measured([0, 0, 0, 0, 0, 0], 30, lot > 0, "peak")
with mudata.set_options(pull_on_update=False):
    cells = mudata.MuData({"rna": rna, "protein": protein, "failed": failed})
print(cells)

# %%
# Clusters
# --------
# Modalities are views. Before they are fused, their neighbours are compared; the one that agrees with none is left out,
# and the warning names it.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cluster(cells, 6)
print(caught[0].message)

truth = dict(zip(names, types, strict=True))
truth = np.array([truth[name] for name in cells.obs_names])
found = cells.obs["kernelbraid"].cat.codes.to_numpy()
has = {name: cells.obsmap[name].ravel() > 0 for name in ("rna", "protein")}
both = has["rna"] & has["protein"]
print(f"cells with both: {ari(truth[both], found[both]):.3f}, all cells: {ari(truth, found):.3f}")

# %%
# Cells with both are told apart; one that lacks a modality can be placed no better than the other one knows. Each by
# itself finds four clusters.

for name in ("rna", "protein"):
    alone = cells[name].copy()
    cluster(alone, 4, use_rep="X")
    labels = alone.obs["kernelbraid"].cat.codes.to_numpy()
    print(f"{name}: {ari(np.array([truth[cells.obs_names.get_loc(cell)] for cell in alone.obs_names]), labels):.3f}")

# %%
# Whom it trusted
# ---------------

cells.uns["kernelbraid"]["views"]

# %%
# What each modality adds to a cell
# ---------------------------------
# Weights of cells are shares of their edges. A cell that lacks RNA has all of its own from protein; edges by way of
# neighbours, which tie it to the cells of the other modality, do not count here.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for name, rows in {"both": both, "protein alone": ~has["rna"], "RNA alone": ~has["protein"]}.items():
    axes[0].hist(cells.obs.loc[rows, "kernelbraid_weight_rna"], bins=np.linspace(0, 1, 41), alpha=0.7, label=name)
axes[0].set(title="Share of RNA in the edges of a cell", xlabel="share", ylabel="cells")
axes[0].legend(frameon=False)
order = np.argsort(found, kind="stable")
graph = cells.obsp["kernelbraid_connectivities"][order][:, order]
axes[1].spy(graph, markersize=0.4, color="black")
axes[1].set(title="Learned graph, sorted by cluster", xticks=[], yticks=[])
plt.show()
# sphinx_gallery_thumbnail_number = 1
