def X;
include "nope.td"
