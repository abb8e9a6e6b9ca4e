"""Pictures of a fitted LKG and of its views, and of the choice of its number of clusters; and a page about a fit.

A function of a picture draws on the axes it is given, or on those of a new figure, and returns them. Nothing is shown,
no global setting is changed, and matplotlib is imported only when a function is called.
"""

from kernelbraid.plotting.fits import plot_convergence, plot_embedding, plot_graph, plot_kernel, plot_kernel_weights
from kernelbraid.plotting.views import plot_levels, plot_views

__all__ = [
    "plot_convergence",
    "plot_embedding",
    "plot_graph",
    "plot_kernel",
    "plot_kernel_weights",
    "plot_levels",
    "plot_views",
]
