/*
 * tabla.c - the driver that tabla.h describes.
 *
 * Order of a command: clear DONE and the errors of STATUS, arm the receiver,
 * enable the interrupt if there is a pause, write COMMAND, send, wait until BUSY
 * is 0, put the interrupt back, look at the errors, take what was received. The
 * order is that of docs/host-bus.md.
 */
#include "tabla.h"

#define ERRORS                                                                                          \
    (TABLA_STATUS_SHORT_MASK | TABLA_STATUS_LONG_MASK | TABLA_STATUS_KEEP_MASK | TABLA_STATUS_RANGE_MASK | \
     TABLA_STATUS_COUNT_ZERO_MASK | TABLA_STATUS_NOT_LOADED_MASK)
#define EVENTS (TABLA_STATUS_OVERFLOW_MASK | TABLA_STATUS_DOMAIN_MASK)
#define ENABLES (TABLA_CONTROL_IRQ_DONE_MASK | TABLA_CONTROL_IRQ_ERROR_MASK)

enum command { LOAD = 0, RUN = 1, DUMP = 2, PROGRAM = 4, PREDICT = 5 };

/* Whether a command takes units of samples. */
static int takes_samples(enum command command)
{
    return command == RUN || command == PREDICT;
}

/* What PROGRAM_STATUS says of an image that was right. */
#define IMAGE_RUNS 2u

static int read_register(struct tabla_device *device, uint32_t offset, uint32_t *word)
{
    return device->port.read32(device->port.context, offset, word) ? TABLA_NO_ANSWER : TABLA_OK;
}

static int write_register(struct tabla_device *device, uint32_t offset, uint32_t word)
{
    return device->port.write32(device->port.context, offset, word) ? TABLA_NO_ANSWER : TABLA_OK;
}

static void pause_between(struct tabla_device *device)
{
    if (device->port.pause)
        device->port.pause(device->port.context);
}

/* Read which interrupts are enabled. */
static int read_enables(struct tabla_device *device, uint32_t *enables)
{
    const int code = read_register(device, TABLA_CONTROL_OFFSET, enables);
    *enables &= ENABLES;
    return code;
}

/* Write the bits `asked` of CONTROL, and leave the interrupts as they are. */
static int control(struct tabla_device *device, uint32_t asked)
{
    uint32_t enables = 0;
    const int code = read_enables(device, &enables);
    return code ? code : write_register(device, TABLA_CONTROL_OFFSET, enables | asked);
}

/* Enable the interrupt of DONE for a pause that waits for it; *before are the
 * interrupts to put back. IRQ_ERROR would rise before the end of a command, and
 * every pause would return at once from then on. */
static int begin_waiting(struct tabla_device *device, uint32_t *before)
{
    int code = TABLA_OK;
    if (device->port.pause)
        code = read_enables(device, before);
    if (!code && device->port.pause)
        code = write_register(device, TABLA_CONTROL_OFFSET, *before | TABLA_CONTROL_IRQ_DONE_MASK);
    return code;
}

/* Put the interrupts back after a command that has ended with `code`, which is returned unless it was TABLA_OK and this
 * fails. */
static int end_waiting(struct tabla_device *device, uint32_t before, int code)
{
    const int put = device->port.pause ? write_register(device, TABLA_CONTROL_OFFSET, before) : TABLA_OK;
    return code ? code : put;
}

/* A device that has gone reads as ones or zeros, so its STATUS means nothing. */
static int check_presence(struct tabla_device *device)
{
    uint32_t id = 0;
    const int code = read_register(device, TABLA_ID_OFFSET, &id);
    return code || id == TABLA_ID_RESET ? code : TABLA_NO_ANSWER;
}

/* --------------------------------------------------------------- packing --- */

/* Whether a tensor is left out: a prediction does without those that no result depends on. */
static int leaves_out(const struct tabla_tensor *tensor, int predicts)
{
    return predicts && tensor->ignored;
}

/* Check the words of `units` units against the format. */
static int check_words(struct tabla_device *device, const struct tabla_unit *unit, uint32_t units, int predicts,
                       const int32_t *const words[])
{
    const int64_t end = (int64_t)1 << (device->program->width - 1);
    for (uint32_t number = 0; number < unit->tensors; number++) {
        const struct tabla_tensor *tensor = &unit->tensor[number];
        if (leaves_out(tensor, predicts))
            continue;
        if (!words || !words[number])
            return TABLA_BAD_ARGUMENT;
        for (uint32_t at = 0; at < units; at++)
            for (uint32_t element = 0; element < tensor->size; element++) {
                const int32_t word = words[number][(size_t)at * tensor->size + element];
                if (word < -end || word >= end) {
                    device->where_tensor = tensor->name;
                    device->where_unit = at;
                    device->where_element = element;
                    return TABLA_BAD_VALUE;
                }
            }
    }
    return TABLA_OK;
}

/* Write a word into its container, lowest byte first, on hosts of either byte order. */
static void put(const struct tabla_program *program, uint8_t *unit, uint32_t container, int32_t word)
{
    const uint32_t bits = (uint32_t)word;
    for (uint32_t byte = 0; byte < program->container_bytes; byte++)
        unit[(size_t)container * program->container_bytes + byte] = (uint8_t)(bits >> (8 * byte));
}

/* Read the word of a container, with its sign. */
static int32_t get(const struct tabla_program *program, const uint8_t *unit, uint32_t container)
{
    const uint32_t sign = (uint32_t)1 << (8 * program->container_bytes - 1);
    uint32_t bits = 0;
    for (uint32_t byte = 0; byte < program->container_bytes; byte++)
        bits |= (uint32_t)unit[(size_t)container * program->container_bytes + byte] << (8 * byte);
    return (int32_t)((int64_t)(bits ^ sign) - (int64_t)sign);
}

/* Pack unit `at` of a call into the buffer. */
static void pack(const struct tabla_program *program, const struct tabla_unit *unit, uint8_t *buffer, int predicts,
                 const int32_t *const words[], size_t at)
{
    for (uint32_t container = 0; container < unit->containers; container++)
        put(program, buffer, container, unit->words ? unit->words[container] : 0);
    for (uint32_t number = 0; number < unit->tensors; number++) {
        const struct tabla_tensor *tensor = &unit->tensor[number];
        for (uint32_t copy = 0; copy < tensor->copies && !leaves_out(tensor, predicts); copy++)
            for (uint32_t element = 0; element < tensor->size; element++)
                put(program, buffer, tensor->places[(size_t)copy * tensor->size + element],
                    words[number][at * tensor->size + element]);
    }
}

/* Unpack the buffer into unit `at` of a call. */
static void unpack(const struct tabla_program *program, const struct tabla_unit *unit, const uint8_t *buffer,
                   int32_t *const words[], size_t at)
{
    for (uint32_t number = 0; words && number < unit->tensors; number++) {
        const struct tabla_tensor *tensor = &unit->tensor[number];
        for (uint32_t element = 0; words[number] && element < tensor->size; element++)
            words[number][at * tensor->size + element] = get(program, buffer, tensor->places[element]);
    }
}

static size_t unit_bytes(const struct tabla_program *program, const struct tabla_unit *unit)
{
    return (size_t)unit->containers * program->container_bytes;
}

/* The bytes of whole beats; a packet has one beat at least. */
static size_t whole_beats(const struct tabla_program *program, size_t bytes)
{
    const size_t beats = (bytes + program->beat_bytes - 1) / program->beat_bytes;
    return (beats ? beats : 1) * program->beat_bytes;
}

/* -------------------------------------------------------------- commands --- */

/* Say why a command does not come to its end. Two looks at the counters of
 * waiting tell which side of the array waits. */
static int cause(struct tabla_device *device, enum command command, uint32_t units)
{
    uint32_t status = 0, samples = 0, in[2] = {0, 0}, out[2] = {0, 0};
    int code = check_presence(device);
    for (int look = 0; !code && look < 2; look++) {
        code = read_register(device, TABLA_WAIT_IN_OFFSET, &in[look]);
        if (!code)
            code = read_register(device, TABLA_WAIT_OUT_OFFSET, &out[look]);
        pause_between(device);
    }
    if (!code)
        code = read_register(device, TABLA_SAMPLES_OFFSET, &samples);
    if (!code)
        code = read_register(device, TABLA_STATUS_OFFSET, &status);
    if (code)
        return code;
    if (!(status & TABLA_STATUS_BUSY_MASK))
        return status & TABLA_STATUS_DONE_MASK ? TABLA_STUCK : TABLA_WAS_RESET;
    if (out[0] != out[1])
        return TABLA_WANTS_ROOM;
    if (status & ERRORS)
        return TABLA_OPEN_PACKET;
    if (in[0] != in[1])
        return TABLA_WANTS_INPUT;
    /* All words have left the array, and the last beat of the packet is not taken. */
    if (command == DUMP || (takes_samples(command) && samples == units && device->program->result.containers))
        return TABLA_WANTS_ROOM;
    return TABLA_STUCK;
}

/* Wait until the command ends; SAMPLES that moves is progress. */
static int wait_for_end(struct tabla_device *device, enum command command, uint32_t units)
{
    uint32_t status = 0, samples = 0, before = 0;
    for (uint32_t look = 0; look < device->patience; look++) {
        int code = read_register(device, TABLA_STATUS_OFFSET, &status);
        if (!code && !(status & TABLA_STATUS_BUSY_MASK) && (status & TABLA_STATUS_DONE_MASK))
            return TABLA_OK;
        if (!code && takes_samples(command))
            code = read_register(device, TABLA_SAMPLES_OFFSET, &samples);
        if (code)
            return code;
        if (samples != before)
            look = 0;
        before = samples;
        pause_between(device);
    }
    return cause(device, command, units);
}

static int code_of(uint32_t status)
{
    if (status & TABLA_STATUS_NOT_LOADED_MASK)
        return TABLA_NOT_LOADED;
    if (status & TABLA_STATUS_RANGE_MASK)
        return TABLA_RANGE;
    if (status & TABLA_STATUS_KEEP_MASK)
        return TABLA_KEEP;
    if (status & TABLA_STATUS_SHORT_MASK)
        return TABLA_SHORT;
    if (status & TABLA_STATUS_LONG_MASK)
        return TABLA_LONG;
    return status & TABLA_STATUS_COUNT_ZERO_MASK ? TABLA_BAD_ARGUMENT : TABLA_OK;
}

/* Look whether the device can take a command, and write all registers but COMMAND. */
static int prepare(struct tabla_device *device, enum command command, uint32_t units)
{
    uint32_t status = 0;
    int code = check_presence(device);
    if (!code)
        code = read_register(device, TABLA_STATUS_OFFSET, &status);
    if (!code && (status & TABLA_STATUS_BUSY_MASK))
        code = TABLA_BUSY;
    /* The packets of a refused command stay where they are, so this is looked at before. */
    if (!code && command != LOAD && !(status & TABLA_STATUS_LOADED_MASK))
        code = TABLA_NOT_LOADED;
    if (!code)
        code = write_register(device, TABLA_STATUS_OFFSET,
                              TABLA_STATUS_DONE_MASK | ERRORS | (command == LOAD ? EVENTS : 0));
    if (!code && takes_samples(command))
        code = write_register(device, TABLA_COUNT_OFFSET, units);
    if (!code && takes_samples(command))
        code = write_register(device, TABLA_RESULT_UNITS_OFFSET, 0);
    return code;
}

/* Write COMMAND, send the packet of so many bytes, and wait for the end. */
static int command_and_send(struct tabla_device *device, enum command command, uint32_t units, size_t sent)
{
    const struct tabla_port *port = &device->port;
    int code = write_register(device, TABLA_COMMAND_OFFSET, (uint32_t)command);
    if (!code && sent && port->send(port->context, device->send_buffer, sent)) {
        code = cause(device, command, units);
        /* A device that wants words has not been given them. */
        return code == TABLA_WANTS_ROOM || code == TABLA_NO_ANSWER || code == TABLA_WAS_RESET ? code : TABLA_NOT_SENT;
    }
    return code ? code : wait_for_end(device, command, units);
}

/* Carry out a command: send `sent` bytes of the one buffer, and receive at most
 * `room` bytes into the other one; *received are those that came. */
static int carry_out(struct tabla_device *device, enum command command, uint32_t units, size_t sent, size_t room,
                     size_t *received)
{
    const struct tabla_port *port = &device->port;
    uint32_t status = 0, before = 0;
    int code = prepare(device, command, units);
    *received = 0;
    if (!code && room && port->receive(port->context, device->receive_buffer, room, NULL))
        code = TABLA_NOT_RECEIVED;
    if (!code)
        code = begin_waiting(device, &before);
    if (code)
        return code;
    code = end_waiting(device, before, command_and_send(device, command, units, sent));
    if (code)
        return code;
    if (room && port->receive(port->context, device->receive_buffer, room, received))
        return TABLA_NOT_RECEIVED;
    code = read_register(device, TABLA_STATUS_OFFSET, &status);
    return code ? code : code_of(status & ERRORS);
}

/* Look whether the caller has set all members, and whether the device is of tabla. */
static int greet(struct tabla_device *device, uint32_t *version)
{
    uint32_t id = 0;
    if (!device || !device->program || !device->port.read32 || !device->port.write32 || !device->port.send ||
        !device->port.receive || !device->send_buffer || !device->receive_buffer || !device->patience)
        return TABLA_BAD_ARGUMENT;
    int code = read_register(device, TABLA_ID_OFFSET, &id);
    if (!code)
        code = read_register(device, TABLA_VERSION_OFFSET, version);
    if (code)
        return code;
    if (id != TABLA_ID_RESET)
        return TABLA_OTHER_DEVICE;
    if ((*version & TABLA_VERSION_MAJOR_MASK) != (TABLA_VERSION_RESET & TABLA_VERSION_MAJOR_MASK))
        return TABLA_OTHER_VERSION;
    return TABLA_OK;
}

/* Wait until BUSY is 0. *rests says whether it became so. */
static int wait_for_rest(struct tabla_device *device, int *rests)
{
    uint32_t status = 0;
    int code = TABLA_OK;
    *rests = 0;
    for (uint32_t look = 0; !code && !*rests && look < device->patience; look++) {
        code = read_register(device, TABLA_STATUS_OFFSET, &status);
        *rests = !code && !(status & TABLA_STATUS_BUSY_MASK);
        if (!code && !*rests)
            pause_between(device);
    }
    return code;
}

/* Take the end of a packet that the device has begun to send, for which nobody has armed a receiver. */
static int take_end(struct tabla_device *device, int *rests)
{
    const struct tabla_port *port = &device->port;
    const uint32_t beat = device->program->beat_bytes;
    const size_t room = device->receive_bytes / beat * beat;
    size_t received;
    if (!room)
        return TABLA_SMALL_BUFFER;
    if (port->receive(port->context, device->receive_buffer, room, NULL))
        return TABLA_NOT_RECEIVED;
    const int code = wait_for_rest(device, rests);
    if (code || !*rests)
        return code;
    return port->receive(port->context, device->receive_buffer, room, &received) ? TABLA_NOT_RECEIVED : TABLA_OK;
}

/* Reset the array, and wait until it rests. RESET swallows a packet that has begun to its TLAST. If TLAST does not
 * come, because the DMA that was sending has been reset, too, ABORT ends the swallowing. */
static int reset_array(struct tabla_device *device)
{
    int rests = 0;
    int code = control(device, TABLA_CONTROL_RESET_MASK);
    if (!code)
        code = wait_for_rest(device, &rests);
    if (!code && !rests) {
        code = control(device, TABLA_CONTROL_ABORT_MASK);
        if (!code)
            code = wait_for_rest(device, &rests);
    }
    if (!code && !rests)
        code = take_end(device, &rests);
    if (!code && !rests)
        code = TABLA_STUCK;
    return code ? code : write_register(device, TABLA_STATUS_OFFSET, TABLA_STATUS_DONE_MASK | ERRORS | EVENTS);
}

int tabla_reset(struct tabla_device *device)
{
    uint32_t version = 0, fingerprint = 0;
    int code = greet(device, &version);
    if (!code)
        code = read_register(device, TABLA_FINGERPRINT_OFFSET, &fingerprint);
    if (code)
        return code;
    return fingerprint == device->program->fingerprint ? reset_array(device) : TABLA_OTHER_PROGRAM;
}

/* Write the words of an image after its command, and look what has become of it. */
static int send_image(struct tabla_device *device, const struct tabla_image *image)
{
    uint32_t status = 0, before = 0;
    int code = begin_waiting(device, &before);
    if (code)
        return code;
    code = write_register(device, TABLA_COMMAND_OFFSET, PROGRAM);
    for (uint32_t at = 0; !code && at < image->words; at++)
        code = write_register(device, TABLA_PROGRAM_DATA_OFFSET, image->word[at]);
    for (uint32_t look = 0; !code && !(status & TABLA_STATUS_DONE_MASK); look++) {
        code = look < device->patience ? read_register(device, TABLA_STATUS_OFFSET, &status) : TABLA_NO_IMAGE;
        if (!code && !(status & TABLA_STATUS_DONE_MASK))
            pause_between(device);
    }
    code = end_waiting(device, before, code);
    if (code) {
        /* The loader waits for words that never come, and no command can be given. */
        control(device, TABLA_CONTROL_ABORT_MASK);
        return code;
    }
    code = read_register(device, TABLA_PROGRAM_STATUS_OFFSET, &status);
    return code || (status & TABLA_PROGRAM_STATUS_CODE_MASK) == IMAGE_RUNS ? code : TABLA_NO_IMAGE;
}

int tabla_bring(struct tabla_device *device)
{
    const struct tabla_image *image;
    uint32_t version = 0, mark = 0, status = 0;
    int code = greet(device, &version);
    if (code)
        return code;
    image = device->program->image;
    /* An accelerator with one program answers the next register with an error. Of those that do not predict, the
     * version says so beforehand. */
    if (!image || !(version & TABLA_VERSION_MINOR_MASK))
        return TABLA_NO_OVERLAY;
    if (read_register(device, TABLA_OVERLAY_FINGERPRINT_OFFSET, &mark))
        return check_presence(device) ? TABLA_NO_ANSWER : TABLA_NO_OVERLAY;
    if (mark != image->overlay)
        return TABLA_OTHER_OVERLAY;
    code = read_register(device, TABLA_STATUS_OFFSET, &status);
    /* A command that nobody ends any more, of whatever program. */
    if (!code && (status & TABLA_STATUS_BUSY_MASK))
        code = reset_array(device);
    if (!code)
        code = write_register(device, TABLA_STATUS_OFFSET, TABLA_STATUS_DONE_MASK);
    if (!code)
        code = send_image(device, image);
    return code ? code : write_register(device, TABLA_STATUS_OFFSET, TABLA_STATUS_DONE_MASK);
}

int tabla_load(struct tabla_device *device, const int32_t *const models[])
{
    const struct tabla_program *program = device->program;
    const struct tabla_unit *unit = &program->load;
    const size_t bytes = unit_bytes(program, unit);
    size_t received;
    const int code = check_words(device, unit, 1, 0, models);
    if (code)
        return code;
    if (bytes > device->send_bytes)
        return TABLA_SMALL_BUFFER;
    pack(program, unit, device->send_buffer, 0, models, 0);
    return carry_out(device, LOAD, 1, bytes, 0, &received);
}

/* The units that one command can have: as many as both buffers hold. */
static size_t units_of_run(const struct tabla_device *device, size_t sent, size_t made)
{
    const struct tabla_program *program = device->program;
    const size_t room = device->receive_bytes / program->beat_bytes * program->beat_bytes;
    const size_t in = sent ? device->send_bytes / sent : UINT32_MAX;
    const size_t out = made ? room / made : UINT32_MAX;
    return in < out ? in : out;
}

/* Run units with RUN or PREDICT, as many commands as it takes. */
static int run_units(struct tabla_device *device, enum command command, int predicts, uint32_t units,
                     const int32_t *const inputs[], int32_t *const results[])
{
    const struct tabla_program *program = device->program;
    const size_t sent = unit_bytes(program, &program->sample), made = unit_bytes(program, &program->result);
    const size_t most = units_of_run(device, sent, made);
    device->samples = 0;
    int code = check_words(device, &program->sample, units, predicts, inputs);
    if (code)
        return code;
    if (!most)
        return TABLA_SMALL_BUFFER;
    while (!code && device->samples < units) {
        const uint32_t left = units - device->samples, count = left < most ? left : (uint32_t)most;
        const size_t room = made ? whole_beats(program, count * made) : 0;
        const uint32_t first = device->samples;
        uint32_t finished = 0;
        size_t received;
        for (uint32_t at = 0; at < count; at++)
            pack(program, &program->sample, device->send_buffer + at * sent, predicts, inputs, (size_t)first + at);
        code = carry_out(device, command, count, count * sent, room, &received);
        if (code == TABLA_NO_ANSWER || read_register(device, TABLA_SAMPLES_OFFSET, &finished))
            return TABLA_NO_ANSWER;
        /* Only a command that has ended, be it with an error, has sent its results. */
        if (code && (code > TABLA_SHORT || code < TABLA_RANGE))
            return code;
        if (received < finished * made)
            return TABLA_SHORT_RECEIVED;
        for (uint32_t at = 0; at < finished && at < count; at++)
            unpack(program, &program->result, device->receive_buffer + at * made, results, (size_t)first + at);
        device->samples += finished;
        if (!code && finished != count)
            code = TABLA_STUCK;
    }
    return code;
}

int tabla_run(struct tabla_device *device, uint32_t units, const int32_t *const inputs[], int32_t *const results[])
{
    return run_units(device, RUN, 0, units, inputs, results);
}

int tabla_predict(struct tabla_device *device, uint32_t units, const int32_t *const inputs[], int32_t *const results[])
{
    const uint32_t command = device->program->predict;
    device->samples = 0;
    return command ? run_units(device, (enum command)command, 1, units, inputs, results) : TABLA_NO_PREDICTION;
}

int tabla_dump(struct tabla_device *device, int32_t *const models[])
{
    const struct tabla_program *program = device->program;
    const size_t bytes = unit_bytes(program, &program->dump), room = whole_beats(program, bytes);
    size_t received;
    if (room > device->receive_bytes)
        return TABLA_SMALL_BUFFER;
    const int code = carry_out(device, DUMP, 0, 0, room, &received);
    if (code)
        return code;
    if (received < bytes)
        return TABLA_SHORT_RECEIVED;
    unpack(program, &program->dump, device->receive_buffer, models, 0);
    return TABLA_OK;
}

/* ----------------------------------------------------------------- words --- */

static const struct {
    uint32_t mask;
    const char *sentence;
} bits[] = {
    {TABLA_STATUS_BUSY_MASK, "BUSY: a command or a reset is under way."},
    {TABLA_STATUS_LOADED_MASK, "LOADED: the models are those of a whole load."},
    {TABLA_STATUS_DONE_MASK, "DONE: a command has ended."},
    {TABLA_STATUS_SHORT_MASK, "SHORT: a packet ended inside a unit; send whole units and TLAST with the last word."},
    {TABLA_STATUS_LONG_MASK, "LONG: a packet went on after the last unit; send no more units than COUNT says."},
    {TABLA_STATUS_KEEP_MASK, "KEEP: bytes of a packet were absent; only trailing containers of its last beat may be."},
    {TABLA_STATUS_RANGE_MASK, "RANGE: a container was no sign-extended word of the format; check width and byte order."},
    {TABLA_STATUS_COUNT_ZERO_MASK, "COUNT_ZERO: a RUN or a PREDICT had no units; write COUNT first."},
    {TABLA_STATUS_NOT_LOADED_MASK, "NOT_LOADED: a command came before a LOAD that succeeded; load first."},
    {TABLA_STATUS_OVERFLOW_MASK, "OVERFLOW: a result was too large for the format and was saturated."},
    {TABLA_STATUS_DOMAIN_MASK, "DOMAIN: a function had an argument outside its domain."},
};

int tabla_status(struct tabla_device *device, struct tabla_state *state)
{
    uint32_t low = 0, high = 0;
    const struct {
        uint32_t offset;
        uint32_t *word;
    } wanted[] = {
        {TABLA_STATUS_OFFSET, &state->status},
        {TABLA_SAMPLES_OFFSET, &state->samples},
        {TABLA_CYCLES_LO_OFFSET, &low}, /* latches the upper half */
        {TABLA_CYCLES_HI_OFFSET, &high},
        {TABLA_WAIT_IN_OFFSET, &state->wait_in},
        {TABLA_WAIT_OUT_OFFSET, &state->wait_out},
        {TABLA_LANE_OVERFLOWS_OFFSET, &state->lane_overflows},
        {TABLA_ROOT_OVERFLOWS_OFFSET, &state->root_overflows},
        {TABLA_DOMAIN_ERRORS_OFFSET, &state->domain_errors},
    };
    for (size_t number = 0; number < sizeof wanted / sizeof *wanted; number++)
        if (read_register(device, wanted[number].offset, wanted[number].word))
            return TABLA_NO_ANSWER;
    state->cycles = (uint64_t)high << 32 | low;
    state->said = 0;
    for (size_t number = 0; number < sizeof bits / sizeof *bits; number++)
        if (state->status & bits[number].mask)
            state->sentences[state->said++] = bits[number].sentence;
    return TABLA_OK;
}

const char *tabla_text(int code)
{
    static const char *const texts[TABLA_CODES] = {
        "TABLA_OK: it worked.",
        "TABLA_BAD_ARGUMENT: a pointer or a number is missing; set every member of the device, and give every tensor.",
        "TABLA_SMALL_BUFFER: a buffer does not hold one unit; <NAME>_SEND_BYTES and <NAME>_RECEIVE_BYTES are the least.",
        "TABLA_BAD_VALUE: a word is outside the number format; where_tensor, where_unit and where_element say which.",
        "TABLA_NO_ANSWER: a register could not be read or written; check the address, the clock and the reset.",
        "TABLA_OTHER_DEVICE: there is no accelerator of tabla at this address; check the address and the bitstream.",
        "TABLA_OTHER_VERSION: the device has another interface; take tabla.c and tabla.h from its build folder.",
        "TABLA_OTHER_PROGRAM: the device has another program, format or array; take its own header, or tabla_bring.",
        "TABLA_BUSY: a command before has not ended; cancel packets that wait, and call tabla_reset.",
        "TABLA_NOT_SENT: the platform could not send; look at the DMA, and call tabla_reset.",
        "TABLA_NOT_RECEIVED: the platform could not receive; look at the DMA, and call tabla_reset.",
        "TABLA_SHORT_RECEIVED: fewer bytes came than the units have; check that the receiver stops at TLAST only.",
        "TABLA_WANTS_INPUT: the array waits for words that do not come; look at the DMA that sends.",
        "TABLA_WANTS_ROOM: the device has words that nobody takes; arm the receiver before the command.",
        "TABLA_OPEN_PACKET: the device swallows a packet to its TLAST, which does not come; let the DMA set TLAST.",
        "TABLA_WAS_RESET: the device rests and has not ended the command; it has been reset. Load again.",
        "TABLA_STUCK: the device did not end the command, and nothing says why; call tabla_reset.",
        "TABLA_SHORT: a packet ended inside a unit; look at the length that the DMA was given.",
        "TABLA_LONG: a packet went on after the last unit, or had no TLAST; look at the DMA.",
        "TABLA_KEEP: bytes of a packet were absent; look at the data width converters before the device.",
        "TABLA_RANGE: a word came outside the number format; look at the byte order and at the caches.",
        "TABLA_NOT_LOADED: the device has no models; call tabla_load.",
        "TABLA_NO_OVERLAY: the device has one program that is built in, or the header is of such a device.",
        "TABLA_OTHER_OVERLAY: the image is for another overlay; write the header with gen --onto its folder.",
        "TABLA_NO_IMAGE: the overlay has not taken the image, and goes on with the program before; bring it again.",
        "TABLA_NO_PREDICTION: the program learns, and its device does not predict; name results with gen --result.",
    };
    return code <= 0 && code > -TABLA_CODES ? texts[-code] : "unknown code: it is none of enum tabla_code.";
}
