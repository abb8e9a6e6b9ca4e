"""
Several views, own kernels
==========================

Two views of the same samples are clustered together, and then with a third one that is noise. After that, kernels of
views that are joined and learned, and banks of one's own: kernels with chosen widths, any function, and precomputed
kernels.
"""

# %%
# Two halves of a digit
# ---------------------
# The upper and the lower half of 300 handwritten digits are two views: neither shows the whole digit. Rows are scaled
# to unit length, view by view.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.preprocessing import normalize

from kernelbraid import ADMM, LKG
from kernelbraid.kernels import Custom, Gaussian, Linear, build_bank
from kernelbraid.metrics import evaluate
from kernelbraid.plotting import plot_embedding, plot_graph, plot_kernel_weights, plot_views

pixels, y = load_digits(return_X_y=True)
pixels, y = pixels[:300], y[:300]
upper, lower = normalize(pixels[:, :32]), normalize(pixels[:, 32:])

fig, axes = plt.subplots(2, 8, figsize=(8, 1.4), layout="constrained")
for i, column in enumerate(axes.T):
    for ax, half, name in zip(column, (upper, lower), ("upper", "lower"), strict=True):
        ax.imshow(half[i].reshape(4, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[], ylabel=name if i == 0 else "")
plt.show()

# %%
# One view, two views
# -------------------
# A list of matrices is a list of views. Each gets graphs of its own, and their sum is clustered.


def report(name, labels):
    scores = evaluate(y, labels)
    print(f"{name:30} accuracy {scores['acc']:.3f}  NMI {scores['nmi']:.3f}")


report("upper half", LKG(10, random_state=0).fit_predict(upper))
report("lower half", LKG(10, random_state=0).fit_predict(lower))
both = LKG(10, random_state=0).fit([upper, lower])
report("both views", both.labels_)
kmeans = KMeans(10, n_init=100, random_state=0).fit(np.hstack([upper, lower]))
report("k-means on both, side by side", kmeans.labels_)

# %%
# A view of noise
# ---------------
# Before views are fused, their nearest neighbours are compared. Two views agree if they share far more neighbours than
# they would by chance. The third view here is noise: it agrees with none, and is left out, with a warning. The labels
# are those of the other two.

noise = normalize(np.random.default_rng(0).standard_normal((300, 32)))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    three = LKG(10, random_state=0).fit([upper, lower, noise])
print(caught[0].message)
report("both views and noise", three.labels_)
kmeans = KMeans(10, n_init=100, random_state=0).fit(np.hstack([upper, lower, noise]))
report("k-means, side by side", kmeans.labels_)

fig, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot_views(three, names=["upper", "lower", "noise"], ax=axes[0])
plot_graph(three, ax=axes[1])
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# The report has the same in words, and how clear the clusters of each view are by themselves.

print(three.views_)
print("clarity:", three.views_.clarity.round(2))

# %%
# Which view carries a sample
# ---------------------------
# ``views_.shares`` has the share of each view in the edges of each sample. Weights may also be given: here the
# lower half counts three times as much as the upper one.

given = LKG(10, view_weights=[1, 3], random_state=0).fit([upper, lower])
report("lower half counts more", given.labels_)
for name, model in {"alike": both, "1 to 3": given}.items():
    shares = model.views_.shares[:, 1]
    print(f"{name:7} share of the lower half: {shares.min():.2f} to {shares.max():.2f}")

# %%
# Kernels instead of graphs
# -------------------------
# ``fusion="kernels"`` joins the kernels of the views, which are trusted as before, and learns one graph from them. With
# a solver a consensus kernel is learned as well, with a weight for each view. Of these digits, whose halves
# are alike in kind, joined kernels find more than summed graphs.

joined = LKG(10, fusion="kernels", random_state=0).fit([upper, lower])
report("kernels joined", joined.labels_)
learned = LKG(10, solver=ADMM(), random_state=0).fit([upper, lower])
report("kernel learned", learned.labels_)
print("weights of the views:", learned.views_.weights.round(2))

# %%
# A bank of one's own
# -------------------
# A bank is a list: kernels of this library, functions of two matrices such as those of scikit-learn, or functions with
# a name given by ``Custom``. A list of lists gives each view its own bank.

banks = [
    [Linear(), Gaussian(0.1), Gaussian(1.0)],
    [Linear(), Gaussian(0.1), Gaussian(1.0), Custom(chi2_kernel, "chi squared"), laplacian_kernel],
]
own = LKG(10, solver=ADMM(), kernels=banks, random_state=0).fit([upper, lower])
report("own banks", own.labels_)

fig, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
plot_kernel_weights(own, ax=axes[0])
plot_embedding(own, ax=axes[1])
plt.show()

# %%
# Precomputed kernels
# -------------------
# Kernels from anywhere come as a stack; a list is a list of views, each with a kernel or a stack. Here they are those
# of one bank and one more, computed by hand: the Gaussian of the distance between sorted grey values, which ignores
# where the ink is.

grey = np.sort(pixels, axis=1)
distances = ((grey[:, None, :] - grey[None, :, :]) ** 2).sum(axis=2)
H = np.stack([*build_bank(normalize(pixels), "rmkkm"), np.exp(-distances / distances.max())])
precomputed = LKG(10, kernels="precomputed", random_state=0).fit(H)
report("precomputed, 13 kernels", precomputed.labels_)
