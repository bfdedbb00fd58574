"""Positions in the streams: who writes words at them gives the array the words that our own host gives it."""

import io
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.ir.words import to_words
from tabla.program.host import Host
from tabla.program.positions import archive, positions

SMALL = """mu = 0.5;
model_input x[5], u;
model_output y[2];
model w[2][5], b[2];
iterator i[0:5];
iterator j[0:2];
h[j] = sum[i](w[j][i] * x[i]) + b[j] * u;
e[j] = h[j] - y[j];
g[j][i] = e[j] * x[i];
k[j] = e[j] * u;
gradient g -> w;
gradient k -> b;
"""
PRODUCT = """model_input x[5];
iterator i[0:5];
p = pi[i](x[i]);
"""


@pytest.fixture(params=["one PE", "four PEs", "minibatch", "product"])
def host(request: pytest.FixtureRequest, tmp_path: Any) -> Host:
    text = PRODUCT if request.param == "product" else SMALL
    options: dict[str, Any] = {
        "one PE": {"pes": 1, "result": ["h"]},
        "four PEs": {"pes": 4, "stream_words": 4, "result": ["h"]},
        "minibatch": {"pes": 4, "minibatch": 3, "stream_words": 2},
        "product": {"pes": 4, "result": ["p"]},
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
                assert places.shape[1:] == host.schedule.graph.tensors[tensor].shape
                given[tensor] = chance.integers(-1000, 1000, places.shape[1:])
                for copy in places:
                    unit[copy] = given[tensor]
        return given, unit

    models, unit = filled("load")
    assert set(models) == {t.name for t in host.schedule.graph.tensors.values() if t.role == "model"}
    assert unit.tolist() == host.load_beats(models).reshape(-1).tolist()
    inputs, unit = filled("sample")
    assert inputs and unit.tolist() == host.sample_beats({n: words[None] for n, words in inputs.items()}).reshape(-1).tolist()
    results = chance.integers(-1000, 1000, found["result.template"].shape)
    for name, words in host.results(results.tolist()).items():
        assert results[found[f"result/{name}"]].tolist() == words[0].tolist()
    dump = chance.integers(-1000, 1000, found["dump.template"].shape)
    for name, words in host.models(dump.tolist()).items() if dump.size else ():
        assert dump[found[f"dump/{name}"]].tolist() == words.tolist()


def test_every_element_has_a_place_and_no_place_two_elements(host: Host) -> None:
    for kind in ("load", "sample", "result", "dump"):
        arrays = {name: array for name, array in positions(host).items() if name.startswith(f"{kind}/")}
        # Copies of one element may repeat a place; elements never share one.
        taken = [
            place for array in arrays.values() for place in map(set, array.reshape(-1, array[0].size or 1).T if kind in ("load", "sample") else array.reshape(1, -1).T)
        ]
        assert sum(map(len, taken)) == len(set().union(*taken))


def test_constants_stand_in_the_template(tmp_path: Any) -> None:
    path = tmp_path / "product.t"
    path.write_text(PRODUCT)
    build = tabla.compile(path, pes=4, result=["p"])
    template = positions(Host(build.schedule))["load.template"]
    # A product over lanes begins with ones, which are loaded with the models.
    assert int(to_words(np.asarray(1.0), build.format, "one")) in template.tolist() or template.size == 0


def test_the_file_is_read_by_numpy_and_is_the_same_each_time(host: Host) -> None:
    found = positions(host)
    content = archive(found)
    assert content == archive(found)
    read = np.load(io.BytesIO(content), allow_pickle=False)
    assert set(read.files) == set(found)
    assert all(read[name].tolist() == found[name].tolist() for name in found)
