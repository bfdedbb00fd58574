assert 1, ?;
