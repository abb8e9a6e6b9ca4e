"""
Genes and proteins, not of every patient
========================================

*Some patients have genes alone, some have proteins alone. Do I have to drop them, or to make up what is missing?*
Neither.
"""

# %%
# Two tables
# ----------
# 240 simulated patients of four kinds. Genes were measured of most, proteins of most, both of about half. The tables
# come from two laboratories, in different orders; the names of their rows are the patients.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG, EachView, align_views
from kernelbraid.metrics import accuracy

rng = np.random.default_rng(0)
names = [f"patient {number}" for number in range(240)]
kinds = pd.Series(rng.integers(4, size=240), index=names)


def measure(n_features, spread, patients, prefix):
    """Return a table of some patients, whose means follow their kind."""
    centres = rng.normal(scale=spread, size=(4, n_features))
    values = centres[kinds[patients]] + rng.normal(size=(len(patients), n_features))
    return pd.DataFrame(values, index=patients, columns=[f"{prefix}{i}" for i in range(n_features)])


lot = rng.random(240)
genes = measure(200, 0.35, [name for name, drawn in zip(names, lot, strict=True) if drawn < 0.75], "gene")
proteins = measure(30, 0.8, [name for name, drawn in zip(names, lot, strict=True) if drawn > 0.25], "protein")
proteins = proteins.sample(frac=1, random_state=0)
print(f"genes of {len(genes)}, proteins of {len(proteins)}, both of {len(genes.index.intersection(proteins.index))}")

# %%
# Match the rows
# --------------
# ``align_views`` gives each table a row for every patient. One who was not measured there is a row of NaN, which is
# never filled in, and which a scaler leaves as it is.

views, patients = align_views([genes, proteins])
print(views[1].iloc[:4, :3].round(2))
views = EachView(StandardScaler()).fit_transform(views)

# %%
# Cluster all patients
# --------------------
# A patient without genes has edges there by way of those who are near in proteins.

truth = kinds[patients].to_numpy()
model = LKG(4, random_state=0).fit(views)
has = np.column_stack([~np.isnan(np.asarray(view)).any(axis=1) for view in views])
both = has.all(axis=1)
print(f"all {len(patients)} patients: accuracy {accuracy(truth, model.labels_):.3f}")
groups = {"both": both, "genes alone": has[:, 0] & ~both, "proteins alone": has[:, 1] & ~both}
for name, rows in groups.items():
    print(f"{name:15} {rows.sum():4d} patients, accuracy {accuracy(truth[rows], model.labels_[rows]):.3f}")

# %%
# Which patients are well placed
# ------------------------------
# Left, the share of genes in the edges of a patient; right, how sure labels are.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for (name, rows), colour in zip(groups.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
    axes[0].hist(model.views_.shares[rows, 0], bins=np.linspace(0, 1, 31), color=colour, alpha=0.8, label=name)
    axes[1].hist(model.confidence_[rows], bins=np.linspace(0, 1, 31), color=colour, alpha=0.8, label=name)
axes[0].set(title="Share of genes in the edges", xlabel="share", ylabel="patients")
axes[1].set(title="How sure labels are", xlabel="confidence")
axes[1].legend(frameon=False, loc="upper left")
plt.show()

# %%
# A new patient with proteins alone
# ---------------------------------
# New samples may lack views, too.

new = [np.full((1, genes.shape[1]), np.nan), np.asarray(views[1])[[np.flatnonzero(both)[0]]]]
print("cluster of the new patient:", model.predict(new)[0])
