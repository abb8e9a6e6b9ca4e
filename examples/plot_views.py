"""
Several views, own kernels
==========================

Two views of the same samples are clustered together: each gets its own kernels, and one graph is learned over all of
them. After that, what the weights of learned kernels say, and banks of one's own: kernels with chosen widths, any
function, and precomputed kernels.
"""

# %%
# Two halves of a digit
# ---------------------
# The upper and the lower half of 300 handwritten digits are two views: neither shows the whole digit. Rows are scaled
# to unit length, view by view.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.preprocessing import normalize

from kernelbraid import LKG
from kernelbraid.kernels import Custom, Gaussian, Linear, build_bank
from kernelbraid.metrics import evaluate
from kernelbraid.plotting import plot_embedding, plot_graph, plot_kernel_weights

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
# A list of matrices is a list of views.


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
# Every view has kernels of its own, four for as many features as these. By default all eight count alike. With a finite
# ``gamma`` a consensus kernel is learned as well, and there are weights to look at. The clusters are nearly the same.

learned = LKG(10, gamma=10.0, random_state=0).fit([upper, lower])
report("both views, kernel learned", learned.labels_)

fig, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot_kernel_weights(learned, ax=axes[0])
plot_graph(both, ax=axes[1])
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# A weight is not a mark
# ----------------------
# A third view of pure noise costs ten points of accuracy, learned or not, and learning gives it the largest weight: the
# weights describe the combination that is nearest to the consensus kernel, and they do not say how useful a view is for
# the clusters.

noise = normalize(np.random.default_rng(0).standard_normal((300, 32)))
report("both views and noise", LKG(10, random_state=0).fit_predict([upper, lower, noise]))
three = LKG(10, gamma=10.0, random_state=0).fit([upper, lower, noise])
report("the same, kernel learned", three.labels_)
shares = three.kernel_weights_.reshape(3, -1).sum(axis=1)
for name, share in zip(("upper", "lower", "noise"), shares, strict=True):
    print(f"  {name} {share:.2f}")

# %%
# A bank of one's own
# -------------------
# A bank is a list: kernels of this library, functions of two matrices such as those of scikit-learn, or functions with
# a name given by ``Custom``. A list of lists gives each view its own bank.

banks = [
    [Linear(), Gaussian(0.1), Gaussian(1.0)],
    [Linear(), Gaussian(0.1), Gaussian(1.0), Custom(chi2_kernel, "chi squared"), laplacian_kernel],
]
own = LKG(10, gamma=10.0, kernels=banks, random_state=0).fit([upper, lower])
report("own banks", own.labels_)

fig, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
plot_kernel_weights(own, ax=axes[0])
plot_embedding(own, ax=axes[1])
plt.show()

# %%
# Precomputed kernels
# -------------------
# Kernels from anywhere come as a stack or as a list. Here they are those of one bank and one more, computed by
# hand: the Gaussian of the distance between sorted grey values, which ignores where the ink is.

grey = np.sort(pixels, axis=1)
distances = ((grey[:, None, :] - grey[None, :, :]) ** 2).sum(axis=2)
H = [*build_bank(normalize(pixels), "rmkkm"), np.exp(-distances / distances.max())]
precomputed = LKG(10, kernels="precomputed", random_state=0).fit(H)
report("precomputed, 13 kernels", precomputed.labels_)
