"""The order of the examples in the gallery: from the first steps to the paper."""

ORDER = (
    "first_clusters",
    "number_of_clusters",
    "confidence",
    "new_samples",
    "comparison",
    "trust",
    "missing_patients",
    "documents",
    "images",
    "anndata",
    "mudata",
    "hundred_thousand",
    "neighbour_graph",
    "sequences",
    "own_kernel",
    "paper",
)


class ReadingOrder:
    """A sort key as sphinx-gallery has them: by the list above; what is not in it comes last, by name."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, filename):
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)

    def __repr__(self):
        return "ReadingOrder"
