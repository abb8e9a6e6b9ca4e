"""Commands that are no groups: their arguments, options and help; what they do is loaded when they run."""

from pathlib import Path
from typing import Annotated

import typer

from kernelbraid._messages import Message
from kernelbraid.cli import options
from kernelbraid.cli.values import choice, existing_file, existing_input, whole_number


def cluster(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            parser=existing_input,
            show_default=False,
            help="Files with one row per sample: .csv, .tsv, .parquet, .npy, .npz or .mat (up to v7.2), also packed, "
            "as .csv.gz; - is standard input. "
            "Several files are several views of the same samples; LKG leaves out those that agree with no other.",
        ),
    ],
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            "-k",
            parser=whole_number(1),
            metavar="K",
            help="Number of clusters; without it LKG chooses it, other methods need it.",
        ),
    ] = None,
    out: options.Out = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the fitted model here, for kernelbraid predict; it holds the samples.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    confidence: options.Confidence = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    key: options.Key = None,
    id_column: options.IdColumn = None,
    drop: options.Drop = None,
    header: options.Header = None,
    file_format: options.Format = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    scale: options.Scale = None,
    landmarks: options.Landmarks = None,
    dask: options.Dask = None,
    method: options.MethodName = None,
    preset: options.Preset = None,
    penalty: options.Penalty = None,
    kernels: options.Kernels = None,
    kernel: options.OneKernel = None,
    fusion: options.FusionOf = None,
    view_weights: options.ViewWeights = None,
    alpha: options.Alpha = None,
    beta: options.Beta = None,
    gamma: options.Gamma = None,
    mu: options.Mu = None,
    graph_from: options.GraphFrom = None,
    neighbors: options.Neighbours = None,
    edge_weights: options.Edges = None,
    embedding: options.Embedding = None,
    n_init: options.Restarts = None,
    max_iter: options.MaxIter = None,
    tol: options.Tolerance = None,
    storage: options.Storage = None,
    device: options.Device = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
) -> None:
    """Cluster the samples in one or several files.

    [bold]Examples[/bold]

      kernelbraid cluster iris.csv --drop species --out labels.csv

      kernelbraid cluster pixels.npy words.mat -k 10 --json

      kernelbraid cluster wine.csv --scale standard --save wine.model

      kernelbraid cluster iris.csv -k 3 --drop species --confidence --out labels.csv

      kernelbraid cluster million.npy -k 6 --landmarks 500 --jobs 4 --out labels.csv

      kernelbraid cluster kernels.npy -k 5 --kernels precomputed

      zcat measured.csv.gz | kernelbraid cluster - --decimal comma --out - > labels.csv

      kernelbraid cluster iris.csv -k 3 --drop species --method RMKKM --gamma 0.3
    """
    from kernelbraid.cli.commands import cluster as clustering
    from kernelbraid.cli.inputs import files_among, form_of
    from kernelbraid.cli.label_files import check_label_file
    from kernelbraid.cli.output import check_target
    from kernelbraid.cli.recipe import (
        choose,
        choose_landmarks,
        pairs_word,
        refuse_confidence,
        refuse_to_save,
    )

    form = form_of(data, suffix=suffix_of(file_format), delimiter=delimiter, decimal=decimal)
    if out is not None:
        check_label_file(out, "'--out'", files_among(data))
    refuse_two_outputs(out, as_json=as_json)
    if save is not None:
        check_target(save, "'--save'", files_among(data), others=[out])
    if view_weights is not None and len(view_weights) != len(data):
        counts = Message("{weights:#weight} for {files:#file}", weights=len(view_weights), files=len(data))
        raise typer.BadParameter(f"{counts}; give one for each file of DATA.", param_hint="'--view-weights'")
    asked = {
        "n_clusters": clusters,
        "n_landmarks": landmarks,
        "preset": preset,
        "graph_penalty": penalty,
        "kernels": kernels,
        "kernel": kernel,
        "fusion": fusion,
        "view_weights": view_weights,
        "alpha": alpha,
        "beta": beta,
        "gamma": gamma,
        "mu": mu,
        "graph_from": graph_from,
        "n_neighbors": neighbors,
        "edge_weights": edge_weights,
        "embedding": embedding,
        "n_init": n_init,
        "max_iter": max_iter,
        "tol": tol,
        "storage": storage,
        "device": device,
        "n_jobs": jobs,
        "random_state": seed,
    }
    recipe = choose(method, asked) if landmarks is None else choose_landmarks(method, asked)
    if dask is not None and not recipe.streams:
        raise typer.BadParameter("workers express samples over landmarks; add --landmarks 500.", param_hint="'--dask'")
    if save is not None:
        refuse_to_save(recipe)
    if confidence:
        refuse_confidence(recipe)
    if scale in ("standard", "unit") and recipe.precomputed:
        word = pairs_word(recipe.parameters.get)
        raise typer.BadParameter(
            f"features are scaled, and with --kernels {word} there are none; leave out one of them.",
            param_hint="'--scale'",
        )
    reading = {"key": key, "id_column": id_column, "drop": drop or [], "header": header, "form": form}
    if quiet and verbose:
        raise typer.BadParameter("it excludes --quiet; leave out one of them.", param_hint="'--verbose'")
    told = {"confidence": confidence, "as_json": as_json, "quiet": quiet, "verbose": verbose}
    clustering.run(data, recipe, reading=reading, scale=scale or "none", out=out, save=save, dask=dask, **told)


def predict(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            parser=existing_file,
            show_default=False,
            help="File that kernelbraid cluster --save or kernelbraid.save_model has written.",
        ),
    ],
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            parser=existing_input,
            show_default=False,
            help="Files with one row per new sample, in the form of the fit, or - for standard input; columns are "
            "found by their names, or must be in the order of the fit. After a fit on kernels: files with their values "
            "between new samples (rows) and fitted ones (columns).",
        ),
    ],
    out: options.Out = None,
    confidence: options.Confidence = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    key: options.Key = None,
    id_column: options.IdColumn = None,
    drop: options.Drop = None,
    header: options.Header = None,
    file_format: options.Format = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
) -> None:
    """Label new samples with a model that was saved.

    Samples of the fit keep their labels; others get the label of their neighbours.

    [bold]Examples[/bold]

      kernelbraid cluster iris.csv --drop species --save iris.model

      kernelbraid predict iris.model new.csv --out labels.csv
    """
    from kernelbraid.cli.commands import predict as prediction
    from kernelbraid.cli.inputs import files_among, form_of
    from kernelbraid.cli.label_files import check_label_file

    form = form_of(data, suffix=suffix_of(file_format), delimiter=delimiter, decimal=decimal)
    refuse_two_outputs(out, as_json=as_json)
    if out is not None:
        if model not in data and out.exists() and out.samefile(model):
            raise typer.BadParameter(f"{str(out)!r} is the model; choose another name.", param_hint="'--out'")
        check_label_file(out, "'--out'", files_among(data))
    reading = {"key": key, "id_column": id_column, "drop": drop or [], "header": header, "form": form}
    prediction.run(model, data, reading=reading, out=out, confidence=confidence, as_json=as_json, quiet=quiet)


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the methods that can be fitted.

    [bold]Example[/bold]

      kernelbraid methods --json
    """
    from kernelbraid.cli.commands import methods as listing

    listing.run(as_json=as_json)


def score(
    truth: Annotated[
        Path,
        typer.Argument(
            metavar="TRUTH",
            parser=existing_input,
            show_default=False,
            help="File with the true classes, or - for standard input.",
        ),
    ],
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            parser=existing_input,
            show_default=False,
            help="File with the labels to score, or - for standard input.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    nmi_average: Annotated[
        str,
        typer.Option(
            parser=choice("max", "arithmetic"),
            metavar="max|arithmetic",
            help="Divide the mutual information by the larger entropy or by the mean of both.",
        ),
    ] = "max",
    column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of TRUTH with the classes, by name or number from 1; a column called label, cluster, class, "
            "target or y, and the only one beside ids, is found by itself.",
            rich_help_panel=options.INPUT,
        ),
    ] = None,
    labels_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of LABELS with the labels, likewise.", rich_help_panel=options.INPUT
        ),
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Array to read from .npz and .mat files.")] = None,
    header: options.Header = None,
    file_format: options.Format = None,
    delimiter: options.Delimiter = None,
) -> None:
    """Score labels against the truth with eight measures.

    Samples are matched by id where both files have ids, otherwise by their order.

    [bold]Examples[/bold]

      kernelbraid score truth.csv labels.csv --json

      kernelbraid score wine.csv labels.csv --column cultivar
    """
    from kernelbraid.cli.commands import score as scoring
    from kernelbraid.cli.inputs import form_of

    form = form_of([truth, labels], suffix=suffix_of(file_format), delimiter=delimiter)
    scoring.run(
        truth,
        labels,
        key=key,
        header=header,
        columns=(column, labels_column),
        form=form,
        nmi_average=nmi_average,
        as_json=as_json,
    )


def suffix_of(file_format: str | None) -> str | None:
    """Return the suffix of a format."""
    return None if file_format is None else f".{file_format}"


def refuse_two_outputs(out: Path | None, *, as_json: bool) -> None:
    """Refuse labels and JSON on standard output at once."""
    if as_json and str(out) == "-":
        raise typer.BadParameter(
            "the labels and the JSON object, which holds them, too, cannot both go to standard output; leave out one.",
            param_hint="'--out'",
        )


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where to write.")] = Path("demo-output"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Cluster a bundled data set, compare with scikit-learn, and draw pictures."""
    from kernelbraid.cli.commands import demo as demonstration

    demonstration.run(out, as_json=as_json)
