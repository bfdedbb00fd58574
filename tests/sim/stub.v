// A machine of one accumulator with the accelerator's ports, for tests of the engines alone.
// load: one beat sets the model from word 0. run: each sample is two beats; model += word 0 of the first,
// output = model + word 1 of the second. dump: the model once per token.
module stub (
    input clk, input rst,
    input command_valid, output command_ready, input [1:0] command_code, input [31:0] command_count,
    input in_valid, output in_ready, input [31:0] in_data,
    output out_valid, input out_ready, output [15:0] out_data,
    output busy, output sample_start, output update,
    output [31:0] lane_overflows, output [31:0] root_overflows, output [31:0] domain_errors,
    input program_valid, input [3:0] program_memory, input [15:0] program_address, input [31:0] program_data
);
    reg [1:0] code = 0;
    reg [31:0] left = 0, taken = 0;
    reg active = 0, second = 0, have = 0;
    reg [15:0] model = 0, word = 0;
    wire load = active && code == 0, run = active && code == 1, dump = active && code == 2;
    assign command_ready = !active;
    assign busy = active;
    assign in_ready = (load || run) && left != 0 && !have;
    assign out_valid = have;
    assign out_data = word;
    assign sample_start = in_valid_taken && run && second || dump && left != 0 && !have;
    reg in_valid_taken = 0;
    assign update = in_valid_taken && run && second;
    assign lane_overflows = taken;
    assign root_overflows = 32'd7;
    assign domain_errors = 0;
    always @(posedge clk) begin
        in_valid_taken <= 0;
        if (command_valid && command_ready) begin
            active <= command_count != 0;
            code <= command_code;
            left <= command_code == 0 ? 1 : command_count;
        end
        if (in_valid && in_ready) begin
            taken <= taken + 1;
            if (load) begin model <= in_data[15:0]; left <= 0; end
            else if (!second) begin model <= model + in_data[15:0]; second <= 1; in_valid_taken <= 1; end
            else begin word <= model + in_data[31:16]; have <= 1; second <= 0; left <= left - 1; end
        end
        if (dump && left != 0 && !have) begin word <= model; have <= 1; left <= left - 1; end
        if (out_valid && out_ready) have <= 0;
        if (active && left == 0 && !have) active <= 0;
        if (rst) begin active <= 0; have <= 0; second <= 0; taken <= 0; left <= 0; end
    end
endmodule
