/*
 * tabla.h - a driver for accelerators that tabla has written with --bus axi.
 *
 * C99, no allocation, no operating system, no floating point. The driver needs
 * four functions of the platform (struct tabla_port) and two buffers (struct
 * tabla_device). <name>.h describes one accelerator (struct tabla_program).
 *
 *   function        what it does
 *   --------------  ----------------------------------------------------------
 *   tabla_bring     brings the program to an overlay, which takes one after another
 *   tabla_reset     checks that the device is the program's, and resets it
 *   tabla_load      loads constants and models; counters of events begin at 0
 *   tabla_run       learns from samples, or computes results of samples
 *   tabla_predict   computes results of samples, and keeps the models
 *   tabla_dump      reads the models
 *   tabla_status    reads the registers, and says in words what they mean
 *   tabla_text      says in words what a return code means
 *
 * Each function but tabla_text returns TABLA_OK, which is 0, or a negative code
 * of enum tabla_code. Values are checked before anything is sent. All words are
 * int32_t, integers of the number format: a real number times <NAME>_ONE.
 *
 * One device is used by one thread at a time.
 */
#ifndef TABLA_DRIVER_H
#define TABLA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers: @registers@ */
enum tabla_code {
    TABLA_OK = 0,
    TABLA_BAD_ARGUMENT = -1,    /* a pointer is missing */
    TABLA_SMALL_BUFFER = -2,    /* a buffer of the device does not hold one unit */
    TABLA_BAD_VALUE = -3,       /* a word is outside the number format; see where, nothing was sent */
    TABLA_NO_ANSWER = -4,       /* a register could not be read or written */
    TABLA_OTHER_DEVICE = -5,    /* ID is not that of an accelerator of tabla */
    TABLA_OTHER_VERSION = -6,   /* the major version of the interface is another one */
    TABLA_OTHER_PROGRAM = -7,   /* FINGERPRINT is not that of the program */
    TABLA_BUSY = -8,            /* the device does not come to rest; only tabla_reset helps */
    TABLA_NOT_SENT = -9,        /* the platform could not send */
    TABLA_NOT_RECEIVED = -10,   /* the platform could not receive */
    TABLA_SHORT_RECEIVED = -11, /* a packet from the device had another length than its units */
    TABLA_WANTS_INPUT = -12,    /* time-out: the array waits for words that do not come */
    TABLA_WANTS_ROOM = -13,     /* time-out: the device has words that nobody takes */
    TABLA_OPEN_PACKET = -14,    /* time-out: the device waits for TLAST */
    TABLA_WAS_RESET = -15,      /* time-out: the device rests and has not ended the command */
    TABLA_STUCK = -16,          /* time-out of another cause */
    TABLA_SHORT = -17,          /* STATUS.SHORT: TLAST came inside a unit */
    TABLA_LONG = -18,           /* STATUS.LONG: TLAST did not come with the last container */
    TABLA_KEEP = -19,           /* STATUS.KEEP: bytes were absent inside a packet */
    TABLA_RANGE = -20,          /* STATUS.RANGE: a container was no word of the format */
    TABLA_NOT_LOADED = -21,     /* STATUS.NOT_LOADED: no LOAD before RUN or DUMP */
    TABLA_NO_OVERLAY = -22,     /* the device or the program is not for tabla_bring */
    TABLA_OTHER_OVERLAY = -23,  /* OVERLAY_FINGERPRINT is not that of the image */
    TABLA_NO_IMAGE = -24,       /* the overlay has refused the image, or has not taken all of it */
    TABLA_NO_PREDICTION = -25,  /* the program learns, and its device does not take PREDICT */
    TABLA_CODES = 26            /* codes are above -TABLA_CODES */
};

/* The platform. Each function returns 0, or anything else if it has failed. A
 * function that waits has to give up at some time, at the latest after two
 * seconds without progress: the driver then reads the registers and says why. */
struct tabla_port {
    /* Given to each function as it is. */
    void *context;
    /* Read or write a register, `offset` bytes from the base. An error answer
     * of the bus (SLVERR) is a failure. */
    int (*read32)(void *context, uint32_t offset, uint32_t *word);
    int (*write32)(void *context, uint32_t offset, uint32_t word);
    /* Send one packet of so many bytes, with TLAST on its last beat; return
     * when the buffer may be written again. A DMA that sends whole beats may
     * send a part of the next bytes of the buffer; the device ignores them. */
    int (*send)(void *context, const void *data, size_t bytes);
    /* Receive one packet. The function is called twice for it. First with
     * `received` NULL: arm the receiver for a packet of at most so many bytes,
     * and return at once. Then with the same buffer and `received` not NULL:
     * wait until the packet has come, and say how many bytes it had. A DMA
     * that does not count them says `bytes`. */
    int (*receive)(void *context, void *data, size_t bytes, size_t *received);
    /* Called between two looks at STATUS. May be NULL. It sleeps for a
     * millisecond, say, or waits for the interrupt, but no longer than a few
     * milliseconds: a reset, and a command that does not end, raise none. If it
     * is not NULL the driver sets CONTROL.IRQ_DONE while a command is under way,
     * and puts CONTROL back at its end; so `interrupt` is high from the end of a
     * command to that moment. It is a level: its handler masks it, and `pause`
     * unmasks it before it waits. */
    void (*pause)(void *context);
};

/* The elements of a tensor in a unit. Element e, in row-major order, lies in
 * the containers places[c * size + e] for each copy c. No result depends on a
 * tensor that is `ignored`, such as the labels: tabla_predict does without it. */
struct tabla_tensor {
    const char *name;
    uint32_t size;
    uint32_t copies;
    const uint32_t *places;
    uint32_t ignored;
};

/* A unit: one load, the samples of one step, the results of one step, or one
 * dump. `words` are a whole unit, NULL for zeros. */
struct tabla_unit {
    uint32_t containers;
    const int32_t *words;
    uint32_t tensors;
    const struct tabla_tensor *tensor;
};

/* What brings a program to an overlay: the fingerprint of the overlay, and the
 * words of the image. */
struct tabla_image {
    uint32_t overlay;
    uint32_t words;
    const uint32_t *word;
};

/* An accelerator. <name>.h has one. */
struct tabla_program {
    const char *name;
    uint32_t fingerprint;
    uint32_t width;           /* bits of a word */
    uint32_t container_bytes; /* 1, 2 or 4 */
    uint32_t beat_bytes;      /* bytes of a beat of the bus */
    uint32_t predict;         /* the COMMAND of tabla_predict: 5, 1 in a program that does not learn, 0 for none */
    struct tabla_unit load, sample, result, dump;
    const struct tabla_image *image; /* NULL unless the program is for an overlay */
};

/* A device. The caller sets all members above the line before tabla_reset. */
struct tabla_device {
    const struct tabla_program *program;
    struct tabla_port port;
    /* Buffers that `send` and `receive` can use, aligned to a beat of the bus.
     * Many units are run by several commands, each of as many units as the
     * buffers hold. <NAME>_SEND_BYTES and <NAME>_RECEIVE_BYTES are the least. */
    uint8_t *send_buffer;
    size_t send_bytes;
    uint8_t *receive_buffer;
    size_t receive_bytes;
    /* How often STATUS is read without progress before a command is given up.
     * With a pause of a millisecond, 2000 is two seconds. */
    uint32_t patience;
    /* ---------------------------------------------------------------------- */
    /* Units that tabla_run or tabla_predict has finished in its last call. */
    uint32_t samples;
    /* After TABLA_BAD_VALUE: the tensor, the unit of the call, the element. */
    const char *where_tensor;
    uint32_t where_unit, where_element;
};

/* What tabla_status finds. */
struct tabla_state {
    uint32_t status; /* as read; TABLA_STATUS_..._MASK */
    uint32_t samples, wait_in, wait_out;
    uint32_t lane_overflows, root_overflows, domain_errors; /* since LOAD */
    uint64_t cycles;                                        /* of this or the last command */
    /* A sentence for each bit of STATUS that is set, `said` of them. */
    const char *sentences[16];
    uint32_t said;
};

/* Bring the program to an overlay: check ID, VERSION and OVERLAY_FINGERPRINT,
 * and write the image. The device has to be loaded afterwards; there is no need
 * for tabla_reset. Nothing is written to a device that is no overlay or another
 * one. After TABLA_NO_IMAGE the program before goes on, with its models. A device
 * that is BUSY is reset first. */
int tabla_bring(struct tabla_device *device);

/* Check ID, VERSION and FINGERPRINT, reset the array, wait until it rests. The
 * device has to be loaded afterwards. Packets that the platform has not sent
 * yet are to be cancelled before. The rest of a packet that is under way is
 * swallowed to its TLAST. If that does not come within `patience`, as after the
 * reset of a DMA, it is taken as lost. If the device then still has the end of a
 * packet that nobody takes, a receiver is armed for it. The interrupts that are
 * enabled in CONTROL stay so. */
int tabla_reset(struct tabla_device *device);

/* Load. models[i] has the words of tensor i of the program's `load`, see enum
 * <name>_load; none of them may be NULL. */
int tabla_load(struct tabla_device *device, const int32_t *const models[]);

/* Run so many units. inputs[i] has the words of tensor i of `sample` for all
 * units, one after the other; results[i] gets those of tensor i of `result`.
 * results may be NULL, and so may any of its members. After TABLA_SHORT,
 * TABLA_LONG, TABLA_KEEP and TABLA_RANGE device->samples says how many units
 * count, and those have their results. After every other error but
 * TABLA_BAD_VALUE the device has to be reset and loaded. */
int tabla_run(struct tabla_device *device, uint32_t units, const int32_t *const inputs[], int32_t *const results[]);

/* Run so many units, and keep the models as they are. As tabla_run, but
 * inputs[i] of a tensor that is `ignored` may be NULL, and its words are not
 * looked at. The counters of events count only what the results need. In a
 * program that does not learn this is tabla_run. */
int tabla_predict(struct tabla_device *device, uint32_t units, const int32_t *const inputs[], int32_t *const results[]);

/* Read the models: models[i] gets the words of tensor i of `dump`. Any of its
 * members may be NULL. */
int tabla_dump(struct tabla_device *device, int32_t *const models[]);

/* Read the registers. No bit is cleared. */
int tabla_status(struct tabla_device *device, struct tabla_state *state);

/* Return a sentence about a return code, with its cure. Never NULL. */
const char *tabla_text(int code);

#ifdef __cplusplus
}
#endif

#endif /* TABLA_DRIVER_H */
