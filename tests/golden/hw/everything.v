// Each operator, each kind of choice, and each kind of memory that hardware can be described with.
//
// Members
// -------
// a : In(7), b : In(signed(5)), c : In(3)
module everything (
  input wire clk,
  input wire rst,
  input wire [6:0] a,
  input wire [4:0] b,
  input wire [2:0] c,
  output wire [13:0] o0,
  output wire [13:0] o1,
  output wire [13:0] o2,
  output wire [13:0] o3,
  output wire [13:0] o4,
  output wire [13:0] o5,
  output wire [13:0] o6,
  output wire [13:0] o7,
  output wire [13:0] o8,
  output wire [13:0] o9,
  output wire [13:0] o10,
  output wire [13:0] o11,
  output wire [13:0] o12,
  output wire [13:0] o13,
  output wire [13:0] o14,
  output wire [13:0] o15,
  output wire [13:0] o16,
  output wire [13:0] o17,
  output wire [13:0] o18,
  output wire [13:0] o19,
  output wire [13:0] o20,
  output wire [13:0] o21,
  output wire [13:0] o22,
  output wire [13:0] o23,
  output wire [13:0] o24,
  output wire [13:0] o25,
  output wire [13:0] o26,
  output wire [13:0] o27,
  output wire [13:0] o28,
  output wire [13:0] o29,
  output wire [13:0] o30,
  output wire [13:0] o31,
  output wire [8:0] r0,
  output wire [8:0] r1,
  output reg [8:0] r2,
  output wire [8:0] r3,
  output wire [8:0] r4,
  output reg [8:0] r5,
  output reg [8:0] r6,
  output wire [8:0] r7
);
  reg [8:0] held;
  reg [7:0] synchronous__data;
  wire [7:0] asynchronous__data;
  reg [7:0] words [0:7];
  initial begin
    r2 = 9'h000; held = 9'h000; r5 = 9'h000; r6 = 9'h000;
  end

  wire synchronous__en = c[0] | a[1];
  wire [9:0] r2_next_sum = {1'b0, r2} + 10'h001;
  wire [7:0] r5_next_choice = (c[2:1] == 2'b01) ? {{3{b[4]}}, b} : (c[2:1] == 2'b10) ? {5'h00, c} : (c[2:1] ==
    2'b11) ? 8'h09 : 8'h00;
  wire [7:0] r5_next_bits = (c[2:1] == 2'b00) ? {1'b0, a} : r5_next_choice;
  wire [10:0] r6_next_sum = {2'b00, held} + {{6{b[4]}}, b};
  wire [8:0] o0_sum = {2'b00, a} + {{4{b[4]}}, b};
  wire [8:0] o1_difference = {2'b00, a} - {{4{b[4]}}, b};
  wire [8:0] o2_difference = {{4{b[4]}}, b} - {2'b00, a};
  wire [11:0] o3_product = $signed({1'b0, a}) * $signed(b);
  wire [9:0] o4_product = $signed(b) * $signed(b);
  wire [5:0] o6_negative = -{b[4], b};
  wire [7:0] o8_and = {1'b0, a} & {{3{b[4]}}, b};
  wire [7:0] o9_or = {1'b0, a} | {{3{b[4]}}, b};
  wire [7:0] o10_xor = {1'b0, a} ^ {{3{b[4]}}, b};
  wire [4:0] o11_or = {2'b00, c} | b;
  wire [7:0] o11_xor = o8_and ^ {{3{o11_or[4]}}, o11_or} ^ {5'h00, ~c};
  wire [7:0] o19_choice = c[0] ? {1'b0, a} : {{3{b[4]}}, b};
  wire [4:0] o20_choice = (|c) ? b : {2'b00, c};
  wire [11:0] o22_shifted = {{7{b[4]}}, b} << c;
  wire [6:0] o23_shifted = a >> c;
  wire [4:0] o24_shifted = $signed(b) >>> c;
  wire [8:0] o25_sum = {{4{o24_shifted[4]}}, o24_shifted} + {2'b00, a};
  wire [2:0] o27_product = c[0] * 2'b10;
  wire [4:0] o27_shifted = b >> o27_product;
  wire [8:0] o30_difference = {1'b0, c[1:0], b, a[5]} - {7'h00, {1'b0, ^a} + 2'b01};
  wire [5:0] o31_sum = {b[4], b} + {3'b000, c};
  wire r1_fits = (c == 3'b000) | (c == 3'b011);
  wire r1_is_3 = {c[2], c[0]} == 2'b11;
  wire r1_is_2 = c == 3'b010;
  wire [3:0] r1_choice = r1_fits ? {2'b00, a[6:5]} : r1_is_3 ? 4'b0000 : r1_is_2 ? (a[0] ? r0[8:5] : 4'b0000) :
    4'b0000;
  wire [2:0] r1_choice_2 = r1_fits ? a[4:2] : r1_is_3 ? b[2:0] : r1_is_2 ? (a[0] ? r0[4:2] : 3'b001) : 3'b001;

  integer words_index;
  initial begin
    for (words_index = 0; words_index < 8; words_index = words_index + 1) words[words_index] = 8'h00;
    words[0] = 8'h01; words[2] = 8'hc8; words[3] = 8'h03;
  end
  always @(posedge clk) begin
    if (a[1]) words[c][3:0] <= a[3:0];
    if (a[2]) words[c][7:4] <= {b[0], a[6:4]};
  end
  assign asynchronous__data = words[b[2:0]];
  always @(posedge clk) if (synchronous__en) synchronous__data <= words[a[2:0]];

  always @(posedge clk) begin
    if (a[0]) begin
      if (a[4]) r2[3:0] <= a[3:0];
    end
    else if (b[1]) begin
      r2[8:4] <= {2'b00, c};
      casez ({c, a[3]})
        4'b??11, 4'b1000: r2[8] <= 1'b1;
        default: r2[1:0] <= b[1:0];
      endcase
    end
    else if (~c[2]) begin
    end
    else r2 <= r2_next_sum[8:0];
    held <= r0;
    r5 <= {r5_next_bits[7], r5_next_bits};
    r6 <= r6_next_sum[8:0];
    if (rst) begin
      r2 <= 9'h000; r5 <= 9'h000; r6 <= 9'h000;
    end
  end

  assign o0 = {{5{o0_sum[8]}}, o0_sum};
  assign o1 = {{5{o1_difference[8]}}, o1_difference};
  assign o2 = {{5{o2_difference[8]}}, o2_difference};
  assign o3 = {{2{o3_product[11]}}, o3_product};
  assign o4 = {{4{o4_product[9]}}, o4_product};
  assign o5 = a * a;
  assign o6 = {{8{o6_negative[5]}}, o6_negative};
  assign o7 = {7'h00, ~a};
  assign o8 = {{6{o8_and[7]}}, o8_and};
  assign o9 = {{6{o9_or[7]}}, o9_or};
  assign o10 = {{6{o10_xor[7]}}, o10_xor};
  assign o11 = {{6{o11_xor[7]}}, o11_xor};
  assign o12 = {13'h0000, {1'b0, a} == {{3{b[4]}}, b}};
  assign o13 = {13'h0000, a != {4'b0000, c}};
  assign o14 = {13'h0000, $signed(b) < $signed({2'b00, c})};
  assign o15 = {13'h0000, $signed({{3{b[4]}}, b}) > $signed({1'b0, a})};
  assign o16 = {13'h0000, $signed(b) <= $signed(5'h03)};
  assign o17 = {13'h0000, a >= {4'b0000, c}};
  assign o18 = {13'h0000, $signed(b) < $signed(5'h1e)};
  assign o19 = {{6{o19_choice[7]}}, o19_choice};
  assign o20 = {{9{o20_choice[4]}}, o20_choice};
  assign o21 = {7'h00, a} << c;
  assign o22 = {{2{o22_shifted[11]}}, o22_shifted};
  assign o23 = {7'h00, o23_shifted};
  assign o24 = {{9{o24_shifted[4]}}, o24_shifted};
  assign o25 = {{5{o25_sum[8]}}, o25_sum};
  assign o26 = {11'h000, o23_shifted[2:0]};
  assign o27 = {12'h000, o27_shifted[1:0]};
  assign o28 = {13'h0000, |a};
  assign o29 = {13'h0000, &o10_xor};
  assign o30 = {{5{o30_difference[8]}}, o30_difference};
  assign o31 = {13'h0000, 1'b1 & ~o31_sum[5]};
  assign r0 = {r0[7] ^ a[1], r0[6] ^ a[0], r0[5] ^ a[6], r0[4] ^ a[5], r0[3] ^ a[4], r0[2] ^ a[3], r0[1] ^ a[2],
    r0[0] ^ a[1], a[0] & b[0]};
  assign r1 = {r1_choice, r1_choice_2, r1_fits ? a[1] : r1_is_3 ? 1'b0 : r1_is_2 ? (a[0] ? r0[1] : 1'b0) : 1'b0,
    r1_fits ? a[0] : r1_is_3 ? a[2] : r1_is_2 ? (a[0] ? r0[0] : 1'b1) : 1'b1};
  assign r3 = {1'b0, asynchronous__data};
  assign r4 = {1'b0, synchronous__data};
  assign r7 = r6[0] ? r5 : ~r5;
endmodule
// A module that is placed by name, with a parameter of each kind.
//
// Members
// -------
// a : In(4), o : Out(4)
module placed (
  input wire [3:0] a,
  output wire [3:0] o
);
  (* keep = 1, place = 3'b010 *) block #(.NUMBER(12), .WORD(4'b0101), .TEXT("high")) block (
    .a(a), .o(o)
  );
endmodule
