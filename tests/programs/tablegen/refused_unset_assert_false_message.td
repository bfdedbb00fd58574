assert 0, ?;
