// A test bench in Verilog-2005: a host that loads, runs samples and dumps, and compares every word with golden vectors.
// Run it where axi_send.bin, axi_expected.bin and axi_shown.bin lie. It says PASSED, or FAILED and where. FuseSoC runs it
// as target sim.
`timescale 1ns/1ps

module axi_bench;
  localparam BUS = `TABLA_BUS_BITS;
  localparam CONTAINER = `TABLA_CONTAINER_BITS;
  localparam PER_BEAT = BUS / CONTAINER;
  localparam BYTES = CONTAINER / 8;
  // Containers of the packets: a load, the samples of all units, their results, a dump, and the samples of a prediction,
  // whose results and dump are as long.
  localparam LOAD = `TABLA_LOAD;
  localparam RUN = `TABLA_RUN;
  localparam RESULT = `TABLA_RESULT;
  localparam DUMP = `TABLA_DUMP;
  localparam PREDICT = `TABLA_PREDICT;
  localparam AGAIN = PREDICT > 0 ? RESULT + DUMP : 0;
  localparam UNITS = `TABLA_UNITS;
  localparam PATIENCE = 1000000;

  reg aclk = 0, aresetn = 0;
  reg [BUS-1:0] s_axis_tdata = 0;
  reg [BUS/8-1:0] s_axis_tkeep = 0;
  reg s_axis_tvalid = 0, s_axis_tlast = 0, m_axis_tready = 0;
  wire s_axis_tready, m_axis_tvalid, m_axis_tlast, interrupt;
  wire [BUS-1:0] m_axis_tdata;
  wire [BUS/8-1:0] m_axis_tkeep;
  reg [11:0] s_axil_awaddr = 0, s_axil_araddr = 0;
  reg s_axil_awvalid = 0, s_axil_wvalid = 0, s_axil_bready = 0, s_axil_arvalid = 0, s_axil_rready = 0;
  reg [31:0] s_axil_wdata = 0;
  wire s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid;
  wire [1:0] s_axil_bresp, s_axil_rresp;
  wire [31:0] s_axil_rdata;

  `TABLA_MODULE dut (
    .aclk(aclk), .aresetn(aresetn), .interrupt(interrupt),
    .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tready(s_axis_tready), .s_axis_tlast(s_axis_tlast),
    .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready), .m_axis_tlast(m_axis_tlast),
    .s_axil_awaddr(s_axil_awaddr), .s_axil_awprot(3'b0), .s_axil_awvalid(s_axil_awvalid),
    .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata), .s_axil_wstrb(4'hF),
    .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
    .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr),
    .s_axil_arprot(3'b0), .s_axil_arvalid(s_axil_arvalid), .s_axil_arready(s_axil_arready),
    .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
    .s_axil_rready(s_axil_rready)
  );

  always #5 aclk = ~aclk;

  reg [CONTAINER-1:0] send [0:LOAD+RUN+PREDICT];
  reg [CONTAINER-1:0] expected [0:RESULT+DUMP+AGAIN];
  // Bit i % 8 of byte i / 8 says whether container i that is expected has a meaning.
  reg [7:0] shown [0:(RESULT+DUMP+AGAIN)/8];
  reg [31:0] status;
  integer received = 0, packets = 0;

  task fail(input [8*40-1:0] what, input integer at);
    begin
      $display("FAILED: %0s (%0d)", what, at);
`ifdef __ICARUS__
      $finish_and_return(1);
`else
      $finish;
`endif
    end
  endtask

  // Inputs change at falling edges; what the wrapper says is looked at just before rising ones.
  task write(input [11:0] address, input [31:0] word);
    reg address_taken, word_taken, answered;
    begin
      @(negedge aclk);
      s_axil_awaddr = address;
      s_axil_wdata = word;
      s_axil_awvalid = 1;
      s_axil_wvalid = 1;
      s_axil_bready = 1;
      answered = 0;
      while (!answered) begin
        #4 address_taken = s_axil_awready;
        word_taken = s_axil_wready;
        answered = s_axil_bvalid;
        if (answered && s_axil_bresp != 0) fail("a write was refused", address);
        @(negedge aclk);
        if (address_taken) s_axil_awvalid = 0;
        if (word_taken) s_axil_wvalid = 0;
      end
      s_axil_bready = 0;
    end
  endtask

  task read(input [11:0] address);
    reg taken, answered;
    begin
      @(negedge aclk);
      s_axil_araddr = address;
      s_axil_arvalid = 1;
      s_axil_rready = 1;
      answered = 0;
      while (!answered) begin
        #4 taken = s_axil_arready;
        answered = s_axil_rvalid;
        status = s_axil_rdata;
        if (answered && s_axil_rresp != 0) fail("a read was refused", address);
        @(negedge aclk);
        if (taken) s_axil_arvalid = 0;
      end
      s_axil_rready = 0;
    end
  endtask

  task send_packet(input integer first, input integer count);
    integer at, place;
    reg taken;
    begin
      @(negedge aclk);
      for (at = 0; at < count; at = at + PER_BEAT) begin
        s_axis_tdata = 0;
        s_axis_tkeep = 0;
        for (place = 0; place < PER_BEAT && at + place < count; place = place + 1) begin
          s_axis_tdata[place*CONTAINER +: CONTAINER] = send[first+at+place];
          s_axis_tkeep[place*BYTES +: BYTES] = {BYTES{1'b1}};
        end
        s_axis_tlast = at + PER_BEAT >= count;
        s_axis_tvalid = 1;
        taken = 0;
        while (!taken) begin
          #4 taken = s_axis_tready;
          @(negedge aclk);
        end
      end
      s_axis_tvalid = 0;
    end
  endtask

  task command(input [31:0] code, input integer first, input integer count);
    integer looks;
    begin
      write(`TABLA_STATUS, 32'hFFFFFFFF);
      write(`TABLA_COMMAND, code);
      if (count > 0) send_packet(first, count);
      status = 1;
      for (looks = 0; status[0]; looks = looks + 1) begin
        read(`TABLA_STATUS);
        if (looks == PATIENCE) fail("a command does not end", code);
      end
      if ((status & `TABLA_ERRORS) != 0) fail("STATUS has an error", status);
    end
  endtask

  integer place;
  always begin
    @(negedge aclk);
    #4 if (m_axis_tvalid && m_axis_tready) begin
      for (place = 0; place < PER_BEAT; place = place + 1)
        if (m_axis_tkeep[place*BYTES]) begin
          if (shown[received/8][received%8] && expected[received] !== m_axis_tdata[place*CONTAINER +: CONTAINER])
            fail("another word came", received);
          received = received + 1;
        end
      if (m_axis_tlast) packets = packets + 1;
    end
  end

  integer file, bytes;
  initial begin
    file = $fopen("axi_send.bin", "rb");
    bytes = $fread(send, file);
    if (bytes != BYTES * (LOAD + RUN + PREDICT)) fail("axi_send.bin has another size", bytes);
    file = $fopen("axi_expected.bin", "rb");
    bytes = $fread(expected, file);
    if (bytes != BYTES * (RESULT + DUMP + AGAIN)) fail("axi_expected.bin has another size", bytes);
    file = $fopen("axi_shown.bin", "rb");
    bytes = $fread(shown, file);
    if (bytes != (RESULT + DUMP + AGAIN + 7) / 8) fail("axi_shown.bin has another size", bytes);
    repeat (2) @(negedge aclk);
    aresetn = 1;
    m_axis_tready = 1;
    status = 1;
    while (status[0]) read(`TABLA_STATUS);
    command(0, 0, LOAD);
    write(`TABLA_COUNT, UNITS);
    command(1, LOAD, RUN);
    if (received != RESULT) fail("another number of results", received);
    if (DUMP > 0) command(2, 0, 0);
    if (received != RESULT + DUMP) fail("another length of a dump", received);
    if (PREDICT > 0) begin
      command(5, LOAD + RUN, PREDICT);
      command(2, 0, 0);
    end
    if (received != RESULT + DUMP + AGAIN) fail("another length after a prediction", received);
    if (packets != (RESULT > 0) + (DUMP > 0) + (AGAIN > 0 ? 2 : 0)) fail("another number of packets", packets);
    $display("PASSED: %0d units, %0d words", UNITS, received);
    $finish;
  end
endmodule
