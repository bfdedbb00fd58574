/* A platform of the driver: the simulated wrapper, and what can be wrong with it. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "tabla.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fault {
    NO_FAULT,
    NO_CLOCK,       /* nothing answers */
    ALL_ONES,       /* reads bring ones, as from a device that has gone */
    SHORT_PACKET,   /* the packet ends one beat early */
    LATE_LAST,      /* two beats more come before TLAST */
    NO_LAST,        /* TLAST never comes */
    NOTHING_SENT,   /* the sender says that it has sent, and has not */
    SENDER_FAILS,   /* the sender says that it has failed */
    HOLE,           /* a byte of the second beat is absent */
    OUT_OF_RANGE,   /* the second container is no word of the format */
    NOBODY_TAKES,   /* the receiver is not armed */
    FEW_RECEIVED,   /* the receiver says that a beat less has come */
    GOES_AWAY,      /* the device reads as ones from the moment when it is sent to */
    HARD_RESET,     /* the device is reset when it has been sent half of its words */
    SENDER_RESET,   /* the sender stops inside the packet, whose rest never comes */
    RECEIVER_RESET, /* the receiver is not armed, and stays so */
    SWAPPED         /* the bytes of each container come in the other order */
};

void platform_fault(enum fault fault);
void platform_open(struct tabla_port *port);
void platform_close(void);
uint64_t platform_cycles(void);
/* From now on a pause waits for the interrupt, and gives up after 5,000 cycles. */
void platform_interrupt(struct tabla_port *port);
/* The pauses that the interrupt has ended, and those that were given up. */
unsigned platform_woken(void), platform_missed(void);
/* The level of the interrupt. */
int platform_level(void);

#ifdef __cplusplus
}
#endif
#endif
