"""Function tests as programs: a driver behind the author's code reads the arguments, calls, and writes the result.

The result is a line of JSON behind a mark that depends on the code, so that nobody can write it down beforehand. A
program that finds it out while it runs gains nothing: it can only write a result, and that is compared out here.
"""

import hashlib

# In a function of its own, so that no name of the author's is in its way. It leaves by `os._exit`: what the author
# still has in buffers, threads and exit functions does not follow the result.
_DRIVER = """

def __call_the_function__():
    import json, os
    with open(0, encoding="utf-8") as lines:
        arguments = [json.loads(line) for line in lines.read().split("\\n") if line]
    result = json.dumps({function}(*arguments))
    with open(1, "w", encoding="utf-8", closefd=False) as out:
        out.write("\\n{mark} " + result + "\\n")
    os._exit(0)
__call_the_function__()
"""


def with_driver(code: str, function: str) -> str:
    """A program that calls the function of `code` with the JSON values in the lines of its standard input."""
    return code + _DRIVER.format(function=function, mark=_mark(code))


def result_of(code: str, stdout: str) -> str | None:
    """The result in the output of `with_driver(code, ...)`, as JSON text; None where there is none."""
    _, found, rest = stdout.rpartition(f"\n{_mark(code)} ")
    return rest if found else None


def _mark(code: str) -> str:
    return hashlib.blake2b(code.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
