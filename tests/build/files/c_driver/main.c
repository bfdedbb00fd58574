/* Trains with the driver, and plays faults. The header of the accelerator comes with -include, its program as PROGRAM.
 *
 *   main train IN OUT   IN has int32: epochs, units, then the arrays of a load and of the samples. OUT gets those of the
 *                       dump after each epoch, then those of the results of the last epoch.
 *   main swapped IN OUT does so while the platform swaps the bytes of each container that it sends.
 *   main woken IN OUT   does so with a pause that waits for the interrupt. OUT is as for `train`.
 *   main predict IN OUT trains, and then predicts without the tensors that a prediction ignores. OUT gets another dump
 *                       behind those of the epochs, and the results of the prediction.
 *   main faults IN OUT  plays each fault, resets, and trains for an epoch; OUT is as above, with a dump for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "platform.h"

static struct tabla_device device;
static int32_t *models[16], *inputs[16], *results[16], *dumped[16];
static uint32_t epochs, units;
static FILE *out;

static void fail(const char *what, int code)
{
    printf("%s: %d %s\n", what, code, tabla_text(code));
    exit(1);
}

static void need(const char *what, int code)
{
    if (code)
        fail(what, code);
}

static void tell(const struct tabla_unit *unit, uint32_t count, int32_t *words[])
{
    for (uint32_t at = 0; at < unit->tensors; at++)
        fwrite(words[at], sizeof **words, (size_t)count * unit->tensor[at].size, out);
}

static int train(void)
{
    int code = tabla_load(&device, (const int32_t *const *)models);
    if (!code)
        code = tabla_run(&device, units, (const int32_t *const *)inputs, results);
    return code ? code : tabla_dump(&device, dumped);
}

static void epoch(void)
{
    need("run", tabla_run(&device, units, (const int32_t *const *)inputs, results));
    if (device.samples != units)
        fail("samples", (int)device.samples);
    need("dump", tabla_dump(&device, dumped));
    tell(&PROGRAM.dump, 1, dumped);
}

/* What must come of a fault, and what must be said. `loads` says that the fault is in the load. */
static void play(const char *name, enum fault fault, int wanted, int at_load)
{
    struct tabla_state state;
    need("reset", tabla_reset(&device));
    if (!at_load)
        need("load", tabla_load(&device, (const int32_t *const *)models));
    platform_fault(fault);
    const uint64_t began = platform_cycles();
    const int code = at_load ? train() : tabla_run(&device, units, (const int32_t *const *)inputs, results);
    printf("%s: %s (%lu cycles, %u units)\n", name, tabla_text(code), (unsigned long)(platform_cycles() - began),
           (unsigned)device.samples);
    if (code != wanted)
        fail("another code", code);
    platform_fault(NO_FAULT);
    need("status", tabla_status(&device, &state));
    for (uint32_t at = 0; at < state.said; at++)
        printf("  %s\n", state.sentences[at]);
    need("reset", tabla_reset(&device));
    need("load", tabla_load(&device, (const int32_t *const *)models));
    epoch();
}

/* Compute the results without the labels. The models are those of the last epoch. */
static void predict(void)
{
    const int32_t *needed[16] = {NULL};
    for (uint32_t at = 0; at < PROGRAM.sample.tensors; at++)
        needed[at] = PROGRAM.sample.tensor[at].ignored ? NULL : inputs[at];
    need("predict", tabla_predict(&device, units, needed, results));
    if (device.samples != units)
        fail("samples of a prediction", (int)device.samples);
    need("dump", tabla_dump(&device, dumped));
    tell(&PROGRAM.dump, 1, dumped);
    static struct tabla_program other;
    other = PROGRAM;
    other.predict = 0;
    device.program = &other;
    if (tabla_predict(&device, units, needed, results) != TABLA_NO_PREDICTION || device.samples)
        fail("no prediction", (int)device.samples);
    device.program = &PROGRAM;
    if (tabla_run(&device, units, needed, results) != TABLA_BAD_ARGUMENT)
        fail("run without labels", 0);
}

static uint32_t enables(void)
{
    uint32_t word = 0;
    need("control", device.port.read32(device.port.context, TABLA_CONTROL_OFFSET, &word));
    return word;
}

static void no_interrupt(const char *what)
{
    if (platform_level())
        fail(what, 1);
}

/* Every command ends with the interrupt, which is low again behind it. What the host enables itself stays. */
static void wake(void)
{
    const uint32_t both = TABLA_CONTROL_IRQ_DONE_MASK | TABLA_CONTROL_IRQ_ERROR_MASK;
    need("reset", tabla_reset(&device));
    const unsigned before = platform_missed();
    need("load", tabla_load(&device, (const int32_t *const *)models));
    no_interrupt("load");
    for (uint32_t at = 0; at < epochs; at++) {
        epoch();
        no_interrupt("epoch");
    }
    printf("woken %u times, %u times not\n", platform_woken(), platform_missed() - before);
    if (enables())
        fail("interrupts of the driver", (int)enables());
    need("control", device.port.write32(device.port.context, TABLA_CONTROL_OFFSET, both));
    need("reset", tabla_reset(&device));
    if (enables() != both)
        fail("interrupts after a reset", (int)enables());
    need("load", tabla_load(&device, (const int32_t *const *)models));
    if (enables() != both || !platform_level())
        fail("interrupts of the host", (int)enables());
}

static void values(void)
{
    const int32_t end = (int32_t)1 << (PROGRAM.width - 1), before = inputs[0][units - 1];
    inputs[0][units - 1] = end;
    const int code = tabla_run(&device, units, (const int32_t *const *)inputs, results);
    if (code != TABLA_BAD_VALUE || strcmp(device.where_tensor, PROGRAM.sample.tensor[0].name) || device.samples)
        fail("value", code);
    if (device.where_unit * PROGRAM.sample.tensor[0].size + device.where_element != units - 1)
        fail("where", (int)device.where_unit);
    inputs[0][units - 1] = before;
}

static void faults(void)
{
    static struct tabla_program other;
    struct tabla_state state;
    other = PROGRAM;
    other.fingerprint++;
    device.program = &other;
    if (tabla_reset(&device) != TABLA_OTHER_PROGRAM)
        fail("fingerprint", 0);
    device.program = &PROGRAM;
    platform_fault(NO_CLOCK);
    if (tabla_reset(&device) != TABLA_NO_ANSWER || tabla_status(&device, &state) != TABLA_NO_ANSWER)
        fail("no clock", 0);
    platform_fault(ALL_ONES);
    if (tabla_reset(&device) != TABLA_OTHER_DEVICE)
        fail("all ones", 0);
    platform_fault(NO_FAULT);
    need("reset", tabla_reset(&device));
    if (tabla_run(&device, units, (const int32_t *const *)inputs, results) != TABLA_NOT_LOADED)
        fail("not loaded", 0);
    if (tabla_dump(&device, dumped) != TABLA_NOT_LOADED)
        fail("dump, not loaded", 0);
    values();
    const size_t room = device.send_bytes;
    device.send_bytes = 1;
    if (tabla_load(&device, (const int32_t *const *)models) != TABLA_SMALL_BUFFER)
        fail("buffer", 0);
    device.send_bytes = room;
    play("short load", SHORT_PACKET, TABLA_SHORT, 1);
    play("late last of a load", LATE_LAST, TABLA_LONG, 1);
    play("short run", SHORT_PACKET, TABLA_SHORT, 0);
    play("late last", LATE_LAST, TABLA_LONG, 0);
    play("no last", NO_LAST, TABLA_OPEN_PACKET, 0);
    play("hole", HOLE, TABLA_KEEP, 0);
    play("range", OUT_OF_RANGE, TABLA_RANGE, 0);
    play("swapped bytes", SWAPPED, TABLA_RANGE, 0);
    play("nothing sent", NOTHING_SENT, TABLA_WANTS_INPUT, 0);
    play("sender fails", SENDER_FAILS, TABLA_NOT_SENT, 0);
    play("nobody takes", NOBODY_TAKES, TABLA_WANTS_ROOM, 0);
    play("few received", FEW_RECEIVED, TABLA_SHORT_RECEIVED, 0);
    play("sender is reset in a load", SENDER_RESET, TABLA_NOT_SENT, 1);
    play("sender is reset", SENDER_RESET, TABLA_NOT_SENT, 0);
    play("receiver is reset", RECEIVER_RESET, TABLA_WANTS_ROOM, 0);
    play("hard reset", HARD_RESET, TABLA_WAS_RESET, 0);
    play("gone", ALL_ONES, TABLA_NO_ANSWER, 0);
    play("goes away", GOES_AWAY, TABLA_NO_ANSWER, 0);
    for (int code = 1; code > -TABLA_CODES - 1; code--)
        if (strncmp(tabla_text(code), code > 0 || code <= -TABLA_CODES ? "unknown" : "TABLA_", 6))
            fail("text", code);
}

int main(int count, char **words)
{
    FILE *in = count == 4 ? fopen(words[2], "rb") : NULL;
    out = count == 4 ? fopen(words[3], "wb") : NULL;
    if (!in || !out || fread(&epochs, 4, 1, in) != 1 || fread(&units, 4, 1, in) != 1)
        return 2;
    arrays(&PROGRAM.load, 1, models, in);
    arrays(&PROGRAM.sample, units, inputs, in);
    arrays(&PROGRAM.result, units, results, NULL);
    arrays(&PROGRAM.dump, 1, dumped, NULL);
    fclose(in);
    device.program = &PROGRAM;
    /* Buffers that hold some units, but not all: so several RUNs follow each other. */
    device.send_bytes = device.receive_bytes = BUFFER;
    device.send_buffer = malloc(device.send_bytes);
    device.receive_buffer = malloc(device.receive_bytes);
    device.patience = 500;
    platform_open(&device.port);
    if (!strcmp(words[1], "faults"))
        faults();
    else if (!strcmp(words[1], "woken")) {
        platform_interrupt(&device.port);
        wake();
    } else {
        struct tabla_state state;
        platform_fault(strcmp(words[1], "swapped") ? NO_FAULT : SWAPPED);
        need("reset", tabla_reset(&device));
        need("load", tabla_load(&device, (const int32_t *const *)models));
        for (uint32_t at = 0; at < epochs; at++)
            epoch();
        if (!strcmp(words[1], "predict"))
            predict();
        need("status", tabla_status(&device, &state));
        if (state.status & (TABLA_STATUS_BUSY_MASK | TABLA_STATUS_RANGE_MASK) || state.said < 2)
            fail("status", (int)state.status);
        printf("%u events of overflow\n", (unsigned)(state.lane_overflows + state.root_overflows));
    }
    tell(&PROGRAM.result, units, results);
    int32_t **all[] = {models, inputs, results, dumped};
    for (int kind = 0; kind < 4; kind++)
        for (int at = 0; at < 16; at++)
            free(all[kind][at]);
    free(device.send_buffer);
    free(device.receive_buffer);
    fclose(out);
    platform_close();
    return 0;
}
