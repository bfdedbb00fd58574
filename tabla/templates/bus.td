//===- bus.td - the registers of the wrapper for a host's bus ---------------===//
//
// This file is the one source of truth for the control registers that
// `hw/bus/registers.py` builds. templates/bus.py reads it, and the manifest, the
// C header, the page and the SystemRDL description are written from it.
// docs/decisions/0017-host-bus.md explains it.
//
//===------------------------------------------------------------------------===//

#ifndef TABLA_BUS_TD
#define TABLA_BUS_TD

// A field is `Bits` bits of a register, from bit `Bit` up. `Access` is one of
//   ro   read only
//   rw   read and written
//   w1c  read; writing 1 clears the bit
//   wo   written only
//   sc   written; the bit clears itself, and reads as 0
class Field<string name, int low, int size, string access, string description> {
  string Name = name;
  int Bit = low;
  int Bits = size;
  string Access = access;
  string Description = description;
}

// A register of 32 bits at `Offset` bytes. `Access` is what a host may do with
// the register as a whole: an access against it is refused with SLVERR. `Reset`
// is the value of the register after reset; the fields that hold it are its own.
// A register without fields is one number of 32 bits.
class Register<string name, int offset, string access, int reset, string description> {
  string Name = name;
  int Offset = offset;
  string Access = access;
  int Reset = reset;
  string Description = description;
  list<Field> Fields = [];
}

def Id : Register<"ID", 0x000, "ro", 0x4C424154, "the letters TABL, the first in the lowest byte">;
def Version : Register<"VERSION", 0x004, "ro", 0x00010000, "the version of this interface"> {
  let Fields = [
    Field<"MINOR", 0, 16, "ro", "grows with what is added">,
    Field<"MAJOR", 16, 16, "ro", "grows with what changes">,
  ];
}
def Fingerprint : Register<"FINGERPRINT", 0x008, "ro", 0, "of program, number format and array; the manifest has it">;
def Command : Register<"COMMAND", 0x00C, "wo", 0, "starts a command; SLVERR while BUSY and for other codes"> {
  let Fields = [Field<"CODE", 0, 32, "wo", "0 LOAD, 1 RUN, 2 DUMP; 3 and 4 are reserved">];
}
def Count : Register<"COUNT", 0x010, "rw", 0, "the units of the next RUN">;
def ResultUnits : Register<"RESULT_UNITS", 0x014, "rw", 0, "the units in an output packet; 0 for one packet a RUN">;
def Control : Register<"CONTROL", 0x018, "rw", 0, "ends what runs, and enables the interrupt"> {
  let Fields = [
    Field<"ABORT", 0, 1, "sc", "ends a RUN between two units; a unit that has not come whole is dropped">,
    Field<"RESET", 1, 1, "sc", "ends open packets and resets the array">,
    Field<"IRQ_DONE", 8, 1, "rw", "DONE raises the interrupt">,
    Field<"IRQ_ERROR", 9, 1, "rw", "SHORT, LONG, KEEP, RANGE, COUNT_ZERO and NOT_LOADED raise the interrupt">,
  ];
}
def Status : Register<"STATUS", 0x01C, "w1c", 1, "what is under way, and what has happened"> {
  let Fields = [
    Field<"BUSY", 0, 1, "ro", "a command or a reset is under way">,
    Field<"LOADED", 1, 1, "ro", "the models are those of a whole LOAD">,
    Field<"DONE", 8, 1, "w1c", "a command has ended">,
    Field<"SHORT", 9, 1, "w1c", "TLAST came inside a unit">,
    Field<"LONG", 10, 1, "w1c", "TLAST was not on the beat of the command's last container">,
    Field<"KEEP", 11, 1, "w1c", "TKEEP had a hole, part of a container, or nothing">,
    Field<"RANGE", 12, 1, "w1c", "a container was no sign-extended word of the format">,
    Field<"COUNT_ZERO", 13, 1, "w1c", "RUN with COUNT = 0">,
    Field<"NOT_LOADED", 14, 1, "w1c", "RUN or DUMP before LOAD">,
    Field<"OVERFLOW", 15, 1, "w1c", "a result was saturated">,
    Field<"DOMAIN", 16, 1, "w1c", "a function had an argument outside its domain">,
  ];
}
def Samples : Register<"SAMPLES", 0x020, "ro", 0, "the units that are finished in this or the last RUN">;
def CyclesLow : Register<"CYCLES_LO", 0x024, "ro", 0, "cycles of this or the last command; reading latches CYCLES_HI">;
def CyclesHigh : Register<"CYCLES_HI", 0x028, "ro", 0, "the upper half, as it was when CYCLES_LO was read">;
def WaitIn : Register<"WAIT_IN", 0x02C, "ro", 0, "cycles of the command in which the array wanted a word and had none">;
def WaitOut : Register<"WAIT_OUT", 0x030, "ro", 0, "cycles of the command in which the array had a word and no room">;
def LaneOverflows : Register<"LANE_OVERFLOWS", 0x034, "ro", 0, "saturated results of lanes since LOAD">;
def RootOverflows : Register<"ROOT_OVERFLOWS", 0x038, "ro", 0, "saturated results of roots since LOAD">;
def DomainErrors : Register<"DOMAIN_ERRORS", 0x03C, "ro", 0, "arguments outside a function's domain since LOAD">;

// From 0x400 on: registers that only the wrapper of an overlay has. The numbers of
// the overlay follow them from 0x480 on; they are those of `about` in its manifest.
def ProgramStatus : Register<"PROGRAM_STATUS", 0x400, "ro", 0, "what became of the last image"> {
  let Fields = [
    Field<"CODE", 0, 3, "ro", "0 none came, 1 its words are still to come or it was given up, 2 it runs, 3 no image of this form, 4 for another overlay, 5 a command was under way, 6 its CRC is wrong">,
    Field<"PROGRAMMED", 8, 1, "ro", "there is a program; a reset keeps it">,
  ];
}
def ProgramData : Register<"PROGRAM_DATA", 0x404, "wo", 0, "the next word of the image; it counts when its highest byte is written">;

#endif // TABLA_BUS_TD
