"""
Parts of a photograph
=====================

*Which parts of a picture belong together?* A photograph that scikit-learn brings is cut into small squares, which are
clustered by colour and by texture.
"""

# %%
# Squares and their views
# -----------------------
# Each square of 16 x 16 pixels is a sample. Its colour is the mean and the spread of red, green and blue; its texture
# is how much light changes from pixel to pixel, across and down, at three scales.

import matplotlib.pyplot as plt  # pip install "kernelbraid[plot]"
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.preprocessing import StandardScaler

from kernelbraid import LKG, EachView

SIDE = 16
photo = load_sample_image("china.jpg") / 255.0
rows, columns = photo.shape[0] // SIDE, photo.shape[1] // SIDE
photo = photo[: rows * SIDE, : columns * SIDE]
squares = photo.reshape(rows, SIDE, columns, SIDE, 3).transpose(0, 2, 1, 3, 4).reshape(-1, SIDE, SIDE, 3)
colour = np.hstack([squares.mean(axis=(1, 2)), squares.std(axis=(1, 2))])


def changes(grey, step):
    """Return the logarithm of the mean change of light over some pixels, down and across."""
    down = np.abs(grey[:, step:] - grey[:, :-step]).mean(axis=(1, 2))
    across = np.abs(grey[:, :, step:] - grey[:, :, :-step]).mean(axis=(1, 2))
    return np.log(np.column_stack([down, across]) + 1e-3)


grey = squares.mean(axis=3)
texture = np.hstack([changes(grey, step) for step in (1, 3, 6)])
print(f"{len(squares)} squares; colour has {colour.shape[1]} features, texture {texture.shape[1]}")

# %%
# Clusters
# --------
# Views are scaled one by one. Where squares stand in the photograph is not told.

views = EachView(StandardScaler()).fit_transform([colour, texture])
model = LKG(6, random_state=0).fit(views)
print("squares in each cluster:", np.bincount(model.labels_).tolist())
print(*model.why_, sep="\n")

# %%
# Each square in the mean colour of its cluster.

mean = np.array([colour[model.labels_ == cluster, :3].mean(axis=0) for cluster in range(6)])
fig, axes = plt.subplots(2, 1, figsize=(5.6, 7.4), layout="constrained")
axes[0].imshow(photo)
axes[1].imshow(mean[model.labels_].reshape(rows, columns, 3))
for ax, title in zip(axes, ("Photograph", "Six clusters of squares"), strict=True):
    ax.set_title(title, loc="left")
    ax.axis("off")
plt.show()

# %%
# How sure each label is: least where parts of the picture meet, such as along the far shore.

fig, ax = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
shown = ax.imshow(model.confidence_.reshape(rows, columns), cmap="cividis", vmin=0, vmax=1)
fig.colorbar(shown, ax=ax, shrink=0.8)
ax.set_title("confidence_", loc="left")
ax.axis("off")
plt.show()
