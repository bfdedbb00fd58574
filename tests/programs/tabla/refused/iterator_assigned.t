iterator i[0:3];
i = 4;
