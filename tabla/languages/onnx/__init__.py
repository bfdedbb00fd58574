"""ONNX: a file, or an estimator of scikit-learn -> a checked list of nodes -> a program of Tile."""

from __future__ import annotations

from tabla.languages.onnx.model import Model
from tabla.languages.onnx.program import Imported, inference
from tabla.languages.onnx.read import external_files, read_path, read_proto

__all__ = ["Imported", "Model", "external_files", "inference", "read_path", "read_proto"]
