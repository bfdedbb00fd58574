"""Gradients: statements that run a program backwards. The gradient of a contraction is a contraction."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.base.source import Span
from tabla.languages.tile.derivatives import Derivatives
from tabla.languages.tile.elementwise import node_of
from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import Node, ordered
from tabla.languages.tile.steps import update
from tabla.languages.tile.tensors import Tensor


def gradient(loss: Tensor, weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the derivatives of a single value with respect to some tensors, in the shapes of these.

    Where several elements are the maximum or minimum, each of them gets the whole derivative. Raises `TablaError` for a
    loss that is not a single value, and for what has no derivative here.
    """
    span, root = here(), loss.node
    if root.size != 1:
        refuse(f"the loss has shape {root.shape}", "sum it up first: L[()] += E[i]")
    wanted = [each.node for each in weights]
    backward = backwards(root, node_of(1.0), wanted, span)
    return [Tensor(derivative(backward, node)) for node in wanted]


def backwards(root: Node, seed: Node, wanted: Sequence[Node], span: Span | None) -> Derivatives:
    """Return the derivatives with respect to `wanted`, given the derivative `seed` of a loss with respect to `root`."""
    order = ordered([root])
    concerned: set[Node] = set(wanted)
    for node in order:
        if any(operand in concerned for operand in node.operands):
            concerned.add(node)
    found = Derivatives(concerned, span)
    found.add(root, seed)
    for node in reversed(order):
        if node in concerned and node not in wanted:
            found.through(node)
    return found


def derivative(backward: Derivatives, node: Node) -> Node:
    """Return a derivative in the shape of the weights; zeros where the loss does not depend on them."""
    found = backward.filled(backward.of(node), node.shape)
    found.name.text = found.name.text or (f"d{node.name.text}" if node.name.text else None)
    return found


def descend(loss: Tensor, weights: Sequence[Tensor], rate: float) -> None:
    """Take one step against the gradient: after this sample each of `weights` is ``w - rate * gradient``."""
    for each, slope in zip(weights, gradient(loss, weights), strict=True):
        update(each, slope, rate)
