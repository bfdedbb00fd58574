"""The playground: a page for this machine's browser, in which a user writes a program and sees what becomes of it."""
