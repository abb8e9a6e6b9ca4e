"""Data sets with several views that the paper does not have: what `experiments/views.toml` runs on.

Of their sources no checksum is known, and several views of a set may have the same shape there: they are not fetched.
The files are those that the checksums name, or of the user's own making.
"""

from kernelbraid.datasets.entries import Entry, View, entry_as_found

_GMC = ("cshaowang/gmc", "bceab2fe2c3c9aab0d5bf2dcce2ee255a53560c9")
_COLLECTION = ("ChuanbinZhang/Multi-view-datasets", "03ead31e6538322e4e0701c3c28a01595c1a015d")


#: In the order in which tables show them.
VIEW_SETS: tuple[Entry, ...] = (
    entry_as_found(
        "webkb203",
        "text",
        (_GMC, "Dataset/WebKB.mat"),
        (View(1703, 17451), View(230, 365), View(230, 398)),
        (21, 66, 107, 9),
        "817e96c6c31e02773e0187875455e17bd50a783e6a0c74d64e24d617c94033e7",
        "web pages",
    ),
    entry_as_found(
        "ngs",
        "text",
        (_GMC, "Dataset/NGs.mat"),
        (View(2000, 25319, "words"), View(2000, 18057, "words"), View(2000, 8432, "words")),
        (100,) * 5,
        "b7dcd2a8f4e06711e5477087ae2c82cb08d6d730c340c7304e0c2a7d3b2dfe6f",
        "newsgroups, three counts of words",
    ),
    entry_as_found(
        "bbc",
        "text",
        (_GMC, "Dataset/BBC.mat"),
        (
            View(4659, 37493, "words"),
            View(4633, 37960, "words"),
            View(4665, 37315, "words"),
            View(4684, 37227, "words"),
        ),
        (134, 82, 226, 70, 173),
        "dc0c358a8c20bf88bf26a352bf9d5ab2786ce1b2a486fdec083898d217383295",
        "news, four counts of words",
    ),
    entry_as_found(
        "leaves100",
        "image",
        (_GMC, "Dataset/100leaves.mat"),
        (View(64), View(64), View(64)),
        (16,) * 100,
        "877c64fe7ee99bef17b6b682e6ca2f15256da30d0768bca380568985a3dec160",
        "leaves: shape, margin, texture; which view is which is not known",
    ),
    entry_as_found(
        "movies",
        "text",
        (_COLLECTION, "Movies.mat"),
        (View(1878, 20156, "keywords"), View(1398, 5322, "actors")),
        (21, 37, 45, 7, 36, 46, 41, 35, 44, 39, 36, 35, 39, 42, 40, 33, 41),
        "e5c9b73898b6e6929a250f774c46d06a7517fb3fed9aa451c4e2544375891f61",
        "films",
    ),
    entry_as_found(
        "proteinfold",
        "biology",
        (_COLLECTION, "ProteinFold.mat"),
        (View(27),) * 12,
        (
            *(19, 16, 32, 15, 18, 15, 74, 21, 29, 13, 16, 32, 12, 13),
            *(16, 77, 23, 24, 40, 22, 17, 22, 18, 15, 15, 40, 40),
        ),
        "e4545ba21fe563210e5612e8f1934b00ef7f2472034e51a002abb7e05861152f",
        "proteins, twelve descriptions of them",
    ),
    entry_as_found(
        "prokaryotic",
        "biology",
        (_COLLECTION, "Prokaryotic.mat"),
        (View(393, content="text"), View(3, content="proteome"), View(438, content="genome")),
        (313, 91, 35, 112),
        "5e219ccf39a37465d8ea762d60e8e3de7301d0d4820f733e519fb0e5b7633ea4",
        "species",
    ),
)
