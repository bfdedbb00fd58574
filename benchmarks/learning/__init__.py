"""The published learning problems at full size: programs, aims, tables, and the time of ``tabla gen`` by size."""
