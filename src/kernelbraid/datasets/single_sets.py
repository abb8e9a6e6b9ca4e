"""Data sets of one view that the paper does not have: `experiments/comparison.toml` runs on them.

Of their sources no checksum is known, so that they are not fetched. The files are those that the checksums name, or of
the user's own making.
"""

from kernelbraid.datasets.entries import Entry, View, entry_as_found

_SCIKIT_FEATURE = ("jundongl/scikit-feature", "48cffad4e88ff4b9d2f1c7baffb314d1b3303792")
_STRR = ("sckangz/STRR", "3df91fdfe343037ade47954c92556ed0f443bdeb")

#: In the order in which tables show them.
SINGLE_SETS: tuple[Entry, ...] = (
    entry_as_found(
        "colon",
        "biology",
        (_SCIKIT_FEATURE, "skfeature/data/colon.mat"),
        (View(2000, content="genes"),),
        (40, 22),
        "496c3911520aec8a20586ad4642a173168832cc80d4a6e7767c78998b12f6c4e",
        "gene expression",
    ),
    entry_as_found(
        "lymphoma",
        "biology",
        (_SCIKIT_FEATURE, "skfeature/data/lymphoma.mat"),
        (View(4026, content="genes"),),
        (46, 10, 9, 11, 6, 6, 4, 2, 2),
        "2d99a73f880369ca6e90758e458879586762ce2197c80df684df3d7a33e05a19",
        "gene expression",
    ),
    entry_as_found(
        "leukemia",
        "biology",
        (_SCIKIT_FEATURE, "skfeature/data/leukemia.mat"),
        (View(7070, content="genes"),),
        (47, 25),
        "9acaba43dfc4065214ad72be2ae7faab542feff179cb98bad167832443f940f0",
        "gene expression",
    ),
    entry_as_found(
        "nci9",
        "biology",
        (_SCIKIT_FEATURE, "skfeature/data/nci9.mat"),
        (View(9712, content="genes"),),
        (9, 9, 8, 5, 7, 6, 8, 6, 2),
        "e848d0fb03ab1d0c38a324296bdf21eacd7e65959610a348282ea08595ed44a1",
        "gene expression",
    ),
    entry_as_found(
        "prostate",
        "biology",
        (_SCIKIT_FEATURE, "skfeature/data/Prostate-GE.mat"),
        (View(5966, content="genes"),),
        (50, 52),
        "529acf6ea07a5a0447f936f63f199043206000cd09363a7b89a93c9c2e1def40",
        "gene expression",
    ),
    entry_as_found(
        "allaml",
        "biology",
        (_SCIKIT_FEATURE, "skfeature/data/ALLAML.mat"),
        (View(7129, content="genes"),),
        (47, 25),
        "5058ddd3ce5a262e853a6073c7451eca47ae0b5a3fcc4f337d71eb5ed244225c",
        "gene expression",
    ),
    entry_as_found(
        "arcene",
        "biology",
        (_SCIKIT_FEATURE, "skfeature/data/arcene.mat"),
        (View(10000, content="masses"),),
        (112, 88),
        "5b6ad11cc07c88a1710c0c77dd6f0c407360cc08f04b288b07be8f9d5b0ae327",
        "mass spectra",
    ),
    entry_as_found(
        "pcmac",
        "text",
        (_SCIKIT_FEATURE, "skfeature/data/PCMAC.mat"),
        (View(3289, 93185, "words"),),
        (982, 961),
        "98d92c01be1b0bed789c930bc6fae5300f3a9ea6059c47a724b928298c9aaddf",
        "two newsgroups",
    ),
    entry_as_found(
        "relathe",
        "text",
        (_SCIKIT_FEATURE, "skfeature/data/RELATHE.mat"),
        (View(4322, 120000, "words"),),
        (779, 648),
        "d8948e12b6d9ce87b4e13b6247c27802e8645bfb06cefcd4be8b613392875eb8",
        "two newsgroups",
    ),
    entry_as_found(
        "warpar10p",
        "image",
        (_SCIKIT_FEATURE, "skfeature/data/warpAR10P.mat"),
        (View(2400, content="grey levels"),),
        (13,) * 10,
        "7e5b4bd85fef72e24e19f77453d10388a9c133f62850252831a598563ed51df2",
        "faces",
    ),
    entry_as_found(
        "warppie10p",
        "image",
        (_SCIKIT_FEATURE, "skfeature/data/warpPIE10P.mat"),
        (View(2420, content="grey levels"),),
        (21,) * 10,
        "1eab1227ebe2d94301e76e095e0fd837e839e3db04455561beee796824a926a4",
        "faces",
    ),
    entry_as_found(
        "pixraw10p",
        "image",
        (_SCIKIT_FEATURE, "skfeature/data/pixraw10P.mat"),
        (View(10000, content="grey levels"),),
        (10,) * 10,
        "8c40bbd83fbde4d6bc4069f8e3d2b76592f26588f2ae800b54387564f067bf67",
        "faces",
    ),
    entry_as_found(
        "orlraws10p",
        "image",
        (_SCIKIT_FEATURE, "skfeature/data/orlraws10P.mat"),
        (View(10304, content="grey levels"),),
        (10,) * 10,
        "f2dd8c69fb729b7b16318ea7e40cde6d9728ec1e30137425c98592118c57548d",
        "faces",
    ),
    entry_as_found(
        "umist",
        "image",
        (_STRR, "data/Umist_480n_1024d.mat"),
        (View(1024, content="grey levels"),),
        (24,) * 20,
        "95da88f49838bef068f5afe34c561ca04d3a6998feab73ca03e13e003ec587b8",
        "faces",
    ),
)
