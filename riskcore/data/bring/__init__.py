"""Bringing any files: reading tables of any common form, recognising what each file is, and writing what was chosen as
a data set in the project's own format.

`read_brought` reads files, `suggest` says what each may be, and `arrange` writes the folder.
"""
