"""Whole-program fuzzing: captures.py makes sound captures, mutants.py damages them, runs.py runs the commands, server.py asks the viewer."""
