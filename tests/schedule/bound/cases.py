"""Tiny programs, drawn by a seed: a few statements on vectors of one to four words."""

from __future__ import annotations

from random import Random

HEAD = """
mu = {rate}; n = {n}; m = {m}; k = {k};
model_input x[n]; model_input z[n]; model_output y[k]; model_output s;
iterator i[0:n]; iterator j[0:m]; iterator c[0:k];
"""
NEURONS = (
    "model w[n]; gradient g[n] -> w; h = {f}(sum[i](w[i]*x[i])); e = h - s; g[i] = e*x[i];",
    "model w[n]; gradient g[n] -> w; h = sum[i](w[i]*x[i]); e = {f}(h - s); g[i] = e*x[i];",
    "model w[n]; gradient g[n] -> w; h = sum[i](w[i]*x[i]); g[i] = h*z[i];",
    "model w[n]; gradient g[n] -> w; a[i] = w[i]*x[i]; g[i] = a[i]*z[i];",
    "model w[n]; gradient g[n] -> w; a[i] = {f}(w[i]*x[i]); g[i] = (a[i] - z[i])*x[i];",
    """model w[n]; model b; gradient g[n] -> w; gradient r -> b; h = {f}(sum[i](w[i]*x[i]) + b);
    r = h - s; g[i] = r*x[i];""",
    "model w[n]; gradient g[n] -> w; h = sum[i](w[i]*w[i]); g[i] = h*w[i];",
    "model w[n]; gradient g[n] -> w; h = sum[i](w[i]*x[i]); d = s - h; g[i] = d*x[i];",
    "model w; gradient g -> w; a = w*x[0]; g = {f}(a)*x[0] - s;",
    "model w[n]; gradient g[n] -> w; a[i] = w[i]*x[i]; h = sum[i](a[i]*z[i]); g[i] = h*a[i];",
    "model w[n]; gradient g[n] -> w; a[i] = w[i]*x[i]; b[i] = {f}(a[i] + z[i]*x[i]); g[i] = b[i]*z[i];",
    "model w[n]; gradient g[n] -> w; a[i] = w[i]*x[i]; b[i] = {f}(a[i] + z[i]); d = sum[i](b[i]*x[i]); g[i] = d*z[i];",
    "model w[n]; gradient g[n] -> w; a[i] = w[i]*x[i]; b[i] = {f}(a[i] - z[i]); d[i] = b[i]*b[i]; g[i] = d[i]*a[i];",
    "model w[n]; gradient g[n] -> w; a[i] = w[i]*x[i]; h = sum[i](a[i]); e = {f}(h) - s; g[i] = e*a[i];",
)
NETWORKS = (
    """model v[m][n]; model u[k][m]; gradient p[m][n] -> v; gradient q[k][m] -> u;
    h[j] = {f}(sum[i](v[j][i]*x[i])); o[c] = sum[j](u[c][j]*h[j]); e[c] = o[c] - y[c]; d[j] = sum[c](u[c][j]*e[c]);
    p[j][i] = d[j]*x[i]; q[c][j] = e[c]*h[j];""",
    """model v[m][n]; gradient p[m][n] -> v; h[j] = sum[i](v[j][i]*x[i]); p[j][i] = h[j]*z[i];""",
    """model v[m][n]; gradient p[m][n] -> v; h[j] = {f}(sum[i](v[j][i]*x[i])); e[j] = h[j] - s; p[j][i] = e[j]*x[i];""",
    """model v[m][n]; model u[m]; gradient p[m][n] -> v; gradient q[m] -> u;
    h[j] = {f}(sum[i](v[j][i]*x[i])); o = sum[j](u[j]*h[j]); e = o - s; q[j] = e*h[j]; d[j] = e*u[j];
    p[j][i] = d[j]*x[i];""",
    """model v[m][n]; model w[n]; gradient p[m][n] -> v; gradient g[n] -> w;
    h[j] = sum[i](v[j][i]*w[i]); g[i] = sum[j](h[j]*v[j][i]); p[j][i] = h[j]*x[i];""",
    """model v[m][n]; model w[n]; gradient p[m][n] -> v; gradient g[n] -> w;
    a[i] = w[i]*x[i]; h[j] = sum[i](v[j][i]*a[i]); d[i] = sum[j](v[j][i]*h[j]); g[i] = d[i]*x[i];
    p[j][i] = h[j]*a[i];""",
)
PLAIN = (
    "model w; gradient g -> w; a[i] = x[i]*z[i]; h = sum[i](a[i]*z[i]); g = h;",
    "model w[n]; gradient g[n] -> w; a = sum[i](x[i]*z[i]); b = {f}(a); g[i] = b*x[i];",
    """model w[n]; model b[m]; gradient g[n] -> w; gradient r[m] -> b; g[i] = w[i]*x[i]; t = sum[i](x[i]*z[i]);
    r[j] = b[j]*t;""",
)


def case(seed: int) -> tuple[str, int]:
    """The text of a program, and the number of PEs."""
    chance = Random(seed)
    kind = chance.choice((NEURONS, NEURONS, NETWORKS, NETWORKS, PLAIN))
    function = chance.choice(("", "", "sigmoid", "tanh"))
    if kind is NETWORKS:
        # Larger ones take the solver minutes.
        sizes = {"n": chance.randint(1, 3), "m": chance.randint(1, 2), "k": chance.randint(1, 2)}
    else:
        sizes = {"n": chance.randint(1, 5), "m": chance.randint(1, 4), "k": 1}
    rate = chance.choice(("0.25", "0.25", "0.3", "1"))
    text = HEAD.format(rate=rate, **sizes) + chance.choice(kind).format(f=function)
    return text, chance.choice((1, 2, 2, 3, 4, 4))


# Programs in which the solver once found fewer cycles than a law of the bound allowed, and the number of PEs.
ERRORS = HEAD.format(rate="0.25", n=3, m=3, k=1) + NETWORKS[2].format(f="")
FOUND = ((ERRORS, 1), (ERRORS, 2), (HEAD.format(rate="0.25", n=4, m=2, k=2) + NETWORKS[0].format(f=""), 1))
