"""The C++ around the simulation that Yosys writes: it reads commands from a pipe and plays them at the ports.

It does the same as :mod:`tabla.host.engines.host_loop`, in C++ because Python would be slower than the simulation. Its
protocol is binary and little endian, and only :mod:`tabla.host.engines.cxxrtl_run` uses it, which defines
`RESET_CYCLES`, `PROGRESS_INTERVAL` in milliseconds, the `PORT_WORDS` of `WIDTH` bits of a beat of the output, and
whether the accelerator `PREDICTS` before it. Bit 2 of a request's code then says that the run predicts.
"""

from __future__ import annotations

DRIVER = r"""
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "design.h"

using Design = cxxrtl_design::DESIGN;

template<size_t Bits> static uint64_t number(const cxxrtl::value<Bits> &v) { return v.template get<uint64_t>(); }
template<size_t Bits> static uint64_t number(const cxxrtl::wire<Bits> &w) { return w.curr.template get<uint64_t>(); }

template<size_t Bits> static const void *bytes(const cxxrtl::value<Bits> &v) { return &v.data; }
template<size_t Bits> static const void *bytes(const cxxrtl::wire<Bits> &w) { return &w.curr.data; }

// The words of a beat, the first in the lowest bits.
template<typename Port> static void append(std::vector<uint32_t> &words, const Port &port) {
    const size_t chunks = (PORT_WORDS * WIDTH + 31) / 32;
    uint32_t beat[chunks + 1] = {};
    std::memcpy(beat, bytes(port), 4 * chunks);
    for (size_t bit = 0; bit < PORT_WORDS * WIDTH; bit += WIDTH) {
        uint64_t above = beat[bit / 32] | uint64_t(beat[bit / 32 + 1]) << 32;
        words.push_back(uint32_t((above >> bit % 32) & ((uint64_t(1) << WIDTH) - 1)));
    }
}

template<size_t Bits> static size_t chunks(const cxxrtl::value<Bits> &) { return (Bits + 31) / 32; }

template<typename T> static bool receive(T *into, size_t count) {
    return std::fread(into, sizeof(T), count, stdin) == count;
}
template<typename T> static void reply(const std::vector<T> &list) {
    uint64_t size = list.size();
    std::fwrite(&size, sizeof size, 1, stdout);
    std::fwrite(list.data(), sizeof(T), list.size(), stdout);
}

struct Request {
    uint32_t code, count, sample_beats, input_pauses, output_pauses, patience;
    uint64_t beats, outputs;
};

static uint32_t pause(const std::vector<uint32_t> &list, uint64_t index) {
    return list.empty() || !index ? 0 : list[index % list.size()];
}

struct Server {
    Design top;
    uint64_t cycle = 0;
    const size_t CHUNKS = chunks(top.p_in__data);

    // Everything that a cycle shows is settled by one pass over the design before its clock edge takes effect; the
    // inputs of the cycle are set before. FEEDBACK designs need the clock's low phase for that.
    void settle() {
#if FEEDBACK
        top.p_clk = cxxrtl::value<1>{0u};
        top.step();
        top.p_clk = cxxrtl::value<1>{1u};
#else
        top.p_clk = cxxrtl::value<1>{1u};
        top.prev_p_clk = cxxrtl::value<1>{0u};
        top.eval();
#endif
    }
    void edge() {
#if FEEDBACK
        top.step();
#else
        top.commit();
#endif
        ++cycle;
    }
    void reset() {
        top.p_rst = cxxrtl::value<1>{1u};
        for (int i = 0; i < RESET_CYCLES; ++i) { settle(); edge(); }
        top.p_rst = cxxrtl::value<1>{0u};
    }

    bool serve() {
        Request request;
        if (!receive(&request, 1)) return false;
        std::vector<uint32_t> in_pauses(request.input_pauses), out_pauses(request.output_pauses);
        std::vector<uint32_t> beats(request.beats * CHUNKS);
        if (!receive(in_pauses.data(), in_pauses.size()) || !receive(out_pauses.data(), out_pauses.size()) ||
            !receive(beats.data(), beats.size())) return false;
        std::vector<uint32_t> outputs, counters;
        std::vector<uint64_t> starts, firsts, lasts, updates, leaves, hung;
        bool accepted = false, done = false;
        uint64_t beat = 0, in_sample = 0, idle = 0;
        uint32_t in_pause = 0, out_pause = 0;
        auto told = std::chrono::steady_clock::now();
        while (!done) {
            bool offers = accepted && beat < request.beats && !in_pause;
            bool takes = accepted && !out_pause;
            top.p_command__valid = cxxrtl::value<1>{accepted ? 0u : 1u};
            top.p_command__code = cxxrtl::value<2>{request.code & 3};
#if PREDICTS
            top.p_command__predict = cxxrtl::value<1>{request.code >> 2};
#endif
            top.p_command__count = cxxrtl::value<32>{request.count};
            top.p_in__valid = cxxrtl::value<1>{offers ? 1u : 0u};
            if (offers) std::memcpy(&top.p_in__data.data, &beats[beat * CHUNKS], 4 * CHUNKS);
            top.p_out__ready = cxxrtl::value<1>{takes ? 1u : 0u};
            settle();
            ++idle;
            if (!accepted) {
                accepted = number(top.p_command__ready);
            } else {
                if (in_pause) --in_pause;
                if (out_pause) --out_pause;
                if (offers && number(top.p_in__ready)) {
                    if (!in_sample) firsts.push_back(cycle);
                    ++beat;
                    if (++in_sample == request.sample_beats) { lasts.push_back(cycle); in_sample = 0; }
                    in_pause = pause(in_pauses, beat);
                    idle = 0;
                }
                if (takes && number(top.p_out__valid)) {
                    append(outputs, top.p_out__data);
                    leaves.resize(outputs.size(), cycle);
                    out_pause = pause(out_pauses, outputs.size() / PORT_WORDS);
                    idle = 0;
                }
                bool finished = beat == request.beats && outputs.size() >= request.outputs;
                done = finished && !number(top.p_busy) && idle > 2;
            }
            if (number(top.p_sample__start)) {
                starts.push_back(cycle);
                idle = 0;
                // A size that no list has announces the number of samples so far, a few times a second.
                auto now = std::chrono::steady_clock::now();
                if ((request.code & 3) == 1 && now - told > std::chrono::milliseconds(PROGRESS_INTERVAL)) {
                    uint64_t words[2] = {~uint64_t(0), starts.size()};
                    std::fwrite(words, sizeof words, 1, stdout);
                    std::fflush(stdout);
                    told = now;
                }
            }
            if (number(top.p_update)) { updates.push_back(cycle); idle = 0; }
            if (idle > request.patience) {
                hung = {cycle, accepted, beat, outputs.size()};
                done = true;
            }
            if (done) {
                counters = {uint32_t(number(top.p_lane__overflows)), uint32_t(number(top.p_root__overflows)),
                            uint32_t(number(top.p_domain__errors))};
            }
            edge();
        }
        reply(outputs); reply(starts); reply(firsts); reply(lasts); reply(updates); reply(leaves);
        reply(counters); reply(hung);
        std::fflush(stdout);
        return true;
    }
};

int main() {
    // The design holds all memories: too large for the stack.
    Server *server = new Server;
    server->reset();
    while (server->serve()) {}
    return 0;
}
"""

_COMMANDS = "        std::vector<uint32_t> beats(request.beats * CHUNKS);\n"
_PROGRAM = r"""
        if (request.code == 3) return program(request.beats);
"""
_FUNCTION = r"""
    // The words of an image; the answer has the status, and the cycles of the first and the last step.
    bool program(uint64_t count) {
        std::vector<uint32_t> words(count), outputs;
        std::vector<uint64_t> none, starts, leaves;
        if (!receive(words.data(), words.size())) return false;
        starts.push_back(cycle);
        top.p_command__valid = cxxrtl::value<1>{0u};
        top.p_program__start = cxxrtl::value<1>{1u};
        settle(); edge();
        top.p_program__start = cxxrtl::value<1>{0u};
        uint32_t status = PROGRAM_TAKES;
        uint64_t index = 0;
        for (int left = PROGRAM_PATIENCE; left && (index < count || status == PROGRAM_TAKES);) {
            top.p_program__valid = cxxrtl::value<1>{index < count ? 1u : 0u};
            if (index < count) top.p_program__data = cxxrtl::value<32>{words[index]};
            settle();
            status = uint32_t(number(top.p_program__status));
            if (index < count) index += number(top.p_program__ready); else --left;
            edge();
        }
        top.p_program__valid = cxxrtl::value<1>{0u};
        outputs.push_back(status);
        leaves.push_back(cycle);
        std::vector<uint32_t> counters;
        reply(outputs); reply(starts); reply(none); reply(none); reply(none); reply(leaves);
        reply(counters); reply(none);
        std::fflush(stdout);
        return true;
    }
"""
_SERVE = "\n    bool serve() {\n"
OVERLAY_DRIVER = DRIVER.replace(_COMMANDS, _PROGRAM + _COMMANDS).replace(_SERVE, _FUNCTION + _SERVE)
"""The driver of an overlay, which also takes images: its program port is not that of other accelerators.

`PROGRAM_PATIENCE` and `PROGRAM_TAKES` are defined before it."""
