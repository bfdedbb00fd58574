"""The constraint files of boards, which assign the bits of ports to pins."""

from __future__ import annotations

from collections.abc import Mapping

from tabla.templates.targets import Board

Ports = Mapping[str, tuple[str, ...]]


def constraint_file(form: str, board: Board, ports: Ports) -> str:
    """Return the constraint file of a board in the form ``lpf``, ``cst`` or ``pcf``.

    `ports` gives the pin of each bit of each port of the top module. Another form is a ValueError.
    """
    match form:
        case "lpf":
            lines = _lpf(board, ports)
        case "cst":
            lines = _cst(board, ports)
        case "pcf":
            lines = _pcf(board, ports)
        case _:
            raise ValueError(f"no constraint files of form '{form}'")
    comment = "//" if form == "cst" else "#"
    return "\n".join([f"{comment} {board.title}. Made by tabla.", *lines]) + "\n"


def _bits(ports: Ports) -> list[tuple[str, str, str]]:
    """Return, for each bit of each port, the port, the name that nextpnr has for the bit, and the pin."""
    return [
        (name, f"{name}[{bit}]" if len(pins) > 1 else name, pin)
        for name, pins in ports.items()
        for bit, pin in enumerate(pins)
    ]


def _io_type(board: Board, port: str) -> str:
    return {"lights": board.led_io_type, "button": board.reset_io_type}.get(port, board.io_type)


def _pull(board: Board, port: str) -> str:
    """Return the pull resistor of a port, which sets the level of an input that nothing drives.

    A serial line that is cut then has the level that it has between bytes.
    """
    match port:
        case "button":
            return "UP" if board.reset_low else "DOWN"
        case "receive":
            return "UP"
        case _:
            return "NONE"


def _lpf(board: Board, ports: Ports) -> list[str]:
    lines = [*board.constraints, f'FREQUENCY PORT "clock" {board.clock_hertz / 1e6:g} MHZ;']
    for port, bit, pin in _bits(ports):
        lines.append(f'LOCATE COMP "{bit}" SITE "{pin}";')
        lines.append(f'IOBUF PORT "{bit}" IO_TYPE={_io_type(board, port)} PULLMODE={_pull(board, port)};')
    return lines


def _cst(board: Board, ports: Ports) -> list[str]:
    lines = list(board.constraints)
    for port, bit, pin in _bits(ports):
        lines.append(f'IO_LOC "{bit}" {pin};')
        lines.append(f'IO_PORT "{bit}" IO_TYPE={_io_type(board, port)} PULL_MODE={_pull(board, port)};')
    return lines


def _pcf(board: Board, ports: Ports) -> list[str]:
    lines = list(board.constraints)
    for port, bit, pin in _bits(ports):
        # The pads of these chips have only one voltage standard, and either a pull-up or no resistor.
        lines.append(f"set_io {'-pullup yes ' if _pull(board, port) == 'UP' else ''}{bit} {pin}")
    return lines
