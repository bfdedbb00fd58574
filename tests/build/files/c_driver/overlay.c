/* Brings two programs to one overlay with the driver, in turn, and wrong images between them.
 *
 *   main IN OUT IN OUT   IN and OUT of FIRST, then those of SECOND, as main.c has them, for one epoch.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arrays.h"
#include "platform.h"

struct side {
    const struct tabla_program *program;
    uint32_t units;
    int32_t *models[16], *inputs[16], *results[16], *dumped[16];
    FILE *out;
};

static struct side sides[2] = {{.program = &FIRST}, {.program = &SECOND}};
static struct tabla_device device;

static void want(const char *what, int code, int wanted)
{
    if (code != wanted) {
        printf("%s: %d %s\n", what, code, tabla_text(code));
        exit(1);
    }
}

static void release(int32_t *words[])
{
    for (int at = 0; at < 16; at++)
        free(words[at]);
}

static void tell(FILE *out, const struct tabla_unit *unit, uint32_t count, int32_t *words[])
{
    for (uint32_t at = 0; at < unit->tensors; at++)
        fwrite(words[at], sizeof **words, (size_t)count * unit->tensor[at].size, out);
}

static void open_side(struct side *side, const char *in_name, const char *out_name)
{
    uint32_t epochs;
    FILE *in = fopen(in_name, "rb");
    side->out = fopen(out_name, "wb");
    if (!in || !side->out || fread(&epochs, 4, 1, in) != 1 || fread(&side->units, 4, 1, in) != 1)
        exit(2);
    arrays(&side->program->load, 1, side->models, in);
    arrays(&side->program->sample, side->units, side->inputs, in);
    arrays(&side->program->result, side->units, side->results, NULL);
    arrays(&side->program->dump, 1, side->dumped, NULL);
    fclose(in);
}

static void epoch(struct side *side)
{
    want("load", tabla_load(&device, (const int32_t *const *)side->models), TABLA_OK);
    want("run", tabla_run(&device, side->units, (const int32_t *const *)side->inputs, side->results), TABLA_OK);
}

static void dump(struct side *side)
{
    want("dump", tabla_dump(&device, side->dumped), TABLA_OK);
    tell(side->out, &side->program->dump, 1, side->dumped);
}

/* What is refused leaves the program before, with its models. */
static void refused(const struct side *side)
{
    struct tabla_program other = *side->program;
    struct tabla_image image = *side->program->image;
    uint32_t *words = malloc(image.words * sizeof *words);
    for (uint32_t at = 0; at < image.words; at++)
        words[at] = image.word[at] ^ (at == image.words / 2);
    device.program = &other;
    other.image = NULL;
    want("a program that is built in", tabla_bring(&device), TABLA_NO_OVERLAY);
    other.image = &image;
    image.overlay ^= 1;
    want("another overlay", tabla_bring(&device), TABLA_OTHER_OVERLAY);
    image.overlay ^= 1;
    image.word = words;
    want("a flipped bit", tabla_bring(&device), TABLA_NO_IMAGE);
    image.words /= 2;
    want("half an image", tabla_bring(&device), TABLA_NO_IMAGE);
    want("no program", tabla_reset(&device), TABLA_OTHER_PROGRAM);
    free(words);
}

int main(int count, char **words)
{
    if (count != 5)
        return 2;
    device.send_bytes = device.receive_bytes = BUFFER;
    device.send_buffer = malloc(device.send_bytes);
    device.receive_buffer = malloc(device.receive_bytes);
    device.patience = 500;
    platform_open(&device.port);
    open_side(&sides[0], words[1], words[2]);
    open_side(&sides[1], words[3], words[4]);
    for (int turn = 0; turn < 4; turn++) {
        struct side *side = &sides[turn % 2];
        device.program = side->program;
        want("before the image", tabla_reset(&device), TABLA_OTHER_PROGRAM);
        want("bring", tabla_bring(&device), TABLA_OK);
        want("models of the program before", tabla_dump(&device, side->dumped), TABLA_NOT_LOADED);
        epoch(side);
        refused(&sides[1 - turn % 2]);
        device.program = side->program;
        dump(side);
        want("reset", tabla_reset(&device), TABLA_OK);
        epoch(side);
        dump(side);
    }
    for (int at = 0; at < 2; at++) {
        struct side *side = &sides[at];
        tell(side->out, &side->program->result, side->units, side->results);
        fclose(side->out);
        release(side->models);
        release(side->inputs);
        release(side->results);
        release(side->dumped);
    }
    free(device.send_buffer);
    free(device.receive_buffer);
    platform_close();
    return 0;
}
