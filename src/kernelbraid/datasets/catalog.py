"""The data sets of the paper, and further ones with one view and with several, as plain data.

No value of any data set is here: a file is fetched from its public source, or imported, when the user asks for it.
"""

from collections.abc import Sequence
from difflib import get_close_matches

from kernelbraid.datasets.entries import Entry, Picture, Raw, Source, View
from kernelbraid.datasets.single_sets import SINGLE_SETS
from kernelbraid.datasets.view_sets import VIEW_SETS
from kernelbraid.files.errors import DataError

FACES = "face database, research-use terms of its owner (not checked)"
TREC = "TREC documents, term matrices as distributed with CLUTO (not checked)"


def _rmkkm(path: str, sha256: str, n_bytes: int) -> Source:
    """Return a file of the repository of robust multiple kernel k-means, where most of the data come from."""
    return Source("csliangdu/RMKKM", "5f0cd9a3ae1993eeaade7701b7085917595cde6d", f"data/{path}", sha256, n_bytes)


_AR = _rmkkm("AR_840n_768d_120c.mat", "8a38c360629d06e227c44b4b60e8ffb24fb81563c97d805ab70818eec3f8ee23", 605684)

_ENTRIES = (
    Entry(
        name="yale",
        title="YALE",
        kind="image",
        n_samples=165,
        views=(View(1024, content="grey levels", picture=Picture(32, 32)),),
        class_sizes=(11,) * 15,
        preprocessing=("zscore", "unit_norm"),
        pending=(),
        source=_rmkkm(
            "YALE_165n_1024d_15c_zscore_uni.mat",
            "c17321f95ba1746d30dbd1156afc67e28586f091675091f509c89c7b049e90db",
            1297736,
        ),
        sha256="c881777047c80fbe656a4d884642215a5b2ec9b1fcf63edfe075cb75e946d875",
        raw=Raw(
            "6909ab8624713b77536d959d7794931cafd736265d1411186c832b60111ce071",
            _rmkkm(
                "YALE_165n_1024d_15c.mat", "5b39aa2c7e36ef9691b65498def531a910dbf5f0afd539dc17c6cbf282587a6e", 161021
            ),
        ),
        upstream=FACES,
    ),
    Entry(
        name="jaffe",
        title="JAFFE",
        kind="image",
        n_samples=213,
        views=(View(676, content="grey levels", picture=Picture(26, 26)),),
        class_sizes=(23, 22, 22, 20, 21, 21, 20, 21, 21, 22),
        preprocessing=("unit_norm",),
        pending=(),
        source=_rmkkm(
            "jaffe_213n_676d_10c_uni.mat", "3e9d9af73d5bd7d9afc5380ad68f1ecc8f471e6057f7e092409b91a4f5ed22c6", 995203
        ),
        sha256="05b9fc59a7d62e9b24afaa4f91c52a6ea574e4f17b534a295b1123166bc7f9c1",
        raw=Raw(
            "c61d1d32c418b1c6b74a724e2aec8b9de385573d8112647a7e51fa90a7d421da",
            _rmkkm(
                "jaffe_213n_676d_10c.mat", "abc1a812f7f61c74f94fbbecff5503dbedfc083f528200e1a6a186446e9178ac", 130498
            ),
        ),
        upstream=FACES,
    ),
    Entry(
        name="orl",
        title="ORL",
        kind="image",
        n_samples=400,
        views=(View(1024, content="grey levels", picture=Picture(32, 32)),),
        class_sizes=(10,) * 40,
        preprocessing=("zscore", "unit_norm"),
        pending=(),
        source=_rmkkm(
            "ORL_400n_1024d_40c_zscore_uni.mat",
            "7a7402bfbd7671423ea563e9e0be533f83dca19427bfe82f33f04949bbd419bc",
            3146047,
        ),
        sha256="40fe60867bf89ea4d254b05681dd2016df00c1b35693e837c806366f72f234d8",
        raw=Raw(
            "039572348ecd2e5e5a2413a8e85a38c269c280f61931a3c835a80d685a806605",
            _rmkkm(
                "ORL_400n_1024d_40c.mat", "daefa4e150d99837d806f4b733b17fb3a9e9bfc33d2d2a6ca522ac79c14e3af2", 376583
            ),
        ),
        upstream=FACES,
    ),
    Entry(
        name="ar",
        title="AR",
        kind="image",
        n_samples=840,
        views=(View(768, content="grey levels", picture=Picture(32, 24)),),
        class_sizes=(7,) * 120,
        preprocessing=("unit_norm",),
        pending=("unit_norm",),
        source=_AR,
        sha256="e2355cf6fa4653933b32635e809311f8122d806d054d82d275c551ac2e9dd3b2",
        raw=Raw("08329558ffaf884ce74c2d55d81a4e7b238e97f18c4f15ff3f0332626be5b919", _AR),
        upstream=FACES,
        note="made from the grey levels in the way of JAFFE: the processed file was not found",
    ),
    Entry(
        name="ba",
        title="BA",
        kind="image",
        n_samples=1404,
        views=(View(320, content="binary pixels", picture=Picture(20, 16)),),
        class_sizes=(39,) * 36,
        preprocessing=(),
        pending=(),
        source=_rmkkm(
            "binaryalphadigs_1404n_320d_36c.mat",
            "f9f5067d97539dbc27cb6d5dab0dad46af83584d76703c4c17530618c4c4e512",
            65435,
        ),
        sha256="c2b336716ed4a17753c815a9c18eee99ff4fcf0645b4499bdb13e62f0d9143f5",
        upstream="binaryalphadigs of Sam Roweis' data page (not checked)",
    ),
    Entry(
        name="tr11",
        title="TR11",
        kind="text",
        n_samples=414,
        views=(View(6429, 114543, "words"),),
        class_sizes=(21, 69, 52, 11, 29, 74, 132, 20, 6),
        preprocessing=("tfidf", "unit_norm"),
        pending=(),
        source=_rmkkm(
            "tr11_414n_6429d_9c_tfidf_uni.mat",
            "fb31fbc4a61676019d13b74037d4b3ee732185124d50f45e118fa4bdb3ef6258",
            996485,
        ),
        sha256="364266c685a74fc180682469ff6accbb1a3f0186c6be8fe0ca20ee5926580520",
        upstream=TREC,
    ),
    Entry(
        name="tr41",
        title="TR41",
        kind="text",
        n_samples=878,
        views=(View(7454, 170631, "words"),),
        class_sizes=(26, 174, 95, 243, 35, 9, 162, 33, 18, 83),
        preprocessing=("tfidf", "unit_norm"),
        pending=(),
        source=_rmkkm(
            "tr41_878n_7454d_10c_tfidf_uni.mat",
            "ee3dc04b8ee153dfc9e0cb6669303b3231ff39f6db82fe10ac98f1128eb83720",
            1566751,
        ),
        sha256="a39b15d8a440f053743fb88ce40602dafdbf6861d12a18e16f7f558ce8288d48",
        upstream=TREC,
    ),
    Entry(
        name="tr45",
        title="TR45",
        kind="text",
        n_samples=690,
        views=(View(8261, 193605, "words"),),
        class_sizes=(128, 75, 47, 14, 160, 36, 18, 82, 63, 67),
        preprocessing=("tfidf", "unit_norm"),
        pending=(),
        source=_rmkkm(
            "tr45_690n_8261d_10c_tfidf_uni.mat",
            "b7bf3f53b26684c96251d6e6c7bfeebd5876954dd73e4ff732ca7542d184c7a4",
            1751884,
        ),
        sha256="5af8ea2707eddae393f456f6ce26f5225f425977feee8b26dd6a025729cbcc2a",
        upstream=TREC,
    ),
    Entry(
        name="tdt2",
        title="TDT2",
        kind="text",
        n_samples=9394,
        views=(View(36771, 1224135, "words"),),
        class_sizes=(
            *(1844, 1828, 1222, 811, 441, 407, 272, 238, 226, 167, 160, 145, 141, 140, 131),
            *(123, 123, 120, 104, 98, 76, 74, 72, 71, 66, 65, 63, 58, 56, 52),
        ),
        preprocessing=("tfidf", "unit_norm"),
        pending=("tfidf", "unit_norm"),
        source=Source(
            "jiangelle/Mat-data-time",
            "1125d509f310a11cdcc690e4d2c669ed453bb568",
            "TDT2.mat",
            "077a9f839f7a56efe797c54de7a351f2a46e69161387aef76526aafe7d872576",
            2694157,
            trailing=("label", "date"),
        ),
        sha256="f615a6478bd62150dd6dadd4f691850397495ff0be8f58f1972a4ed62b92bfca",
        upstream="term counts of the NIST/LDC corpus TDT2, whose texts are licensed by LDC (not checked)",
        note="weighted in the way of the TR sets: which weighting the paper used is not known",
    ),
    Entry(
        name="cora",
        title="Cora",
        kind="graph",
        n_samples=2708,
        views=(View(2708, 10556, "citations"), View(1433, 49216, "words")),
        class_sizes=(818, 180, 217, 426, 351, 418, 298),
        preprocessing=(),
        pending=(),
        source=Source(
            "ChuanbinZhang/Multi-view-datasets",
            "03ead31e6538322e4e0701c3c28a01595c1a015d",
            "Cora.mat",
            "6c7ad492ef75f94035eec3bb374cd12c1f56e26db6b7ebcbf873e5863686336f",
            250167,
        ),
        sha256="82b5a13fa0f9f1696a8c31dc063772bd3a83000bdbcc154d8abac057e48e8cd7",
        upstream="Cora of LINQS (not checked)",
        note="two views; which of them the paper calls the first is not known",
    ),
    Entry(
        name="nuswide_view3",
        title="NUS-WIDE",
        kind="image",
        n_samples=641,
        views=(View(145, content="colour correlogram (inferred)"),),
        class_sizes=(199, 139, 144, 159),
        preprocessing=(),
        pending=(),
        source=Source(
            "sckangz/KBS18",
            "9bdc6d54770001ec78710e3772d42ce4de601434",
            "wide3.mat",
            "300fded3c851cabe04ada61a9646e827651b555a4c0267f42f0fc1b9c8c9535d",
            372056,
        ),
        sha256="66ecc57aa78716d7729c476646e5fac85cd00c17302df69abde7049328a0dfd4",
        upstream="NUS-WIDE of the National University of Singapore, research use (not checked)",
        note="the only view that was published, with the authors' code",
    ),
)

#: The data sets of the paper by name.
PAPER: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
#: All data sets that are kept in files.
CATALOG: dict[str, Entry] = PAPER | {entry.name: entry for entry in (*VIEW_SETS, *SINGLE_SETS)}


def unknown_name(name: str, known: Sequence[str]) -> DataError:
    """Return the error for a name that no data set has; it gives those that are spelt like it."""
    folded = {one.casefold(): one for one in known}
    near = [folded[match] for match in get_close_matches(name.casefold(), folded, n=3)]
    choose = f"choose {' or '.join(near)}" if near else f"choose one of {', '.join(known)}"
    return DataError(f"{name!r} is no known data set; {choose} (see kernelbraid datasets list).")
