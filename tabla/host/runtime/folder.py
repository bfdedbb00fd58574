"""The output folder of ``tabla gen``: all that a host knows of an accelerator."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.folder import BOARD_SCHEMA, MANIFEST_SCHEMA
from tabla.base.npz import read_npz
from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.rate import RATE, RuntimeRate
from tabla.graph.words import WordType

if TYPE_CHECKING:
    from tabla.program.image import Image

KINDS = ("load", "sample", "result", "dump")
_AGAIN = "run tabla gen again"
_MOST_SHIFT = 64
"""No learning rate of a format has a larger shift."""
_LONGEST_NAME = 255
"""The bytes of the longest name that a file can have in the file systems of Linux."""
_DAMAGE = (
    *(OSError, EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, MemoryError),
    *(RecursionError, RuntimeError, struct.error),
)
"""What reading a damaged file may raise: JSON that is not that of `tabla gen`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A tensor as the manifest has it.

    `role` is ``input``, ``label``, ``model`` or ``result``. With a minibatch of B samples the shape of an input, and of
    most results, begins with B. `words` says what the words of the tensor stand for.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    words: WordType


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """How a host asks for results without learning.

    `inputs` are the names of the inputs that the results need. `holds` says that PREDICT keeps the models, which RUN
    would change. Without it nothing changes them.
    """

    holds: bool
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BuildFolder:
    """An output folder that has been read and checked.

    `manifest` is the content of its manifest, and `layout` has the arrays of ``<name>.layout.npz``.
    """

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)
    layout: Mapping[str, NDArray[np.int32]] = field(repr=False)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> BuildFolder:
        """Read a folder. Raises `TablaError` for one that is not of ``tabla gen``, or not whole."""
        folder = Path(path)
        if not folder.is_dir():
            raise TablaError(f"there is no folder '{folder}'", hint="name the folder that tabla gen has written")
        manifest = _manifest(folder)
        _check_manifest(manifest, folder)
        layout_path = folder / f"{manifest['name']}.layout.npz"
        layout = _layout(layout_path)
        found = BuildFolder(path=folder, manifest=manifest, layout=layout)
        found._check_sizes()
        # The file has been read before, so that one that is damaged is told as such.
        found._check_sum(layout_path.name, layout_path.read_bytes())
        return found

    @staticmethod
    def of_image(path: Path, manifest: Mapping[str, Any], layout: Mapping[str, NDArray[Any]]) -> BuildFolder:
        """Return what an image holds of a program, checked as a folder is. Raises `TablaError` for one that is damaged.

        `path` is that of the image.
        """
        try:
            _check_manifest(manifest, path)
            _check_layout(layout, path)
            found = BuildFolder(path=path, manifest=manifest, layout=layout)
            found._check_sizes()
        except TablaError as fault:
            raise TablaError(f"'{path}' is not whole: {fault.message}", hint="write it again with tabla load") from None
        return found

    def _check_sizes(self) -> None:
        """Refuse a layout that is not of this manifest, as far as sizes can tell."""
        tensors = {entry.name: entry.shape for entry in self.tensors}
        for name, places in self.layout.items():
            kind, slash, tensor = name.partition("/")
            whole = tensor.removesuffix(".guard")
            shape = places.shape if kind in ("result", "dump") else places.shape[1:]
            if slash and (whole not in tensors or tensors[whole] != shape):
                raise TablaError(f"the layout of '{self.path}' is of another build, see '{name}'", hint=_AGAIN)
        for kind, size in self.manifest.get("bus", {}).get("bytes", {}).items():
            if len(self.template(kind)) * self.manifest["bus"]["container"] != 8 * size:
                raise TablaError(
                    f"the layout of '{self.path}' is of another build: its {kind} has another size", hint=_AGAIN
                )

    def _check_sum(self, file: str, data: bytes) -> None:
        """Refuse a file with other bytes than the manifest says. Manifests of older releases do not say it."""
        expected = self.manifest.get("sha256", {}).get(file)
        if expected is not None and hashlib.sha256(data).hexdigest() != expected:
            raise TablaError(f"'{self.path / file}' and the manifest are of different builds", hint=_AGAIN)

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint of the image. Only the manifests of older releases, without ``bus``, have none."""
        found: int | None = self.manifest.get("fingerprint", self.manifest.get("bus", {}).get("fingerprint"))
        return found

    @property
    def name(self) -> str:
        """The name of the program."""
        return str(self.manifest["name"])

    @property
    def module(self) -> str:
        """The Verilog module of the accelerator."""
        return str(self.manifest["module"])

    @property
    def format(self) -> Format:
        """The number format."""
        return Format(integer=self.manifest["integer_bits"], fraction=self.manifest["fraction_bits"])

    @property
    def minibatch(self) -> int:
        """The samples of a step."""
        return int(self.manifest["minibatch"])

    @property
    def tensors(self) -> tuple[Entry, ...]:
        """The inputs, labels, models and results."""
        number, found = self.format, []
        for entry in self.manifest["tensors"]:
            name, role, shape = entry["name"], entry["role"], tuple(entry["shape"])
            guard = self.guard(name) if role == "model" else 0
            words = WordType(name=name, format=number, role=role, guard=guard, integer=bool(entry.get("integer")))
            found.append(Entry(name=name, role=role, shape=shape, words=words))
        return tuple(found)

    @property
    def dump_count(self) -> int:
        """The addresses that a dump covers."""
        return int(self.manifest["stream"]["dump"]["count"])

    @property
    def beat_words(self) -> int:
        """The words of a beat of the accelerator's stream."""
        return int(self.manifest["stream_words"])

    @property
    def guard_bits(self) -> int:
        """The guard bits of models that have some."""
        return int(self.manifest.get("model_guard") or 0)

    @property
    def rate(self) -> RuntimeRate | None:
        """The learning rate, if it is a word that hosts load."""
        entry = self.manifest.get("runtime_rate")
        if entry is None:
            return None
        return RuntimeRate(sign=int(entry["sign"]), shift=int(entry["shift"]), built=Fraction(entry["built"]))

    @property
    def prediction(self) -> Prediction | None:
        """How a host asks for results without learning; None if there is no way."""
        entry = self.manifest.get("prediction")
        if entry is None:
            return None
        return Prediction(holds=entry["command"] == "predict", inputs=tuple(entry["inputs"]))

    def guard(self, model: str) -> int:
        """Return the guard bits of a model; 0 for a model whose words are plain words."""
        return self.guard_bits if f"load/{model}.guard" in self.layout else 0

    def template(self, kind: str) -> NDArray[np.int32]:
        """Return the template of a unit: ``load``, ``sample``, ``result`` or ``dump``."""
        return self.layout[f"{kind}.template"]

    def places(self, kind: str) -> dict[str, NDArray[np.int32]]:
        """Return the places of every tensor in a unit of this kind, by the name of the tensor."""
        start = f"{kind}/"
        return {name.removeprefix(start): found for name, found in self.layout.items() if name.startswith(start)}

    @property
    def bus(self) -> Mapping[str, Any]:
        """The entry ``bus`` of the manifest. Raises `TablaError` if the build has no wrapper for a host's bus."""
        self._refuse_overlay()
        if "bus" not in self.manifest:
            raise TablaError(
                f"'{self.path}' has no wrapper for a host's bus, which mmio: needs", hint="run tabla gen with --bus axi"
            )
        entry: Mapping[str, Any] = self.manifest["bus"]
        return entry

    def image(self) -> Image:
        """Return the image, which the cycle model and the serial board need.

        Raises `TablaError` if it is missing, damaged, or of another build.
        """
        from tabla.program.image_file import image_of
        from tabla.program.protocol import fingerprint

        path = self.path / "program" / "image.json"
        try:
            image = image_of(json.loads(path.read_text(encoding="utf-8")))
            mark, own = fingerprint(image), image.parameters
            shape = (own.width, own.fraction, own.stream_words, own.model_guard)
        except FileNotFoundError:
            raise TablaError(f"'{path}' is missing: an older tabla wrote the folder", hint=_AGAIN) from None
        except _DAMAGE:
            raise TablaError(f"'{path}' is damaged", hint=_AGAIN) from None
        expected = (self.format.width, self.format.fraction, self.beat_words, self.guard_bits)
        if shape != expected or mark != (mark if self.fingerprint is None else self.fingerprint):
            raise TablaError(f"'{path}' and the manifest are of different builds", hint=_AGAIN)
        return image

    def _refuse_overlay(self) -> None:
        """Refuse what only a program with hardware of its own has."""
        if "overlay" in self.manifest:
            raise TablaError(
                f"'{self.path}' is a program for an overlay, and has no hardware of its own",
                hint=f"connect to the overlay with connect_overlay, and program '{self.path / self.name}.image'",
            )

    def verilog(self) -> str:
        """Return the text of the accelerator. Raises `TablaError` if the file is missing."""
        self._refuse_overlay()
        path = self.path / f"{self.name}.v"
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as fault:
            raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint=_AGAIN) from None
        except ValueError:
            raise TablaError(f"'{path}' is damaged: it is not UTF-8 text", hint=_AGAIN) from None
        self._check_sum(path.name, text.encode())
        return text


def _manifest(folder: Path) -> Mapping[str, Any]:
    found, schemas = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        schemas.append(content.get("schema") if isinstance(content, dict) else None)
        if schemas[-1] == MANIFEST_SCHEMA:
            found.append(content)
    if len(found) == 1:
        manifest: Mapping[str, Any] = found[0]
        return manifest
    if not found and BOARD_SCHEMA in schemas:
        hint = "write one with tabla gen and the same options, and name that one"
        raise TablaError(f"'{folder}' is a folder of tabla build, which has no layout", hint=hint)
    raise TablaError(
        f"'{folder}' has {len(found) or 'no'} manifests of tabla gen",
        hint="name the folder that tabla gen has written, with nothing else in it",
    )


def _check_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    """Refuse a manifest that lacks what a host needs. The values are used as they are later."""
    try:
        found = BuildFolder(path=folder, manifest=manifest, layout={})
        numbers = [found.dump_count, found.guard_bits, found.beat_words - 1, found.minibatch - 1]
        sizes = [size for entry in found.tensors for size in entry.shape]
        names = [manifest["name"], manifest["module"], *(text for e in found.tensors for text in (e.name, e.role))]
        # The names of files are made of the program's, and none of them may lie elsewhere.
        whole = all(isinstance(name, str) for name in names) and Path(names[0]).name == names[0]
        whole = whole and len(os.fsencode(f"{names[0]}.layout.npz")) <= _LONGEST_NAME
        fraction = found.format.fraction
        if (rate := found.rate) is not None:
            models = {entry.name: entry.shape for entry in found.tensors if entry.role == "model"}
            bounded = abs(rate.shift) <= _MOST_SHIFT and rate.sign in (1, -1)
            whole = whole and bounded and models.get(RATE) == ()
        if (prediction := found.prediction) is not None:
            whole = whole and set(prediction.inputs) <= {e.name for e in found.tensors if e.role in ("input", "label")}
        whole = whole and isinstance(found.fingerprint, int | None) and isinstance(manifest.get("sha256", {}), dict)
        if "bus" in manifest:
            bus = manifest["bus"]
            numbers += [bus["width"] // 8 - 1, bus["fingerprint"], *(bus["bytes"][kind] for kind in KINDS)]
            whole = whole and bus["container"] in (8, 16, 32)
            for entry in bus["registers"]:
                fields = [(field["name"], field["description"]) for field in entry["fields"]]
                numbers += [entry["offset"], entry["reset"], *(f["bit"] + f["bits"] for f in entry["fields"])]
                whole = whole and all(isinstance(text, str) for text in (entry["name"], *sum(fields, ())))
        sound = whole and all(isinstance(number, int) and number >= 0 for number in (*numbers, *sizes, fraction))
    except _DAMAGE:
        sound = False
    if not sound:
        raise TablaError(f"the manifest of '{folder}' is damaged", hint=_AGAIN)


def _layout(path: Path) -> dict[str, NDArray[np.int32]]:
    if not path.exists():
        raise TablaError(f"'{path}' is missing: an older tabla wrote the folder", hint=_AGAIN)
    try:
        layout = dict(read_npz(path))
    except (TablaError, *_DAMAGE):
        raise TablaError(f"'{path}' is damaged", hint=_AGAIN) from None
    _check_layout(layout, path)
    return layout


def _check_layout(layout: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Refuse a layout that lacks a unit, or has places outside of one. `path` is that of its file."""
    try:
        sound = all(_is_sound(name, array, layout) for name, array in layout.items())
    except (TablaError, *_DAMAGE):
        raise TablaError(f"'{path}' is damaged", hint=_AGAIN) from None
    if missing := sorted({f"{kind}.template" for kind in KINDS} - layout.keys()):
        raise TablaError(f"'{path}' has no '{missing[0]}'", hint=_AGAIN)
    if not sound:
        raise TablaError(f"'{path}' is damaged: it has places outside its units", hint=_AGAIN)


def _is_sound(name: str, array: NDArray[Any], layout: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether a template is a list of words, and whether places are inside their unit."""
    kind, slash, _ = name.partition("/")
    if not slash:
        return array.dtype.kind == "i" and array.ndim == 1
    size = layout[f"{kind}.template"].size if f"{kind}.template" in layout else 0
    return array.dtype.kind == "i" and (not array.size or bool(array.min() >= 0 and array.max() < size))
