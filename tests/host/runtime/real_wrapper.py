"""The wrapper that `gen --bus axi` wrote, compiled by CXXRTL, in place of its model in Python."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable

from tabla.host.engines.cxxrtl_run import build
from tabla.host.runtime.folder import BuildFolder

MOMENT = 40
"""The cycles that pass at each question about a packet."""

DRIVER = r"""
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
#include "design.h"
using Design = cxxrtl_design::DESIGN;

template<size_t B> static uint64_t number(const cxxrtl::value<B> &v) { return v.template get<uint64_t>(); }
template<size_t B> static uint64_t number(const cxxrtl::wire<B> &w) { return w.curr.template get<uint64_t>(); }
template<size_t B> static const void *bytes(const cxxrtl::value<B> &v) { return v.data; }
template<size_t B> static const void *bytes(const cxxrtl::wire<B> &w) { return w.curr.data; }
template<size_t B> static cxxrtl::value<B> of(const cxxrtl::value<B> &, uint64_t n) {
    cxxrtl::value<B> v{};
    for (size_t i = 0; i < v.chunks && i < 2; ++i) v.data[i] = uint32_t(n >> 32 * i);
    return v;
}
#define SET(port, n) top.port = of(top.port, n)

static Design top;
static size_t BEAT;
static std::vector<uint8_t> out, in;
static size_t at = 0;
static bool armed = false, whole = false, fits = false;

// One cycle; the ports of the streams are served in each.
static void cycle() {
    bool offers = at < out.size();
    size_t size = offers ? std::min(BEAT, out.size() - at) : 0;
    SET(p_s__axis__tvalid, offers);
    if (offers) std::memcpy(&top.p_s__axis__tdata.data, &out[at], size);
    SET(p_s__axis__tkeep, size >= 64 ? ~0ull : (1ull << size) - 1);
    SET(p_s__axis__tlast, offers && at + size == out.size());
    bool takes = armed && !whole;
    SET(p_m__axis__tready, takes);
#if FEEDBACK
    SET(p_aclk, 0); top.step(); SET(p_aclk, 1);
#else
    SET(p_aclk, 1); top.prev_p_aclk = cxxrtl::value<1>{0u}; top.eval();
#endif
    bool taken = offers && number(top.p_s__axis__tready);
    bool came = takes && number(top.p_m__axis__tvalid);
    if (came) {
        uint64_t keep = number(top.p_m__axis__tkeep);
        const uint8_t *data = static_cast<const uint8_t *>(bytes(top.p_m__axis__tdata));
        for (size_t i = 0; i < BEAT; ++i) if (keep >> i & 1) in.push_back(data[i]);
        whole = number(top.p_m__axis__tlast);
    }
    if (taken) at += size;
}
static void edge() {
#if FEEDBACK
    top.step();
#else
    top.commit();
#endif
}
static uint32_t get() { uint32_t n = 0; if (std::fread(&n, 4, 1, stdin) != 1) std::exit(0); return n; }
static void put(uint32_t n) { std::fwrite(&n, 4, 1, stdout); }

int main() {
    BEAT = get();
    SET(p_aresetn, 0); cycle(); edge(); SET(p_aresetn, 1);
    while (true) {
        switch (get()) {
        case 'R': {
            SET(p_s__axil__araddr, get()); SET(p_s__axil__arvalid, 1); SET(p_s__axil__rready, 1);
            uint32_t data = 0, response = 0; bool done = false;
            while (!done) {
                cycle();
                bool accepted = number(top.p_s__axil__arready);
                done = number(top.p_s__axil__rvalid);
                data = number(top.p_s__axil__rdata); response = number(top.p_s__axil__rresp);
                edge();
                if (accepted) SET(p_s__axil__arvalid, 0);
            }
            SET(p_s__axil__rready, 0); put(data); put(response); break;
        }
        case 'W': {
            SET(p_s__axil__awaddr, get()); SET(p_s__axil__wdata, get()); SET(p_s__axil__wstrb, 15);
            SET(p_s__axil__awvalid, 1); SET(p_s__axil__wvalid, 1); SET(p_s__axil__bready, 1);
            uint32_t response = 0; bool done = false;
            while (!done) {
                cycle();
                bool address = number(top.p_s__axil__awready), word = number(top.p_s__axil__wready);
                done = number(top.p_s__axil__bvalid); response = number(top.p_s__axil__bresp);
                edge();
                if (address) SET(p_s__axil__awvalid, 0);
                if (word) SET(p_s__axil__wvalid, 0);
            }
            SET(p_s__axil__bready, 0); put(response); break;
        }
        case 'O': {
            out.resize(get()); at = 0;
            if (std::fread(out.data(), 1, out.size(), stdin) != out.size()) return 1;
            break;
        }
        case 'C': out.clear(); in.clear(); at = 0; armed = whole = false; break;
        case 'T': for (uint32_t n = get(); n; --n) { cycle(); edge(); } put(at >= out.size()); break;
        case 'P': {
            armed = true;
            for (uint32_t n = get(); n && !whole; --n) { cycle(); edge(); }
            if (!whole) { put(0xFFFFFFFF); break; }
            put(in.size()); std::fwrite(in.data(), 1, in.size(), stdout);
            in.clear(); whole = armed = false; break;
        }
        }
        std::fflush(stdout);
    }
}
"""


class RealWrapper:
    """A wrapper in a process of its own: its registers, and the packets at its streams. Use it as a context manager."""

    def __init__(self, verilog: str, module: str, beat: int) -> None:
        program = build(verilog, module, DRIVER)
        self._process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.moment: Callable[[], None] = lambda: None
        self._say(beat)

    @staticmethod
    def of(folder: BuildFolder) -> RealWrapper:
        """The wrapper of a folder of ``tabla gen``."""
        text = folder.verilog() + (folder.path / f"{folder.name}_axi.v").read_text(encoding="utf-8")
        return RealWrapper(text, str(folder.bus["module"]), folder.bus["width"] // 8)

    def _say(self, *numbers: int, data: bytes = b"") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(struct.pack(f"<{len(numbers)}I", *numbers) + data)
        self._process.stdin.flush()

    def _hear(self, size: int = 4) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.read(size)

    def _number(self) -> int:
        return int.from_bytes(self._hear(), "little")

    def read(self, offset: int) -> int:
        self.moment()
        self._say(ord("R"), offset)
        word, response = self._number(), self._number()
        assert response == 0, f"reading 0x{offset:X} is answered with {response}"
        return word

    def write(self, offset: int, word: int) -> None:
        self._say(ord("W"), offset, word)
        response = self._number()
        assert response == 0, f"writing 0x{offset:X} is answered with {response}"

    def offer(self, data: bytes) -> None:
        self._say(ord("O"), len(data), data=data)

    def taken(self) -> bool:
        self._say(ord("T"), MOMENT)
        return bool(self._number())

    def cancel(self) -> None:
        self._say(ord("C"))

    def packet(self, room: int) -> bytes | None:
        self._say(ord("P"), MOMENT)
        size = self._number()
        return None if size == 0xFFFFFFFF else self._hear(size)

    def __enter__(self) -> RealWrapper:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
