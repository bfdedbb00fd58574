"""The published learning problems at full size: programs, figures to reach, the table, and the time of gen by size."""
