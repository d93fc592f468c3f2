"""The program that stands inside every cage: standard library only, importable by itself, the same in each cage.

`serve` reads requests and writes replies (`wire`), `supervise` watches one program, `child` is what the fork becomes,
`confine` closes the cage around it (`landlock`, `seccomp`, `libc`), `watch` samples its process tree and its files,
`wipe` empties its folder. `namespaces` builds the walls of `native` around all of that (`mounts`, `cgroup`).

The modules use relative imports only, so that a cage can load the folder as a package without the rest of the project,
and only the cheapest modules, since every fork copies what is in memory here: no `collections`, `signal` or
`traceback`, and `typing` for the type checker alone, which takes `TYPE_CHECKING` for true.
"""
