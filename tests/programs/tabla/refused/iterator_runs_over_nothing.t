iterator i[3:3];
iterator j[4:0];
