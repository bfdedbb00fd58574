// Two blocks of the ECP5 as their user guides describe them, so far as our netlists use them; written for these tests.
// FPGA-TN-02204 (memory): 18-bit ports, word address in AD13..AD4, byte enables in AD1 and AD0 of a port that writes;
// an output register where REGMODE says so. What the guide leaves undefined is x: the output of a port while it writes in
// normal mode, and a word that the other port writes in the same cycle.
// FPGA-TN-02205 (DSP): registers where a clock is named, transparent otherwise.
module DP16KD (`MEMORY_PORTS
  input CLKA, CLKB, CEA, CEB, OCEA, OCEB, WEA, WEB, RSTA, RSTB, CSA0, CSA1, CSA2, CSB0, CSB1, CSB2);
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, REGMODE_A = "NOREG", REGMODE_B = "NOREG";
  parameter WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL", GSR = "", RESETMODE = "", ASYNC_RESET_RELEASE = "";
  parameter CSDECODE_A = "", CSDECODE_B = "", CLKAMUX = "", CLKBMUX = "";
  reg [17:0] words [1023:0];
  integer n;
  initial for (n = 0; n < 1024; n = n + 1) words[n] = 0;
  wire [9:0] at_a = {`MEMORY_AT_A}, at_b = {`MEMORY_AT_B};
  wire [17:0] in_a = {`MEMORY_IN_A}, in_b = {`MEMORY_IN_B};
  wire writes_a = CEA & WEA, writes_b = CEB & WEB;
  reg [17:0] first_a = 0, first_b = 0, second_a = 0, second_b = 0;
  wire [17:0] old_a = words[at_a], old_b = words[at_b];
  always @(posedge CLKA) begin
    if (writes_a) words[at_a] <= {ADA1 ? in_a[17:9] : old_a[17:9], ADA0 ? in_a[8:0] : old_a[8:0]};
    if (writes_b) words[at_b] <= {ADB1 ? in_b[17:9] : old_b[17:9], ADB0 ? in_b[8:0] : old_b[8:0]};
    if (CEA) first_a <= writes_a && WRITEMODE_A == "NORMAL" || writes_b && at_a == at_b ? 18'bx : old_a;
    if (CEB) first_b <= writes_b && WRITEMODE_B == "NORMAL" || writes_a && at_a == at_b ? 18'bx : old_b;
    if (OCEA) second_a <= first_a;
    if (OCEB) second_b <= first_b;
  end
  assign {`MEMORY_OUT_A} = REGMODE_A == "OUTREG" ? second_a : first_a;
  assign {`MEMORY_OUT_B} = REGMODE_B == "OUTREG" ? second_b : first_b;
endmodule

module MULT18X18D (`MULTIPLIER_PORTS
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0);
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTB_CLK = "NONE", REG_OUTPUT_CLK = "NONE", GSR = "ENABLED";
  wire signed [17:0] a = {`MULTIPLIER_A}, b = {`MULTIPLIER_B};
  reg signed [17:0] ra = 0, rb = 0;
  reg signed [35:0] rp = 0;
  wire signed [17:0] ma = REG_INPUTA_CLK == "NONE" ? a : ra, mb = REG_INPUTB_CLK == "NONE" ? b : rb;
  wire signed [35:0] p = ma * mb;  // both operands of ours are signed
  always @(posedge CLK0)
    if (RST0) begin ra <= 0; rb <= 0; rp <= 0; end else if (CE0) begin ra <= a; rb <= b; rp <= p; end
  assign {`MULTIPLIER_P} = REG_OUTPUT_CLK == "NONE" ? p : rp;
endmodule
