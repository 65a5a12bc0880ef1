// A counter with an enable that is always on and a comparison that is always
// true, for yosys to optimise away.
module counter(input clk, input rst, output reg [3:0] q);
  wire enable = 1'b1 | rst;
  always @(posedge clk)
    if (rst)
      q <= 4'd0;
    else if (enable && (4'd3 < 4'd7))
      q <= q + 4'd1;
endmodule
