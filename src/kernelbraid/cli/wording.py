"""The library's messages in the words of the command line."""

import re

RENAMED = {
    "n_landmarks": "--landmarks",
    "n_clusters": "--clusters",
    "graph_penalty": "--penalty",
    "n_neighbors": "--neighbors",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}
# What the library's messages say, and what the command line says instead.
PHRASES = {
    r"n_samples=(\d+) is below": r"DATA holds \1 samples, fewer than",
    r"n_samples=1 is too small": "DATA holds 1 sample, too few",
    r"n_samples=(\d+) is too small": r"DATA holds \1 samples, too few",
    r"2 to n_samples / 3;": "2 to a third of the samples;",
    r"give n_clusters, or": "give --clusters, or",
    r"is above n_samples=(\d+)": r"is above the \1 samples of DATA",
    r"LandmarkLKG\(n_clusters=[^)]*, n_landmarks=(\d+)[^)]*\)\.fit\((X|np\.hstack\(X\))\)": r"--landmarks \1",
    r"start it again, then fit again": "start it again, then run the command again",
    r"made max_iter=(\d+) steps": r"made \1 steps",
    r"leave device=None": "leave out --device",
    r"storage='lazy'": "--storage lazy",
    r"graph_penalty='(\w+)' if it is '(\w+)'": r"--penalty \1 (without --method) if it is \2",
    r" or a larger memory_budget": "",
    r", or mu_growth=[\d.e+-]*\d( if the residuals in history_ are flat)?": "",
    r"an estimator with several kernels": "a method with several kernels (see kernelbraid methods)",
    r"\bX\b": "DATA",
}
# Parameters that the messages mention, as a setting, name=value, or bare, as in "Raise max_iter".
SETTINGS = ("n_clusters", "n_landmarks", "device", "max_iter", "tol", "alpha", "beta", "gamma", "mu")
BARE = ("max_iter",)
OUT_OF_RANGE = re.compile(r"The '(\w+)' parameter of \w+ must be (.+)\. Got (.+) instead\.")


def option_name(parameter: str) -> str:
    """Return the option that sets a parameter of an estimator."""
    return RENAMED.get(parameter, f"--{parameter.replace('_', '-')}")


def in_options(message: str, *, estimator: str, method: str) -> str:
    """Return a message of the library with options for parameters, and a method for its estimator."""
    for phrase, words in PHRASES.items():
        message = re.sub(phrase, words, message)
    for parameter in SETTINGS:
        message = re.sub(rf"\b{parameter}=", f"{option_name(parameter)} ", message)
    for parameter in BARE:
        message = re.sub(rf"\b{parameter}\b", option_name(parameter), message)
    return re.sub(rf"\b{estimator}\b", method, message)


def _listed(found: re.Match[str]) -> str:
    """Return the words of a set in their order."""
    return "one of " + ", ".join(sorted(word.strip(" '") for word in found[1].split(",")))


def out_of_range(message: str, method: str) -> str | None:
    """Return scikit-learn's message about a parameter as one about an option; None if it is another message."""
    found = OUT_OF_RANGE.fullmatch(message)
    if found is None:
        return None
    parameter, wanted, value = found.groups()
    wanted = re.sub(r"a str among \{(.+?)\}( or None)?", _listed, wanted.replace("a float", "a number"))
    return f"{option_name(parameter)} {value} is out of range for {method}; give {wanted}."
