// The host of `make bench-bus`: it plays commands with and without faults at the ports of a wrapper, and holds the
// wrapper against the rules of docs/host-bus.md and against the words of the evaluation, which it reads from a file.
//
// The ports are those of the shell that measure.py writes around the wrapper: the clock is `clk`, and data and TKEEP are
// cut into pieces of 32 bits. Usage: <program> CASE SEED BEATS. The report is JSON on standard output. A fault of the
// wrapper ends the program with status 1 and says on standard error what was wrong.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "design.h"

using Design = cxxrtl_design::DESIGN;
template<size_t Bits> static uint64_t number(const cxxrtl::value<Bits> &v) { return v.template get<uint64_t>(); }
template<size_t Bits> static uint64_t number(const cxxrtl::wire<Bits> &w) { return w.curr.template get<uint64_t>(); }

static const int PIECES = BUS_BYTES / 4, KEEPS = (BUS_BYTES + 31) / 32;
static const int PLACES = BUS_BYTES / CONTAINER_BYTES;
using Bytes = std::vector<uint8_t>;
using Words = std::vector<int64_t>;

// Bits of STATUS, as templates/bus.td has them.
enum : uint32_t { BUSY = 1, LOADED = 2, DONE = 1 << 8, SHORT = 1 << 9, LONG = 1 << 10, KEEP = 1 << 11, RANGE = 1 << 12,
                  COUNT_ZERO = 1 << 13, NOT_LOADED = 1 << 14, ERRORS = 0x7E00 };
enum : uint32_t { ABORT = 1, RESET = 2 };
enum : uint32_t { COMMAND_LOAD = 0, COMMAND_RUN = 1, COMMAND_DUMP = 2 };

struct Beat { Bytes data, keep; bool last; };

struct Random {
    uint64_t state;
    uint32_t next() {
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        return uint32_t(state >> 16);
    }
    int below(int most) { return most > 0 ? int(next() % uint32_t(most)) : 0; }
    bool percent(int share) { return below(100) < share; }
};

struct Case {
    std::map<std::string, uint32_t> registers;
    Words load;
    std::vector<Words> units, results;
    std::vector<std::vector<std::pair<int64_t, int64_t>>> dumps;
    int64_t dump_words;

    explicit Case(const char *path) {
        std::ifstream file(path);
        int64_t count, size, at, word;
        std::string name;
        for (file >> count; count--;) { file >> name >> at; registers[name] = uint32_t(at); }
        auto words = [&](Words &into) { for (file >> size; size--;) { file >> word; into.push_back(word); } };
        words(load);
        for (auto *lists : {&units, &results})
            for (file >> count; count--;) { lists->emplace_back(); words(lists->back()); }
        for (file >> dump_words >> count; count--;) {
            dumps.emplace_back();
            for (file >> size; size--;) { file >> at >> word; dumps.back().emplace_back(at, word); }
        }
        if (!file) { std::fprintf(stderr, "the case cannot be read\n"); std::exit(2); }
    }
};

static std::string doing;  // what is being tried

[[noreturn]] static void wrong(uint64_t cycle, const std::string &text) {
    std::fprintf(stderr, "cycle %llu, %s: %s\n", (unsigned long long)cycle, doing.c_str(), text.c_str());
    std::exit(1);
}

// The ports, a cycle at a time. The streams go on in every cycle; the control port is played by `read` and `write`.
struct Ports {
    Design top;
    Random chance;
    uint64_t cycle = 0, beats = 0;
    std::deque<Beat> queue;             // beats to be sent
    uint64_t allowed = 0;               // how many of them may be sent now
    bool offered = false, opened = false;
    int gaps_in = 0, gaps_out = 0;      // percent
    Bytes packet;
    std::deque<Bytes> packets;          // what has been received
    bool reset = false;
    struct { bool aw = false, w = false, b = false, ar = false, r = false; uint32_t address = 0, data = 0, strobe = 0; } lite;
    bool aw_fires = false, w_fires = false, b_fires = false, ar_fires = false, r_fires = false;
    uint32_t answer = 0, word = 0;
    bool m_held = false, b_held = false, r_held = false;
    Bytes m_before;

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
    void drive() {
        if (!offered && !queue.empty() && allowed && !chance.percent(gaps_in)) offered = true;
        Bytes data(BUS_BYTES), keep(BUS_BYTES);
        bool last = chance.next() & 1;
        for (auto &byte : data) byte = uint8_t(chance.next());
        if (offered) { data = queue.front().data; keep = queue.front().keep; last = queue.front().last; }
        uint32_t piece[PIECES], kept[KEEPS];
        for (int n = 0; n < PIECES; ++n)
            piece[n] = data[4 * n] | data[4 * n + 1] << 8 | data[4 * n + 2] << 16 | uint32_t(data[4 * n + 3]) << 24;
        for (int n = 0; n < KEEPS; ++n) kept[n] = 0;
        for (int n = 0; n < BUS_BYTES; ++n) kept[n / 32] |= uint32_t(keep[n]) << n % 32;
#define SET(NAME, BITS, VALUE) top.NAME = cxxrtl::value<BITS>{uint32_t(VALUE)}
        SET_DATA
        SET_KEEP
        SET(p_in__valid, 1, offered);
        SET(p_in__last, 1, last);
        SET(p_aresetn, 1, !reset);
        SET(p_awvalid, 1, lite.aw); SET(p_wvalid, 1, lite.w); SET(p_bready, 1, lite.b);
        SET(p_arvalid, 1, lite.ar); SET(p_rready, 1, lite.r);
        SET(p_awaddr, 12, lite.aw ? lite.address : chance.next() & 0xFFF);
        SET(p_araddr, 12, lite.ar ? lite.address : chance.next() & 0xFFF);
        SET(p_wdata, 32, lite.w ? lite.data : chance.next());
        SET(p_wstrb, 4, lite.w ? lite.strobe : chance.next() & 15);
    }
    void tick() {
        drive();
        bool ready = !chance.percent(gaps_out);
        SET(p_out__ready, 1, ready);
        settle();
        uint32_t piece[PIECES], kept[KEEPS];
        GET_DATA
        GET_KEEP
        bool valid = number(top.p_out__valid), last = number(top.p_out__last);
        Bytes now{uint8_t(last)};
        for (int n = 0; n < BUS_BYTES; ++n) now.push_back(uint8_t(piece[n / 4] >> 8 * (n % 4)));
        for (int n = 0; n < BUS_BYTES; ++n) now.push_back(kept[n / 32] >> n % 32 & 1);
        if (m_held && (!valid || now != m_before)) wrong(cycle, "m_axis took back what it offered");
        m_before = now;
        m_held = valid && !ready && !reset;
        if (valid && ready && !reset) receive(now, last);
        if (offered && number(top.p_in__ready) && !reset) {
            opened = !queue.front().last;
            queue.pop_front();
            offered = false;
            if (allowed) --allowed;
            ++beats;
        }
        control();
        edge();
    }
    void receive(const Bytes &beat, bool last) {
        int count = 0;
        for (int n = 0; n < BUS_BYTES; ++n) {
            if (!beat[1 + BUS_BYTES + n]) continue;
            if (n != count++) wrong(cycle, "TKEEP of m_axis has a hole");
            packet.push_back(beat[1 + n]);
        }
        if (!count || count % CONTAINER_BYTES) wrong(cycle, "TKEEP of m_axis has no whole containers");
        if (!last && count != BUS_BYTES) wrong(cycle, "a beat of m_axis before the last one is not full");
        if (last) { packets.push_back(packet); packet.clear(); }
    }
    void control() {
        bool valid_b = number(top.p_bvalid), valid_r = number(top.p_rvalid);
        if ((b_held && !valid_b) || (r_held && !valid_r)) wrong(cycle, "s_axil took back an answer");
        aw_fires = lite.aw && number(top.p_awready);
        w_fires = lite.w && number(top.p_wready);
        ar_fires = lite.ar && number(top.p_arready);
        b_fires = lite.b && valid_b;
        r_fires = lite.r && valid_r;
        b_held = valid_b && !lite.b && !reset;
        r_held = valid_r && !lite.r && !reset;
        if (b_fires) answer = uint32_t(number(top.p_bresp));
        if (r_fires) { answer = uint32_t(number(top.p_rresp)); word = uint32_t(number(top.p_rdata)); }
    }
    // Both return the answer: 0, or 2 for SLVERR.
    uint32_t write(uint32_t address, uint32_t data, uint32_t strobe = 15) {
        lite.address = address; lite.data = data; lite.strobe = strobe;
        int wait_a = chance.below(3), wait_w = chance.below(3), wait_b = chance.below(3), waited = 0;
        bool gone_a = false, gone_w = false;
        for (;;) {
            lite.aw = !gone_a && wait_a-- <= 0;
            lite.w = !gone_w && wait_w-- <= 0;
            lite.b = gone_a && gone_w && wait_b-- <= 0;
            tick();
            gone_a |= aw_fires;
            gone_w |= w_fires;
            if (b_fires) { lite.b = false; return answer; }
            if (gone_a && gone_w && ++waited > 12) wrong(cycle, "no answer to a write within 8 cycles");
        }
    }
    uint32_t read(uint32_t address) {
        lite.address = address;
        int wait = chance.below(3), waited = 0;
        bool gone = false;
        for (;;) {
            lite.ar = !gone;
            lite.r = gone && wait-- <= 0;
            tick();
            gone |= ar_fires;
            if (r_fires) { lite.r = false; return answer; }
            if (gone && ++waited > 12) wrong(cycle, "no answer to a read within 8 cycles");
        }
    }
    void send(const std::vector<Beat> &sent) {
        queue.assign(sent.begin(), sent.end());
        allowed = ~uint64_t(0);
    }
    void forget() { queue.clear(); offered = opened = false; allowed = 0; }
};

#include "host.h"

int main(int, char **words) {
    // The design holds all memories: too large for the stack.
    static Case given(words[1]);
    Host *host = new Host(given, std::strtoull(words[2], nullptr, 10));
    host->play(std::strtoull(words[3], nullptr, 10));
    host->report();
    return 0;
}
