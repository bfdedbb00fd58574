iterator i(0:3);
iterator j[0,3];
iterator k[0:3;
iterator l[0:];
