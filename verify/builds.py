"""Many builds, and hashes of all that they write and print: what a change of the tool's own structure must not change.

    python -m verify.builds make RECORD.json [--only WORD]
    python -m verify.builds compare BEFORE.json AFTER.json

The commands run in processes of their own, with the package that ``PYTHONPATH`` names, so the same script makes the
records of two checkouts. Verilog is compared without its comments, and generated Python without lines of import.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from verify.build_inputs import write_inputs

EXAMPLES = ("linear", "logistic", "svm", "recommender", "backprop", "backprop2")
ARRAYS = (("4", "q6.10"), ("16", "q7.11"), ("64", "q6.10"))
COMMANDS = tuple(
    "gen check bound eval sim train test formats explore overlay load synth build ranges preprocess tblgen templates"
    " targets boards examples".split()
)
SECONDS = re.compile(r"\d+(\.\d+)? (s|ms|seconds)\b|\d+(\.\d+)? steps/s|\d[\d,]* (steps|samples) a second")
"""Measured times, which differ from run to run."""
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
IMPORT = re.compile(r"^[ \t]*(from|import) .*$", re.MULTILINE)
MODULE = re.compile(r"\btabla(\.[a-z_]+)+")
"""The name of a module. Generated Python may name those that it imports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A command line of ``tabla``, and the folder or file that it writes, if it writes one."""

    name: str
    words: tuple[str, ...]
    output: str = ""


def builds() -> Iterator[Build]:
    """Yield all builds. Those that need the output of another one come after it."""
    yield Build(name="examples", words=("examples", *EXAMPLES, "-o", "given"), output="given")
    for example in EXAMPLES:
        for pes, number in ARRAYS:
            yield _gen(f"{example}-{pes}", f"given/{example}.t --pes {pes} --format {number}")
    for name, words in _VARIANTS.items():
        yield _gen(name, words)
    for name, words in _OTHERS.items():
        output = re.search(r" -o (\S+)", words)
        yield Build(name=name, words=tuple(words.split()), output=output[1] if output else "")
    for stage in ("ast", "graph", "mapping", "schedule", "program"):
        yield Build(name=f"emit-{stage}", words=("gen", "given/logistic.t", "--emit", stage))
    for command in COMMANDS:
        yield Build(name=f"help-{command}", words=(command, "--help"))


def _gen(name: str, words: str) -> Build:
    return Build(name=name, words=("gen", *words.split(), "--json", "-", "-o", f"out/{name}"), output=f"out/{name}")


_VARIANTS = {
    "matrix": "kernels.tc:mm --size M=4 --size K=6 --size N=3 --pes 4",
    "matrix-inputs": "kernels.tc:mm --inputs mm.npz --keep b --pes 4",
    "mean": "kernels.tc:mean --size N=31 --pes 4",
    "convolution": "kernels.tc:conv --size H=8 --size W=8 --size KH=3 --size KW=3 --keep w --pes 8",
    "softmax": "kernels.tc:soft --size N=10 --pes 4 --format q8.16",
    "layer": "layers.py:layer --shape x=12 --shape w=6,12 --shape b=6 --keep w --keep b --pes 4",
    "pooled": "layers.py:pooled --shape x=16 --pes 4",
    "dense": "dense.onnx --pes 4 --format q8.10",
    "dense-tuned": "dense.onnx --pes 4 --train w2,b2 --loss cross-entropy --learning-rate 0.05",
    "convolved": "convolved.onnx --pes 16",
    "defined": "learner.t -D size=9 --pes 4",
    "guarded": "given/logistic.t --pes 8 --model-guard 8",
    "minibatch": "given/logistic.t --pes 8 --minibatch 4",
    "minibatch-guarded": "given/backprop.t --pes 8 --minibatch 2 --model-guard 4 --format q4.8",
    "runtime-rate": "given/logistic.t --pes 4 --runtime-rate",
    "rate": "given/linear.t --pes 4 --learning-rate 0.001",
    "results": "given/logistic.t --pes 4 --result h",
    "wide-port": "given/logistic.t --pes 16 --stream-words 16",
    "groups": "given/backprop.t --pes 16 --pes-per-pu 4",
    "sequencers": "given/backprop.t --pes 8 --sequencers 2",
    "depths": "given/svm.t --pes 4 --model-words 64 --data-words 64 --interim-words 32",
    "latency": "given/backprop.t --pes 8 --objective latency",
    "effort": "given/recommender.t --pes 8 --effort 0",
    "axi": "given/logistic.t --pes 4 --bus axi",
    "axi-wide": "given/backprop.t --pes 8 --bus axi --bus-width 128",
    "axi-rate": "given/linear.t --pes 2 --bus axi --runtime-rate --minibatch 2",
    "auto": "given/logistic.t --pes 4 --format auto12 --data given/breast_cancer.npz --samples 200",
    "faulty": "faulty.t",
    "refused": "given/logistic.t --pes 300",
}
_OTHERS = {
    "overlay": "overlay --pes 4 --model-words 64 --data-words 64 -o out/overlay --json -",
    "overlay-axi": "overlay --template LearningOverlay --pes 4 --bus axi -o out/overlay-axi",
    "overlay-least": "overlay --for given/linear.t --pes 4 -o out/overlay-least",
    "onto": "gen given/linear.t --onto out/overlay -o out/onto",
    "load": "load given/linear.t --onto out/overlay -o out/linear.image",
    "check": "check given/backprop.t",
    "check-faulty": "check faulty.t",
    "bound": "bound given/backprop.t --pes 16",
    "eval": "eval given/logistic.t --inputs given/breast_cancer.npz --seed 1 --samples 50 -o out/eval.npz",
    "eval-float": "eval kernels.tc:mm --inputs mm.npz --float -o out/mm.npz",
    "sim": "sim given/logistic.t --inputs given/breast_cancer.npz --seed 1 --samples 20 -o out/s.npz --json -",
    "train": "train given/logistic.t --data given/breast_cancer.npz --split 0.2 --epochs 2 -o out/trained.npz --json -",
    "train-table": "train learner.t -D size=4 --data table.csv --standardise --split 0.2,0.2 -o out/table.npz",
    "train-auto": "train learner.t -D size=4 --data table.csv --format auto10 --epochs 3 -o out/auto.npz",
    "test": "test given/logistic.t --data given/breast_cancer.npz --weights out/trained.npz --json -",
    "formats": "formats learner.t -D size=4 --data table.csv --split 0.2,0.2 --widths 10,12 --guards 0,4 --json -",
    "explore": "explore given/linear.t --pes 2,4 --format q6.10,q4.6 -o out/explore",
    "ranges": "ranges kernels.tc:conv",
    "preprocess": "preprocess learner.t -D size=3",
    "tblgen": "tblgen records.td --dump-json",
    "templates": "templates",
    "targets": "targets",
    "boards": "boards",
    "unknown": "unknown",
}


def make(record: Path, only: str | None) -> None:
    """Make the builds whose names have the word `only`, or all of them, and write their hashes."""
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        (folder / "out").mkdir()
        for build in builds():
            if only is None or only in build.name or build.name == "examples":
                began = time.perf_counter()
                found[build.name] = _made(build, folder)
                print(f"{build.name:20} {time.perf_counter() - began:6.1f} s", flush=True)
    record.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    files = sum(len(entry["files"]) for entry in found.values() if isinstance(entry, dict))
    print(f"{len(found)} builds, {files} files")


def _made(build: Build, folder: Path) -> dict[str, object]:
    """Run a command, and return its status and the hashes of what it printed and wrote."""
    environment = {**os.environ, "TABLA_CACHE_KINDS": "", "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tabla", *build.words], cwd=folder, env=environment, capture_output=True, text=True
    )
    said = {name: SECONDS.sub("TIME", text) for name, text in (("stdout", done.stdout), ("stderr", done.stderr))}
    target = folder / build.output
    paths = sorted(p for p in target.rglob("*") if p.is_file()) if target.is_dir() else [target]
    written = [path for path in paths if build.output and path.is_file()]
    return {
        "status": done.returncode,
        **{name: _hash(text.encode()) for name, text in said.items()},
        "files": {path.relative_to(folder).as_posix(): _hash(_normal(path, folder)) for path in written},
    }


def _normal(path: Path, folder: Path) -> bytes:
    """Return what a file says, without what may differ."""
    content = path.read_bytes()
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            return b"".join(name.encode() + archive.read(name) for name in archive.namelist())
    if path.suffix == ".v":
        return COMMENT.sub("", content.decode()).encode()
    if path.suffix == ".py" or "tb" in path.relative_to(folder).parts:
        return MODULE.sub("MODULE", IMPORT.sub("", content.decode())).encode()
    if path.name in ("explore.json", "index.html", "explore.jsonl"):
        return SECONDS.sub("TIME", content.decode()).encode()
    return content


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]


def compare(before: Path, after: Path) -> int:
    """Print what differs between two records. Return 1 if anything does."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    differing = 0
    for name in dict.fromkeys((*old, *new)):
        for what in _differences(old.get(name), new.get(name)):
            print(f"{name}: {what}")
            differing += 1
    print(f"{len(new)} builds, {differing} differences")
    return 1 if differing else 0


def _differences(old: dict[str, object] | None, new: dict[str, object] | None) -> Iterator[str]:
    if old is None or new is None:
        yield "is in one record only"
        return
    yield from (key for key in ("status", "stdout", "stderr") if old[key] != new[key])
    one, other = old["files"], new["files"]
    assert isinstance(one, dict) and isinstance(other, dict)
    yield from (path for path in dict.fromkeys((*one, *other)) if one.get(path) != other.get(path))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m verify.builds", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    making = commands.add_parser("make", help="make the builds and write their hashes")
    making.add_argument("record", type=Path)
    making.add_argument("--only", help="a word of the names of builds")
    comparing = commands.add_parser("compare", help="say what differs between two records")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "make":
        make(arguments.record, arguments.only)
        return 0
    return compare(arguments.before, arguments.after)


if __name__ == "__main__":
    sys.exit(main())
