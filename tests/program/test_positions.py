"""Positions in the streams: who writes words at them gives the array the words that our own host gives it."""

import io
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.arrays import npz_bytes
from tabla.program.host import Host
from tabla.program.positions import positions

SMALL = """mu = 0.5;
model_input x[5], u;
model_output y[2];
model w[2][5], b[2];
gradient g[2][5] -> w, k[2] -> b;
iterator i[0:5];
iterator j[0:2];
h[j] = sum[i](w[j][i] * x[i]) + b[j] * u;
e[j] = h[j] - y[j];
g[j][i] = e[j] * x[i];
k[j] = e[j] * u;
"""
GUARD_BITS = 5
PRODUCT = """model_input x[5];
iterator i[0:5];
p = pi[i](x[i]);
"""


@pytest.fixture(params=["one PE", "four PEs", "minibatch", "product", "guard bits"])
def host(request: pytest.FixtureRequest, tmp_path: Any) -> Host:
    text = PRODUCT if request.param == "product" else SMALL
    options: dict[str, Any] = {
        "one PE": {"pes": 1, "results": ["h"]},
        "four PEs": {"pes": 4, "stream_words": 4, "results": ["h"]},
        "minibatch": {"pes": 4, "minibatch": 3, "stream_words": 2},
        "product": {"pes": 4, "results": ["p"]},
        "guard bits": {"pes": 4, "stream_words": 4, "model_guard": GUARD_BITS},
    }[request.param]
    path = tmp_path / "small.t"
    path.write_text(text)
    return Host(tabla.compile(path, **options).schedule)


def test_units_are_those_of_the_host(host: Host) -> None:
    found, chance = positions(host), np.random.default_rng(1)
    assert all(array.dtype == np.int32 for array in found.values())

    def filled(kind: str) -> tuple[dict[str, Any], Any]:
        unit, given = found[f"{kind}.template"].copy(), {}
        for name, places in found.items():
            if name.startswith(f"{kind}/"):
                tensor = name.partition("/")[2]
                assert places.shape[1:] == host.schedule.graph.tensors[tensor.removesuffix(".guard")].shape
                given[tensor] = chance.integers(-1000, 1000, places.shape[1:])
                for copy in places:
                    unit[copy] = given[tensor]
        return given, unit

    given, unit = filled("load")
    models = {name: words for name, words in given.items() if not name.endswith(".guard")}
    assert set(models) == {t.name for t in host.schedule.graph.tensors.values() if t.role == "model"}
    if len(given) > len(models):
        # The two words of a stored integer are its upper bits and its guard bits.
        assert set(given) == {name + end for name in models for end in ("", ".guard")}
        for name in models:
            stored = chance.integers(-1000 << GUARD_BITS, 1000 << GUARD_BITS, models[name].shape)
            for end, words in (("", stored // 2**GUARD_BITS), (".guard", stored % 2**GUARD_BITS)):
                for copy in found[f"load/{name}{end}"]:
                    unit[copy] = words
            models[name] = stored
    assert unit.tolist() == host.load_beats(models).reshape(-1).tolist()
    inputs, unit = filled("sample")
    beats = host.sample_beats({name: words[None] for name, words in inputs.items()})
    assert inputs and unit.tolist() == beats.reshape(-1).tolist()
    results = chance.integers(-1000, 1000, found["result.template"].shape)
    for name, words in host.results(results.tolist()).items():
        assert results[found[f"result/{name}"]].tolist() == words[0].tolist()
    dump = chance.integers(-1000, 1000, found["dump.template"].shape)
    for name, words in host.models(dump.tolist()).items() if dump.size else ():
        read = dump[found[f"dump/{name}"]]
        if f"dump/{name}.guard" in found:
            read = read * 2**GUARD_BITS + dump[found[f"dump/{name}.guard"]] % 2**GUARD_BITS
        assert read.tolist() == words.tolist()


def test_every_element_has_a_place_and_no_place_two_elements(host: Host) -> None:
    found = positions(host)
    for kind in ("load", "sample", "result", "dump"):
        owner: dict[int, tuple[str, int]] = {}
        for name, array in found.items():
            if name.startswith(f"{kind}/"):
                rows = array if kind in ("load", "sample") else array[None]
                for row in rows.reshape(len(rows), -1).tolist():
                    for element, place in enumerate(row):
                        assert 0 <= place < found[f"{kind}.template"].size
                        assert owner.setdefault(place, (name, element)) == (name, element)


def test_what_a_product_begins_with_stands_in_the_template(tmp_path: Any) -> None:
    path = tmp_path / "product.t"
    path.write_text(PRODUCT)
    build = tabla.compile(path, pes=1, results=["p"])
    host = Host(build.schedule)
    ones = sorted(set(positions(host)["load.template"].tolist()) - {0})
    assert ones == ([1 << build.format.fraction] if host.load_beats({}).any() else [])
    assert positions(host)["load.template"].tolist() == host.load_beats({}).reshape(-1).tolist()


def test_the_file_is_read_by_numpy_and_is_the_same_each_time(host: Host) -> None:
    found = positions(host)
    content = npz_bytes(found)
    assert content == npz_bytes(found)
    read = np.load(io.BytesIO(content), allow_pickle=False)
    assert set(read.files) == set(found)
    assert all(read[name].tolist() == found[name].tolist() for name in found)
