"""Irregular work: a bank of small independent models of four kinds, none of which fills the lanes."""

from __future__ import annotations

_KINDS = (
    # least mean squares; a hinge; a square feature; a cubed error
    "e{k}[i] = w{k}[i]*x{k}[i] - y{k}[i]; g{k}[i] = e{k}[i]*x{k}[i];",
    "m{k}[i] = w{k}[i]*x{k}[i]; e{k}[i] = (m{k}[i]*y{k}[i] < 1) * (0 - y{k}[i]); g{k}[i] = e{k}[i]*x{k}[i];",
    "s{k}[i] = x{k}[i]*x{k}[i]; e{k}[i] = w{k}[i]*s{k}[i] - y{k}[i]; g{k}[i] = e{k}[i]*s{k}[i];",
    "e{k}[i] = w{k}[i]*x{k}[i] - y{k}[i]; g{k}[i] = e{k}[i]*e{k}[i]*x{k}[i];",
)
# Like the first, but the errors are of sums over the lanes: as they are, or through the sigmoid.
_NEURONS = (
    "e{k} = sum[i](w{k}[i]*x{k}[i]) - y{k}[0]; g{k}[i] = e{k}*x{k}[i];",
    "h{k} = sigmoid(sum[i](w{k}[i]*x{k}[i])); e{k} = h{k} - y{k}[0]; g{k}[i] = e{k}*x{k}[i];",
)


def bank(models: int, *, words: int = 4, neurons: int = 0) -> str:
    """A TABLA program of `models` models of `words` words each; the last `neurons` of them are neurons."""

    def all_of(form: str) -> str:
        return ", ".join(form.format(k=k, n=words) for k in range(models))

    kinds = [_KINDS[k % len(_KINDS)] if k < models - neurons else _NEURONS[k % 2] for k in range(models)]
    return "\n".join(
        [
            "mu = 0.125;",
            f"model_input {all_of('x{k}[{n}]')};",
            f"model_output {all_of('y{k}[{n}]')};",
            f"model {all_of('w{k}[{n}]')};",
            f"gradient {all_of('g{k}[{n}] -> w{k}')};",
            f"iterator i[0:{words}];",
            *(kind.format(k=k) for k, kind in enumerate(kinds)),
            "",
        ]
    )
