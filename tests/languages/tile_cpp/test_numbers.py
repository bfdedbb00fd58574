"""Numbers, vectors and control flow of C++: what a variable is after some statements."""

from __future__ import annotations

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.languages.tile_cpp.trace import load, trace
from tests.languages.tile.meaning import evaluate

SNIPPETS = {
    "x = 7 / 2;": 3,
    "x = -7 / 2;": -3,
    "x = -7 % 3;": -1,
    "x = 7 % -3;": 1,
    "x = 1 << 4 | 3;": 19,
    "x = 6 & 3 ^ 1;": 3,
    "x = ~5;": -6,
    "x = 7.0 / 2;": 3.5,
    "x = 2 + 3 * 4 - 1;": 13,
    "x = 1 < 2 == true;": 1,
    "x = !v.empty();": 1,
    "x = 5; x -= 2; x *= 4; x /= 3;": 4,
    "x = 1; x++; ++x; x--;": 2,
    "int i = static_cast<int>(-2.7); x = i;": -2,
    "x = int(3.9) + float(1) / 2;": 3.5,
    "x = true ? 3 : 4;": 3,
    "x = 0x10 + 10u + 1L;": 27,
    "x = 1'000 + 0x1'0 + 1'0.2'5 + 1'2e1;": 1000 + 16 + 10.25 + 120,
    "int i = 5; i <<= 3; i >>= 1; i |= 3; i ^= 1; i &= 14; x = i;": ((20 | 3) ^ 1) & 14,
    "int i = -(int)2.7 + (int)3.9 * 2; x = i;": -2 + 6,
    "float y = (float)7 / 2; x = (int)y - (int)-1.5;": 3 + 1,
    "x = (int)v[0] + (x);": 1,
    "x = .5f + 1e1 + 2.;": 12.5,
    "auto w = v; w[0] = 7; x = v[0];": 1,
    "auto& w = v; w[0] = 7; x = v[0];": 7,
    "std::vector<int> w = v; w.push_back(3); x = v.size() + 10 * w.size();": 32,
    "std::vector<std::vector<int>> t{{1}, {2}}; auto u = t; u[0][0] = 5; x = t[0][0];": 1,
    "std::vector<int> w(3, 4); x = w[0] + w.at(1) + w.back() - v.front();": 11,
    "for (int i = 0; i < 9; ++i) { if (i == 3) break; x += i; }": 3,
    "for (int i = 0; i < 5; i++) { if (i % 2) continue; x += i; }": 6,
    "for (int i = 0, j = 9; i < j; ++i, --j) x += 1;": 5,
    "for (auto e : v) { if (e == 1) continue; x += e; }": 2,
    "for (;;) { x += 1; if (x > 3) break; }": 4,
    "if (v.size() > 5 && v[5] > 0) x = 1;": 0,
    "x = v.empty() || v[0] == 1 ? 3 : 4;": 3,
    "if (x) x = 3; else if (v[0]) x = 4; else x = 5;": 4,
    "{ int x = 3; x = x + 1; }": 0,
    "x = helper(3) + helper(3, 4);": 3 + 1 + 7,
    "x = std::max(3, 4) - std::min(1.5, 2.0) + std::sqrt(4.0) + std::pow(2, 3);": 12.5,
    "TensorDim K = (1 - N) / 2; x = K + N;": 2,
    "TensorDim K(5); x = K / 2;": 2,
    'std::string s = "same"; x = s == "same";': 1,
    "x = N * 0.5;": 1,
    "int n = M; x = n;": 2,
}


@pytest.mark.parametrize("text", SNIPPETS)
def test_a_variable_after_some_statements(text: str) -> None:
    program = f"""
        int helper(int a, int b = 1) {{ return a + b; }}
        Tensor f(const Tensor& I) {{
          TensorDim M, N;
          I.bind_dims(M);
          N = M;
          std::vector<int> v{{1, 2}};
          double x = 0;
          {text}
          return I * 0 + x;
        }}"""
    file = load(Source.from_text(program, "f.cpp"))
    (found,) = evaluate(trace(file, file.function("f"), {"I": (2,)}), {"I": np.zeros(2)}).values()
    np.testing.assert_array_equal(found, np.full(2, SNIPPETS[text]))
