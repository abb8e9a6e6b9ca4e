"""
Which labels are sure, and who stands aside
===========================================

*Every sample gets a label. Which of them can I believe, and which samples belong nowhere?* ``confidence_`` orders the
labels, ``outlier_scores_`` the samples.
"""

# %%
# Overlapping blobs and strangers
# -------------------------------
# Two of four blobs overlap; twelve samples are scattered over the plane.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.datasets import make_blobs

from kernelbraid import LKG
from kernelbraid.metrics import accuracy

rng = np.random.default_rng(0)
centres = [[0, 0], [2.6, 0], [9, 1], [4, 9]]
X, y = make_blobs(400, centers=centres, cluster_std=[1.0, 1.0, 0.8, 0.8], random_state=0)
strangers = rng.uniform([-4, -4], [14, 13], size=(12, 2))
X, y = np.vstack([X, strangers]), np.r_[y, np.full(12, -1)]

model = LKG(4, random_state=0).fit(X)

# %%
# How sure each label is
# ----------------------
# ``membership_`` says how far each sample belongs to each cluster, ``confidence_`` is the entry of its label. They are
# worked out when they are first asked for.

known = y >= 0
print(f"all labels: {accuracy(y[known], model.labels_[known]):.3f} right")
order = np.flatnonzero(known)[np.argsort(-model.confidence_[known])]
for share in (0.75, 0.5):
    most = order[: int(share * len(order))]
    print(f"the surest {share:.0%}: {accuracy(y[most], model.labels_[most]):.3f} right")
least = order[-1]
print("membership of the least sure:", model.membership_[least].round(2))

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharex=True, sharey=True)
axes[0].scatter(*X.T, c=model.labels_, cmap="tab10", s=16)
axes[0].set_title("Clusters", loc="left")
sure = axes[1].scatter(*X.T, c=model.confidence_, cmap="cividis", s=16, vmin=0, vmax=1)
axes[1].set_title("confidence_", loc="left")
axes[0].set(xticks=[], yticks=[])
fig.colorbar(sure, ax=axes[1], shrink=0.8)
plt.show()

# %%
# Who stands aside
# ----------------
# 0: the others express the sample as well as most; 1/2: twice as much of it is left over.

aside = np.argsort(-model.outlier_scores_)[:12]
print(f"of the 12 largest outlier scores, {np.sum(aside >= 400)} are strangers")
print(f"median score of strangers {np.median(model.outlier_scores_[400:]):.2f}", end=", ")
print(f"of the others {np.median(model.outlier_scores_[:400]):.2f}")

fig, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
score = ax.scatter(*X.T, c=model.outlier_scores_, cmap="cividis_r", s=22, vmin=0)
ax.scatter(*X[400:].T, facecolor="none", edgecolor="#D55E00", s=90, linewidth=1.6, label="stranger")
ax.legend(frameon=False, loc="upper left")
ax.set_title("outlier_scores_", loc="left")
ax.set(xticks=[], yticks=[])
fig.colorbar(score, ax=ax, shrink=0.8)
plt.show()
# sphinx_gallery_thumbnail_number = 2
