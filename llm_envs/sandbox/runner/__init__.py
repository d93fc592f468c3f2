"""The program that stands inside every cage: standard library only, importable by itself, the same in each cage.

`serve` reads requests and writes replies (`wire`), `supervise` watches one program, `child` is what the fork becomes,
`confine` closes the cage around it (`landlock`, `seccomp`, `libc`), `watch` samples its process tree and its files,
`wipe` empties its folder. The modules use relative imports only, so that a cage can load the folder as a package
without the rest of the project, and only cheap modules, since every page and mapping here is copied by every fork.
"""
