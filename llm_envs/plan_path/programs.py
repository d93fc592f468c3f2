"""The programs that the oracle writes as a tool: they read a grid and print the start of a cheapest path."""

# Breadth-first search from the goal, so that following falling distances from the agent gives a shortest list.
SHORTEST = """\
import sys
grid = sys.stdin.read().split()
size = len(grid)
cells = {(r, c): grid[r][c] for r in range(size) for c in range(size)}
steps = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
here = next(cell for cell, mark in cells.items() if mark == "@")
goal = next(cell for cell, mark in cells.items() if mark == "G")
distance = {goal: 0}
queue = [goal]
for r, c in queue:
    for dr, dc in steps.values():
        near = (r + dr, c + dc)
        if cells.get(near, "#") != "#" and near not in distance:
            distance[near] = distance[r, c] + 1
            queue.append(near)
moves = []
while here != goal and len(moves) < LIMIT:
    for word, (dr, dc) in steps.items():
        near = (here[0] + dr, here[1] + dc)
        if distance.get(near, len(cells)) < distance[here]:
            moves.append(word)
            here = near
            break
print(*moves)
"""

# Dijkstra's search from the goal. What the agent's own cell costs is not shown, and no way from it enters it again.
CHEAPEST = """\
import heapq, sys
grid = sys.stdin.read().split()
size = len(grid)
cells = {(r, c): grid[r][c] for r in range(size) for c in range(size)}
costs = {cell: int(mark) if mark.isdigit() else 1 for cell, mark in cells.items() if mark != "#"}
steps = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
if DIAGONAL:
    steps |= {"up-left": (-1, -1), "up-right": (-1, 1), "down-left": (1, -1), "down-right": (1, 1)}
here = next(cell for cell, mark in cells.items() if mark == "@")
goal = next(cell for cell, mark in cells.items() if mark == "G")

def ways(cell):
    r, c = cell
    for word, (dr, dc) in steps.items():
        if (r + dr, c + dc) in costs and (r + dr, c) in costs and (r, c + dc) in costs:
            yield word, (r + dr, c + dc)

distance, queue = {}, [(0, goal)]
while queue:
    far, cell = heapq.heappop(queue)
    if cell not in distance:
        distance[cell] = far
        for _, near in ways(cell):
            heapq.heappush(queue, (far + costs[cell], near))
moves = []
while here != goal and len(moves) < LIMIT:
    word, here = min(ways(here), key=lambda way: distance[way[1]] + costs[way[1]])
    moves.append(word)
print(*moves)
"""


def search_program(limit: int, *, weighted: bool, diagonal: bool) -> str:
    """The program for a game; it prints at most `limit` moves."""
    if not weighted and not diagonal:
        return SHORTEST.replace("LIMIT", str(limit))
    return CHEAPEST.replace("LIMIT", str(limit)).replace("DIAGONAL", str(diagonal))
