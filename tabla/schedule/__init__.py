"""Scheduling: tasks get their start cycles, samples their period and borders, and a checker proves the result."""
