"""Reading what people bring, in a process apart with limits of memory and time: what breaks it breaks nothing else.

`calls` is the door: one function for each thing that a screen wants to know of a file. The web process reads no brought
file by itself.
"""
