// The platform of platform.h: a SoC of LiteX in Verilator, whose bus the test drives as a processor would.
#include <cstring>

#include "Vtop.h"
#include "platform.h"
#include "soc.h"
#include "verilated.h"

static Vtop *top;
static enum fault fault;
static uint64_t cycles;
static size_t armed;

static const unsigned BEAT = BUS_BITS / 8;
static const uint32_t SEND_AT = MAIN_RAM, RECEIVE_AT = MAIN_RAM + 0x8000;

static void cycle()
{
    top->clock = 0;
    top->eval();
    top->clock = 1;
    top->eval();
    cycles++;
}

// A transfer on the Wishbone bus; 0 if it was acknowledged.
static int transfer(uint32_t address, bool write, uint32_t *word)
{
    top->host_adr = address / 4;
    top->host_we = write;
    top->host_dat_w = *word;
    top->host_sel = 15;
    top->host_cyc = top->host_stb = 1;
    for (int wait = 0; wait < 10000; wait++) {
        top->clock = 0;
        top->eval();
        const bool ack = top->host_ack, err = top->host_err;
        const uint32_t read = top->host_dat_r;
        cycle();
        if (ack || err) {
            top->host_cyc = top->host_stb = 0;
            cycle();
            if (!write)
                *word = read;
            return err;
        }
    }
    return 1;
}

static int put(uint32_t address, uint32_t word) { return transfer(address, true, &word); }

static uint32_t get(uint32_t address)
{
    uint32_t word = 0;
    return transfer(address, false, &word) ? 0 : word;
}

static int read32(void *, uint32_t offset, uint32_t *word) { return transfer(ACCELERATOR + offset, false, word); }

static int write32(void *, uint32_t offset, uint32_t word) { return put(ACCELERATOR + offset, word); }

// A DMA: the base is a CSR of 64 bits, whose upper half comes first.
static void start(uint32_t base_csr, uint32_t length_csr, uint32_t enable_csr, uint32_t base, size_t bytes)
{
    put(enable_csr, 0);
    put(base_csr, 0);
    put(base_csr + 4, base);
    put(length_csr, (uint32_t)((bytes + BEAT - 1) / BEAT * BEAT));
    put(enable_csr, 1);
}

static int send(void *, const void *data, size_t size)
{
    const uint8_t *bytes = static_cast<const uint8_t *>(data);
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word = 0;
        for (size_t byte = 0; byte < 4 && at + byte < size; byte++)
            word |= (uint32_t)bytes[at + byte] << 8 * (fault == SWAPPED ? 3 - byte : byte);
        put(SEND_AT + (uint32_t)at, word);
    }
    start(CSR + ACCELERATOR_READER_BASE, CSR + ACCELERATOR_READER_LENGTH, CSR + ACCELERATOR_READER_ENABLE, SEND_AT, size);
    for (int wait = 0; wait < 100000; wait++)
        if (get(CSR + ACCELERATOR_READER_DONE))
            return 0;
    return 1;
}

static int receive(void *, void *data, size_t size, size_t *received)
{
    if (!received) {
        armed = size;
        start(CSR + ACCELERATOR_WRITER_BASE, CSR + ACCELERATOR_WRITER_LENGTH, CSR + ACCELERATOR_WRITER_ENABLE, RECEIVE_AT,
              size);
        return 0;
    }
    for (int wait = 0; !get(CSR + ACCELERATOR_WRITER_DONE); wait++)
        if (wait == 1000)
            return 1;
    *received = (size_t)get(CSR + ACCELERATOR_WRITER_OFFSET) * BEAT;
    for (size_t at = 0; at < *received && at < armed; at += 4) {
        const uint32_t word = get(RECEIVE_AT + (uint32_t)at);
        for (size_t byte = 0; byte < 4; byte++)
            static_cast<uint8_t *>(data)[at + byte] = (uint8_t)(word >> 8 * byte);
    }
    return 0;
}

void platform_fault(enum fault wanted) { fault = wanted; }

void platform_open(struct tabla_port *port)
{
    top = new Vtop;
    top->reset = 1;
    for (int wait = 0; wait < 4; wait++)
        cycle();
    top->reset = 0;
    const struct tabla_port made = {nullptr, read32, write32, send, receive, nullptr};
    *port = made;
}

void platform_close(void)
{
    top->final();
    delete top;
}

// The interrupt of a SoC without a processor leads nowhere.
void platform_interrupt(struct tabla_port *) {}
unsigned platform_woken(void) { return 0; }
unsigned platform_missed(void) { return 0; }
int platform_level(void) { return 0; }

uint64_t platform_cycles(void) { return cycles; }

double sc_time_stamp() { return 0; }
