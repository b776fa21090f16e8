"""The commands of cli.py, a file each: options and their checks; the work is done elsewhere in the package.

Heavy modules are imported inside the commands, so that --help answers at once.
"""
