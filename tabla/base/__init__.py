"""What every room may use: places in texts, errors, files, processes, caches and progress.

It knows nothing of programs.
"""
