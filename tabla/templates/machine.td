//===- machine.td - the machine: latencies, instruction formats, presets ----===//
//
// This file is the one source of truth for the instruction set and its timing.
// template.py, instructions.py and stages.py beside it read it, tabla/program/layout.py
// lays words out by it, and tabla/sim/model/trace.py reads words by it on its own.
// docs/decisions/0003-machine.md explains it.
//
//===------------------------------------------------------------------------===//

#ifndef TABLA_MACHINE_TD
#define TABLA_MACHINE_TD

// Latencies in cycles. MemoryRead is from an address to its word, Broadcast from
// a root's write to the lanes' operand multiplexers, Front from a token to cycle
// 0 of a unit, and Ready from the last beat of a sample to its token. Queue is
// how much later than the words of one root those of several stand on the port,
// because they wait for their turn.
def Timing {
  int MemoryRead = 2;
  int Multiply = 2;
  int Accumulate = 1;
  int Round = 2;
  int MemoryWrite = 1;
  int TreeLevel = 1;
  int Broadcast = 3;
  int Front = 12;
  int Ready = 6;
  int Queue = 2;
}

// A stage of a pipeline: what it shows in a cycle, and the wires that a lane and
// a root want in that cycle. The cycles of the path "issue" count from the issue
// of the operation, those of the path "write" from the cycle of the write. Lanes
// and roots have the same stages; a name in neither list is wanted by nobody.
class Stage<string path, string name, int cycle, string shows> {
  string Path = path;
  string Name = name;
  int Cycle = cycle;
  string Shows = shows;
  list<string> Lane = [];
  list<string> Root = [];
}

def IssueAddress : Stage<"issue", "address", 0, "the addresses enter the memories"> {
  let Lane = ["model_address", "data_address", "interim_address", "active"];
  let Root = ["a_address", "b_address", "c_address", "position"];
}
def IssueMask : Stage<"issue", "mask", 1, "the guard masks operand a of a lane"> {
  let Lane = ["a_select", "wide_select"];
}
def IssueOperand : Stage<"issue", "operand", Timing.MemoryRead, "the words and the bus stand at the operand multiplexers"> {
  let Lane = ["b_select", "c_select", "lowest", "highest", "bus", "invert"];
  let Root = ["a_select", "b_select", "c_select", "wide_select", "lowest", "highest", "result", "function", "invert"];
}
def IssueStart : Stage<"issue", "start", !add(IssueOperand.Cycle, 1), "the multiplier has its operands; the start value forms"> {
  let Lane = ["half_all", "half_lane0", "start_shift"];
  let Root = ["half_all", "start_shift", "late_select", "late_addend", "tree_half", "tree_inverted", "array_inverted"];
}
def IssueProduct : Stage<"issue", "product", !add(IssueOperand.Cycle, Timing.Multiply), "the product register and the start value"> {
  let Lane = ["keep", "take", "extreme", "complement"];
  let Root = ["keep", "take", "extreme", "complement", "tree_select", "tree", "array"];
}
def IssueSum : Stage<"issue", "sum", !add(IssueProduct.Cycle, Timing.Accumulate), "the accumulator holds the new sum, which the tree takes"> {
  let Lane = ["inverted", "shift"];
  let Root = ["inverted", "shift"];
}
def IssueRound : Stage<"issue", "round", !add(IssueSum.Cycle, 1), "the rounder holds the shifted sum"> {
  let Lane = ["issued", "post", "emit"];
  let Root = ["issued", "post"];
}
def IssueResult : Stage<"issue", "result", !add(IssueSum.Cycle, Timing.Round), "the result register: rounded and saturated, or compared"> {
  let Root = ["emit", "function_code", "divisor", "holds"];
}
def IssueHeld : Stage<"issue", "held", !add(IssueResult.Cycle, 1), "the position register of the root, where an operation asks for it"> {
}

def WriteAhead : Stage<"write", "ahead", -2, "a word of the bus may take the place of the result"> {
  let Lane = ["through"];
}
def WriteEnable : Stage<"write", "enable", -1, "the write is decoded"> {
  let Lane = ["write_active", "to_model", "to_interim", "stream_enable", "stream_to_data", "stream_to_model", "stream_to_interim"];
  let Root = ["write", "write_instruction", "write_address", "write_scattered", "position", "load_data", "load_memory", "load_address", "load_word"];
}
def WriteWord : Stage<"write", "word", 0, "the memory takes the word at the end of this cycle"> {
  let Lane = ["model_write_address", "data_write_address", "interim_write_address", "write_bus", "load", "stream_word", "bus"];
  let Root = ["result", "function"];
}
def WriteDone : Stage<"write", "done", Timing.MemoryWrite, "an operation that issues in this cycle reads the word"> {
}

// The format of one operation of a unit. Its fields lie in Inst. For each
// generator its base, its window flag and one delta for each loop level follow.
// A list `<field>Choices` names the codes of a field, from 0. `Several` names
// bits that follow the generators only in arrays with several sequencers, and
// `WideModels` bits behind them that only arrays with wide models have.
// `Predicting` names bits behind those that only arrays have that take the
// command PREDICT. `Scattering` names bits behind those that only arrays have
// that write where a position says. `Far` names a field that is last and has the
// upper bits of a sum's shift, in arrays with more than four shifts and in
// overlays.
class OperationFormat<string unit> {
  string Unit = unit;
  list<string> Generators = [];
  list<string> Several = [];
  list<string> WideModels = [];
  list<string> Predicting = [];
  list<string> Scattering = [];
  list<string> Far = [];
}

def LaneIssue : OperationFormat<"lane_issue"> {
  let Generators = ["model", "data", "interim", "low", "high"];
  let Several = ["up"];
  let WideModels = ["wide"];
  let Predicting = ["learns"];
  let Far = ["far_shift"];
  bits<2> a;
  bits<3> b;
  bits<2> c;
  bit negate;
  bits<2> base;
  bits<2> half;
  bits<2> shift;
  bits<3> post;
  bit emit;
  bits<3> gate;
  bits<21> Inst;
  let Inst{1-0} = a;
  let Inst{4-2} = b;
  let Inst{6-5} = c;
  let Inst{7} = negate;
  let Inst{9-8} = base;
  let Inst{11-10} = half;
  let Inst{13-12} = shift;
  let Inst{16-14} = post;
  let Inst{17} = emit;
  let Inst{20-18} = gate;
  list<string> aChoices = ["zero", "model", "data", "interim"];
  list<string> bChoices = ["one", "model", "data", "interim", "bus"];
  list<string> cChoices = ["model", "data", "interim", "bus"];
  list<string> baseChoices = ["zero", "accumulator", "addend"];
  list<string> halfChoices = ["none", "all", "lane0", "array0"];
  list<string> postChoices = ["none", "<", "<=", "==", "!=", ">=", ">", "extreme"];
}

def LaneWrite : OperationFormat<"lane_write"> {
  let Generators = ["address", "low", "high"];
  bit source;
  bit to_model;
  bit to_interim;
  bit model;
  bits<4> Inst;
  let Inst{0} = source;
  let Inst{1} = to_model;
  let Inst{2} = to_interim;
  let Inst{3} = model;
  list<string> sourceChoices = ["result", "bus"];
}

def RootIssue : OperationFormat<"root_issue"> {
  let Generators = ["a", "b", "c"];
  let WideModels = ["wide"];
  let Predicting = ["learns", "function_learns"];
  let Far = ["far_shift"];
  bits<3> a;
  bits<3> b;
  bits<3> c;
  bit negate;
  bits<3> base;
  bit half;
  bits<2> shift;
  bits<3> post;
  bit emit;
  bits<3> gate;
  bits<4> function;
  bits<27> Inst;
  let Inst{2-0} = a;
  let Inst{5-3} = b;
  let Inst{8-6} = c;
  let Inst{9} = negate;
  let Inst{12-10} = base;
  let Inst{13} = half;
  let Inst{15-14} = shift;
  let Inst{18-16} = post;
  let Inst{19} = emit;
  let Inst{22-20} = gate;
  let Inst{26-23} = function;
  list<string> aChoices = ["zero", "data", "memory", "result", "function", "gathered_data", "gathered_memory"];
  list<string> bChoices = ["one", "data", "memory", "result", "function", "position"];
  list<string> cChoices = ["data", "memory", "result", "function", "late_result", "late_function"];
  list<string> baseChoices = ["zero", "accumulator", "addend", "tree", "array"];
  list<string> halfChoices = ["none", "all"];
  list<string> postChoices = ["none", "<", "<=", "==", "!=", ">=", ">", "extreme"];
}

def RootWrite : OperationFormat<"root_write"> {
  let Generators = ["address"];
  let WideModels = ["wide"];
  let Scattering = ["scattered"];
  bit source;
  bit to_memory;
  bit to_bus;
  bit to_output;
  bit model;
  bits<5> Inst;
  let Inst{0} = source;
  let Inst{1} = to_memory;
  let Inst{2} = to_bus;
  let Inst{3} = to_output;
  let Inst{4} = model;
  list<string> sourceChoices = ["result", "function"];
}

def Stream : OperationFormat<"stream"> {
  let Generators = ["address", "block"];
  let WideModels = ["wide"];
  bit to_data;
  bit to_model;
  bit to_interim;
  bit to_root_data;
  bit to_root_memory;
  bit all;
  bit same;
  bits<7> Inst;
  let Inst{0} = to_data;
  let Inst{1} = to_model;
  let Inst{2} = to_interim;
  let Inst{3} = to_root_data;
  let Inst{4} = to_root_memory;
  let Inst{5} = all;
  let Inst{6} = same;
}

// The fields of a strand word, least significant first. After them comes one
// `count - 1` for each loop level, innermost first, and, in arrays on which
// samples overlap, the fields of Overlapping. Widths follow the build.
def StrandWord {
  list<string> Fields = ["start", "interval", "reduce", "body", "length"];
  list<string> Overlapping = ["stage"];
}

// A kind of function is a pipeline that computes it. In words of W bits, F of
// them fraction, a result shows Latency + (PerWidth * W + PerFraction * F +
// More) / Divisor cycles after the operand, and Fine cycles later still in a
// format with more than FineAbove fraction bits. A kind that Divides takes
// operand b too, as the divisor.
class FunctionKind<string name, int latency> {
  string Name = name;
  int Latency = latency;
  int PerWidth = 0;
  int PerFraction = 0;
  int More = 0;
  int Divisor = 1;
  int Fine = 0;
  int FineAbove = 16;
  bit Divides = false;
}
let Fine = 2 in {
  def DirectKind : FunctionKind<"direct", 7>;
  def ExpKind : FunctionKind<"exp", 12>;
  def LogKind : FunctionKind<"log", 11>;
  def CircularKind : FunctionKind<"circular", 9>;
}
def SqrtKind : FunctionKind<"sqrt", 3> {
  let PerWidth = 1;
  let PerFraction = 1;
  let More = 3;
  let Divisor = 2;
}
def DivideKind : FunctionKind<"divide", 4> {
  let PerWidth = 1;
  let PerFraction = 1;
  let Divides = true;
}
def QuotientKind : FunctionKind<"quotient", 4> {
  let PerWidth = 1;
  let Divides = true;
}

// A function of the function unit, its code in an operation, and its kind. Code
// 0 means no function.
class FunctionUnit<string name, int number, FunctionKind kind> {
  string Name = name;
  int Code = number;
  FunctionKind Kind = kind;
}
def Sigmoid : FunctionUnit<"sigmoid", 1, DirectKind>;
def Tanh : FunctionUnit<"tanh", 2, DirectKind>;
def Gaussian : FunctionUnit<"gaussian", 3, DirectKind>;
def Exp : FunctionUnit<"exp", 4, ExpKind>;
def Log : FunctionUnit<"log", 5, LogKind>;
def Sqrt : FunctionUnit<"sqrt", 6, SqrtKind>;
def Divide : FunctionUnit<"divide", 7, DivideKind>;
def Sin : FunctionUnit<"sin", 8, CircularKind>;
def Cos : FunctionUnit<"cos", 9, CircularKind>;
def Quotient : FunctionUnit<"quotient", 10, QuotientKind>;
def ErrorFunction : FunctionUnit<"erf", 12, DirectKind>;
def ArcTangent : FunctionUnit<"atan", 13, DirectKind>;
def Arc : FunctionUnit<"arc", 14, DirectKind>;

// A signed fixed-point format. The sign counts among the integer bits.
class NumberFormat<int integerBits, int fractionBits> {
  int IntegerBits = integerBits;
  int FractionBits = fractionBits;
}
def Q2_6 : NumberFormat<2, 6>;
def Q4_12 : NumberFormat<4, 12>;
def Q6_10 : NumberFormat<6, 10>;
def Q8_8 : NumberFormat<8, 8>;
def Q7_11 : NumberFormat<7, 11>;
def Q8_16 : NumberFormat<8, 16>;
def Q16_16 : NumberFormat<16, 16>;

// What can be built. PesPerPu is the widest tap group that is chosen where none
// is asked for. MemoryWords is the deepest memory of a PE. Stages are the most
// samples on which the units of an array work in turns.
def Limits {
  int Pes = 128;
  int PesPerPu = 16;
  int LeastRingSlots = 2;
  int RingSlots = 64;
  int StreamWords = 128;
  int MemoryWords = 65536;
  int Stages = 16;
}

// A preset of the array. A depth of 0 stands for what the program needs, and so
// do StreamWords and Levels of 0. Sequencers of 0 stand for what is fastest.
class Template<int pes, int pesPerPu = pes> {
  int Pes = pes;
  int PesPerPu = pesPerPu;
  int Sequencers = 0;
  NumberFormat Format = Q6_10;
  int IntegerBits = Format.IntegerBits;
  int FractionBits = Format.FractionBits;
  int StreamWords = 0;
  int RingSlots = 2;
  int ModelWords = 0;
  int DataWords = 0;
  int InterimWords = 0;
  int Levels = 0;
  // Each root serves a tap group of its own. 0 stands for what is fastest.
  int Roots = 0;
}
def Pe1 : Template<1>;
def Pe2 : Template<2>;
def Pe4 : Template<4>;
def Pe8 : Template<8>;
def Pe16 : Template<16>;
def Pe32 : Template<32, 16>;
def Pe64 : Template<64, 16>;
def Pe128 : Template<128, 16>;

// What an overlay has room for: an array without a program, which takes one
// image after the other. The depths of its memories are in words. Levels and
// Body are the most loops and operations of a strand. Cycles, Intervals, Counts
// and Guards are the bits of cycles, of the interval and the counts of a strand,
// and of the bounds of lanes. Strands and Operations are the words of a unit's
// microcode. Tokens is how many samples may lie between their token and a unit's
// first strand. Terms is the most products of a sum. Shifts are the places of
// sums, in bits beyond the fraction: an update with a learning rate of m * 2^-s,
// where 1/2 < m <= 1, needs place s, and a sum of words with a constant that is
// no word exactly, of 2^(-k - 1) to 2^-k, place k and the integer bits less one.
// Without any named, an overlay has the places of all constants from 2^-11 on.
// Features are what some programs need of every lane, and many do not:
// `extremes` keep the larger or the smaller of two words, `comparisons` compare
// a sum with 0.
class Overlay {
  int ModelWords = 1024;
  int DataWords = 256;
  int InterimWords = 256;
  int RootDataWords = 256;
  int RootMemoryWords = 512;
  int OutputWords = 1024;
  int StreamWords = 2;
  int Levels = 6;
  int Body = 4;
  int Cycles = 16;
  int Intervals = 8;
  int Counts = 10;
  int Guards = 10;
  int Strands = 32;
  int Operations = 64;
  int Tokens = 8;
  int Terms = 4096;
  list<int> Shifts = [];
  list<FunctionUnit> Functions = [Sigmoid, Tanh, Gaussian, Exp, Log, Sqrt, Divide];
  list<string> Features = ["extremes", "comparisons"];
}
def DefaultOverlay : Overlay;

// For models that learn by gradient descent: regressions, support vector
// machines, factorisations and networks of a few layers. Their strands have two
// loops, and none of them keeps an extreme. A softmax of several classes does.
def LearningOverlay : Overlay {
  let InterimWords = 64;
  let Levels = 2;
  let Body = 2;
  let Cycles = 12;
  let Intervals = 6;
  let Features = ["comparisons"];
}

// The array that is built where none is asked for.
def Default {
  Template Preset = Pe16;
}

#endif
