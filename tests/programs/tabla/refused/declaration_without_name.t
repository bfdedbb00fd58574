model_input;
model ;
gradient -> w;
