iterator i[0:n];
