"""When every strand starts: dependences, reservations, the schedulers, and the schedule that they make."""
