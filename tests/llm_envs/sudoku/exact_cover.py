"""The tests' own solver: Knuth's Algorithm X on dictionaries of sets. It shares no code with the package."""

from collections.abc import Iterator

BOXES = {4: (2, 2), 6: (2, 3), 9: (3, 3), 16: (4, 4)}

Row = tuple[int, int, int]  # row, column, digit
Column = tuple[str, int, int]


def solutions(grid: bytes) -> Iterator[bytes]:
    """Every solution of a grid."""
    size = round(len(grid) ** 0.5)
    rows = {
        (row, column, digit): _constraints(size, row, column, digit)
        for row in range(size)
        for column in range(size)
        for digit in range(1, size + 1)
        if grid[row * size + column] in {0, digit}
    }
    columns: dict[Column, set[Row]] = {}
    for row, met in rows.items():
        for column in met:
            columns.setdefault(column, set()).add(row)
    if len(columns) < 4 * size * size:
        return
    for chosen in _cover(columns, rows):
        found = bytearray(size * size)
        for row, column, digit in chosen:
            found[row * size + column] = digit
        yield bytes(found)


def count(grid: bytes, limit: int = 2) -> int:
    """The number of solutions, at most `limit`."""
    found = solutions(grid)
    return sum(1 for _ in zip(range(limit), found, strict=False))


def _constraints(size: int, row: int, column: int, digit: int) -> list[Column]:
    high, wide = BOXES[size]
    box = row // high * (size // wide) + column // wide
    return [("cell", row, column), ("row", row, digit), ("column", column, digit), ("box", box, digit)]


def _cover(columns: dict[Column, set[Row]], rows: dict[Row, list[Column]]) -> Iterator[list[Row]]:
    if not columns:
        yield []
        return
    tightest = min(columns, key=lambda column: len(columns[column]))
    for row in sorted(columns[tightest]):
        removed = _select(columns, rows, row)
        for rest in _cover(columns, rows):
            yield [row, *rest]
        _restore(columns, rows, row, removed)


def _select(columns: dict[Column, set[Row]], rows: dict[Row, list[Column]], row: Row) -> list[set[Row]]:
    removed = []
    for column in rows[row]:
        for other in columns[column]:
            for elsewhere in rows[other]:
                if elsewhere != column:
                    columns[elsewhere].remove(other)
        removed.append(columns.pop(column))
    return removed


def _restore(columns: dict[Column, set[Row]], rows: dict[Row, list[Column]], row: Row, removed: list[set[Row]]) -> None:
    for column in reversed(rows[row]):
        columns[column] = removed.pop()
        for other in columns[column]:
            for elsewhere in rows[other]:
                if elsewhere != column:
                    columns[elsewhere].add(other)
