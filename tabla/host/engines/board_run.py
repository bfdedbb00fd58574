"""A simulated board: its RTL, from the pins of the serial line on, behind a pseudo-terminal instead of the line.

A program of C++ around the board carries bytes between a file descriptor and the serial line.
"""

from __future__ import annotations

import os
import subprocess
import tty
from types import TracebackType
from typing import Self

from tabla.host.engines.cxxrtl_run import build
from tabla.hw.board.core import BoardCore
from tabla.hw.emit import component_verilog, verilog
from tabla.hw.overlay.board import OverlayCore
from tabla.program.image import Image
from tabla.program.overlay import Overlay

DRIVER = r"""
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <poll.h>
#include <unistd.h>
#include <vector>
#include "design.h"

using Design = cxxrtl_design::DESIGN;

template<size_t Bits> static uint64_t number(const cxxrtl::value<Bits> &v) { return v.template get<uint64_t>(); }
template<size_t Bits> static uint64_t number(const cxxrtl::wire<Bits> &w) { return w.curr.template get<uint64_t>(); }

// Standard input and output are the host's end of the line; the line itself is played bit by bit.
struct Board {
    Design top;
    unsigned divisor;
    std::deque<uint8_t> to_board;
    std::vector<uint8_t> to_host;
    unsigned send_bits = 0, send_time = 0, send_shift = 0;
    unsigned take_bits = 0, take_time = 0, take_shift = 0;
    uint64_t quiet = 0;

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
    }
    void reset() {
        top.p_receive = cxxrtl::value<1>{1u};
        top.p_rst = cxxrtl::value<1>{1u};
        for (int i = 0; i < 4; ++i) { settle(); edge(); }
        top.p_rst = cxxrtl::value<1>{0u};
    }
    unsigned line_to_board() {
        if (send_time) { --send_time; return send_bits ? send_shift & 1 : 1; }
        if (send_bits) { --send_bits; send_shift >>= 1; }
        if (!send_bits) {
            if (to_board.empty()) return 1;
            send_shift = 0x200 | unsigned(to_board.front()) << 1;
            to_board.pop_front();
            send_bits = 10;
        }
        send_time = divisor - 1;
        quiet = 0;
        return send_shift & 1;
    }
    void line_from_board(unsigned level) {
        if (!take_bits) {
            if (level) return;
            take_bits = 10;
            take_time = divisor / 2;
        }
        if (take_time) { --take_time; return; }
        take_time = divisor - 1;
        take_shift = take_shift >> 1 | level << 9;
        if (!--take_bits) {
            if (level) to_host.push_back(uint8_t(take_shift >> 1));
            quiet = 0;
        }
    }
    void run(unsigned cycles) {
        for (unsigned i = 0; i < cycles; ++i) {
            top.p_receive = cxxrtl::value<1>{line_to_board()};
            settle();
            line_from_board(unsigned(number(top.p_transmit)));
            edge();
            ++quiet;
        }
    }
};

int main(int, char **argv) {
    // The design holds all memories: too large for the stack.
    Board *board = new Board;
    board->divisor = unsigned(std::atoi(argv[1]));
    board->reset();
    uint8_t bytes[4096];
    while (true) {
        if (board->to_board.size() < sizeof bytes) {
            // A board that nobody talks to leaves the processor to others.
            pollfd ready = {0, POLLIN, 0};
            int wait = board->quiet > 200000 && board->to_board.empty() ? 5 : 0;
            if (poll(&ready, 1, wait) > 0) {
                ssize_t count = read(0, bytes, sizeof bytes);
                if (count <= 0 && errno != EAGAIN && errno != EINTR) return 0;
                for (ssize_t i = 0; i < count; ++i) board->to_board.push_back(bytes[i]);
            }
        }
        board->run(256);
        size_t done = 0;
        while (done < board->to_host.size()) {
            ssize_t count = write(1, board->to_host.data() + done, board->to_host.size() - done);
            if (count < 0 && errno != EAGAIN && errno != EINTR) return 0;
            if (count > 0) done += size_t(count);
        }
        board->to_host.clear();
    }
}
"""


class SimulatedBoard:
    """A board that runs from the start of a ``with`` block to its end; a host opens `path` as its serial line.

    A bit of the line lasts `divisor` cycles. A real board has more of them; fewer make the line faster and change
    nothing else. `memory` is the block RAM of the chip in bits. The PLL of the clock, pads and pins are not simulated.
    It needs the tools of engine ``cxxrtl``, and a missing one is a TablaError.
    """

    def __init__(
        self, image: Image | Overlay, module: str, *, divisor: int = 4, clock: int = 25_000_000, memory: int = 0
    ) -> None:
        overlay = isinstance(image, Overlay)
        kind = OverlayCore if overlay else BoardCore
        core = kind(image=image, accelerator=module, divisor=divisor, clock=clock, memory=memory)
        name, text = f"{module}_board", verilog(image, module, stoppable=overlay)
        self._simulator = build(text + component_verilog(core, name), name, DRIVER)
        self._divisor = divisor

    def __enter__(self) -> Self:
        master, self._slave = os.openpty()
        # This end stays open, so that hosts may come and go.
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        self._process = subprocess.Popen(
            [str(self._simulator), str(self._divisor)], stdin=master, stdout=master, close_fds=True
        )
        os.close(master)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._slave)
