// The platform of platform.h: the wrapper in Verilator, one clock cycle at a time.
#include <cstring>
#include <vector>

#include "Vtop.h"
#include "platform.h"
#include "verilated.h"

static Vtop *top;
static enum fault fault;
static uint64_t cycles;
static std::vector<uint8_t> packet;
static bool armed, arrived;
static size_t room;
static unsigned woken, missed;

static const unsigned BEAT = BUS_BITS / 8;

template <typename Port> static uint8_t *bytes_of(Port &port) { return reinterpret_cast<uint8_t *>(&port); }

static void cycle()
{
    // Outputs are registers: what is offered before the edge is taken at the edge.
    top->m_axis_tready = armed && fault != NOBODY_TAKES && fault != RECEIVER_RESET;
    top->aclk = 0;
    top->eval();
    if (top->m_axis_tvalid && top->m_axis_tready) {
        for (unsigned byte = 0; byte < BEAT; byte++)
            if ((uint64_t)top->m_axis_tkeep >> byte & 1)
                packet.push_back(bytes_of(top->m_axis_tdata)[byte]);
        if (top->m_axis_tlast) {
            armed = false;
            arrived = true;
        }
    }
    top->aclk = 1;
    top->eval();
    cycles++;
}

static int read32(void *, uint32_t offset, uint32_t *word)
{
    if (fault == NO_CLOCK)
        return 1;
    top->s_axil_araddr = offset;
    top->s_axil_arvalid = 1;
    top->s_axil_rready = 1;
    for (int wait = 0; wait < 20; wait++) {
        const bool taken = top->s_axil_arready, answered = top->s_axil_rvalid;
        *word = top->s_axil_rdata;
        const int refused = top->s_axil_rresp;
        cycle();
        if (taken)
            top->s_axil_arvalid = 0;
        if (answered) {
            top->s_axil_rready = 0;
            if (fault == ALL_ONES)
                *word = 0xFFFFFFFFu;
            return refused;
        }
    }
    return 1;
}

static int write32(void *, uint32_t offset, uint32_t word)
{
    if (fault == NO_CLOCK)
        return 1;
    top->s_axil_awaddr = offset;
    top->s_axil_wdata = word;
    top->s_axil_wstrb = 15;
    top->s_axil_awvalid = top->s_axil_wvalid = top->s_axil_bready = 1;
    for (int wait = 0; wait < 20; wait++) {
        const bool address = top->s_axil_awready, data = top->s_axil_wready, answered = top->s_axil_bvalid;
        const int refused = top->s_axil_bresp;
        cycle();
        if (address)
            top->s_axil_awvalid = 0;
        if (data)
            top->s_axil_wvalid = 0;
        if (answered) {
            top->s_axil_bready = 0;
            return refused;
        }
    }
    return 1;
}

static void reset()
{
    top->aresetn = 0;
    cycle();
    top->aresetn = 1;
}

static int send(void *, const void *data, size_t size)
{
    if (fault == NOTHING_SENT)
        return 0;
    if (fault == GOES_AWAY)
        fault = ALL_ONES;
    if (fault == SENDER_FAILS)
        return 1;
    size_t beats = (size + BEAT - 1) / BEAT;
    std::vector<uint8_t> bytes(static_cast<const uint8_t *>(data), static_cast<const uint8_t *>(data) + size);
    if (fault == OUT_OF_RANGE)
        bytes[2 * CONTAINER - 1] ^= 0x40;
    if (fault == SWAPPED)
        for (size_t at = 0; at < size; at += CONTAINER)
            for (size_t byte = 0; byte < CONTAINER / 2; byte++)
                std::swap(bytes[at + byte], bytes[at + CONTAINER - 1 - byte]);
    if (fault == SHORT_PACKET)
        bytes.resize(--beats * BEAT);
    if (fault == LATE_LAST)
        bytes.resize((beats += 2) * BEAT);
    for (size_t beat = 0; beat < beats; beat++) {
        uint64_t keep = 0;
        std::memset(bytes_of(top->s_axis_tdata), 0, BEAT);
        for (unsigned byte = 0; byte < BEAT && beat * BEAT + byte < bytes.size(); byte++) {
            bytes_of(top->s_axis_tdata)[byte] = bytes[beat * BEAT + byte];
            keep |= (uint64_t)1 << byte;
        }
        top->s_axis_tkeep = fault == HOLE && beat == 1 ? keep & ~(uint64_t)2 : keep;
        top->s_axis_tlast = beat + 1 == beats && fault != NO_LAST;
        top->s_axis_tvalid = 1;
        for (int wait = 0;; wait++) {
            if (wait == 20000) {
                top->s_axis_tvalid = 0;
                return 1;
            }
            const bool taken = top->s_axis_tready;
            cycle();
            if (taken)
                break;
        }
        if (fault == HARD_RESET && beat == beats / 2) {
            reset();
            break;
        }
        if (fault == SENDER_RESET && beat == beats / 2) {
            top->s_axis_tvalid = 0;
            return 1;
        }
    }
    top->s_axis_tvalid = 0;
    return 0;
}

static int receive(void *, void *data, size_t size, size_t *received)
{
    if (!received) {
        packet.clear();
        room = size;
        armed = true;
        arrived = false;
        return 0;
    }
    for (int wait = 0; !arrived && wait < 1000; wait++)
        cycle();
    if (!arrived || packet.size() > room)
        return 1;
    if (fault == FEW_RECEIVED)
        packet.resize(packet.size() - BEAT);
    std::memcpy(data, packet.data(), packet.size());
    *received = packet.size();
    return 0;
}

static void pause_between(void *)
{
    for (int wait = 0; wait < 8; wait++)
        cycle();
}

// Verilator takes `interrupt` for a word of C++, and gives the port another name.
static bool level() { return top->__SYM__interrupt; }

static void wait_for_interrupt(void *)
{
    for (int wait = 0; wait < 5000; wait++) {
        if (level()) {
            woken++;
            return;
        }
        cycle();
    }
    missed++;
}

void platform_interrupt(struct tabla_port *port) { port->pause = wait_for_interrupt; }

unsigned platform_woken(void) { return woken; }

unsigned platform_missed(void) { return missed; }

int platform_level(void)
{
    // The level follows the registers a cycle later.
    cycle();
    return level();
}

void platform_fault(enum fault wanted)
{
    // A host that mends its platform also cancels what its DMA has not done yet, as a packet without an end.
    if (fault == NO_LAST && wanted == NO_FAULT) {
        top->s_axis_tkeep = 1;
        top->s_axis_tvalid = top->s_axis_tlast = 1;
        for (int wait = 0; wait < 100; wait++) {
            const bool taken = top->s_axis_tready;
            cycle();
            if (taken)
                top->s_axis_tvalid = 0;
        }
        top->s_axis_tvalid = 0;
    }
    armed = wanted == NO_FAULT && fault != RECEIVER_RESET;
    fault = wanted;
}

void platform_open(struct tabla_port *port)
{
    top = new Vtop;
    top->aresetn = 1;
    top->s_axis_tvalid = top->s_axil_awvalid = top->s_axil_wvalid = top->s_axil_arvalid = 0;
    top->s_axil_bready = top->s_axil_rready = 0;
    cycle();
    reset();
    const struct tabla_port made = {nullptr, read32, write32, send, receive, pause_between};
    *port = made;
}

void platform_close(void)
{
    top->final();
    delete top;
}

uint64_t platform_cycles(void) { return cycles; }

double sc_time_stamp() { return 0; }
