/* The arrays of a test, and their file. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <stdio.h>
#include <stdlib.h>

#include "tabla.h"

/* Makes the arrays of all tensors of `count` units. They are read from `in`, or are 0 where that is NULL. */
static void arrays(const struct tabla_unit *unit, uint32_t count, int32_t *words[], FILE *in)
{
    for (uint32_t at = 0; at < unit->tensors; at++) {
        const size_t size = (size_t)count * unit->tensor[at].size;
        words[at] = calloc(size, sizeof **words);
        if (in && fread(words[at], sizeof **words, size, in) != size)
            exit(2);
    }
}

#endif /* ARRAYS_H */
