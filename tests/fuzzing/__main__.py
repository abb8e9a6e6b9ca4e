"""``python -m fuzzing``, with the folder `tests` on the path: attack for some seconds, or replay a failure."""

import argparse
import sys
from pathlib import Path

from fuzzing.engine import Worker, fuzz, replay, table
from fuzzing.targets import TARGETS


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Return 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=None, help="for all targets together; 60 by default")
    parser.add_argument("--attempts", type=int, default=None, help="of each target, instead of seconds")
    parser.add_argument("--seed", type=int, default=0, help="the first one; the others follow")
    parser.add_argument("--targets", default=",".join(TARGETS), help="names, separated by commas; all by default")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="folder for inputs that fail")
    parser.add_argument("--replay", type=Path, default=None, help="a file failure.json in that folder")
    given = parser.parse_args()
    if unknown := set(given.targets.split(",")) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    with Worker() as worker:
        if given.replay is not None:
            answer = replay(worker, TARGETS, given.replay)
            say(f"{answer['result']}: {answer['why']}\n{answer.get('trace', '')}")
            return answer["result"] == "failed"
        chosen = {name: TARGETS[name] for name in given.targets.split(",")}
        seconds = given.seconds if given.seconds or given.attempts else 60.0
        span = f"{seconds:g} s" if seconds else f"{given.attempts} attempts each"
        say(f"{len(chosen)} targets, seeds from {given.seed}, {span}")
        tallies = fuzz(
            worker, chosen, seed=given.seed, seconds=seconds, attempts=given.attempts, out=given.out, say=say
        )
    say(table(tallies, given.seed))
    for name, tally in tallies.items():
        for kind, count in tally.kinds.most_common():
            say(f"{count} failures of {name}: {kind}")
    return any(tally.kinds for tally in tallies.values())


if __name__ == "__main__":
    sys.exit(main())
