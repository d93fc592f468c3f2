// A state is text. Its grid (the longest block of lines of one width) is drawn as tiles, the rest stays text.

const FLOOR = new Set([".", " ", "·", "_", "-"]);
const WALL = "#";
const HERE = new Set(["@", "+"]); // where the agent stands, as in Sokoban's notation

function cellsOf(line) {
  const spaced = line.trim().split(/\s+/);
  if (spaced.length >= 3 && spaced.every((token) => [...token].length === 1)) return spaced;
  return /\s/.test(line.trim()) && !line.includes(WALL) ? [] : [...line];
}

function parseBoard(state) {
  const lines = state.split("\n");
  const rows = lines.map(cellsOf);
  let best = { start: 0, end: 0 };
  let start = 0;
  while (start < rows.length) {
    let end = start + 1;
    while (end < rows.length && rows[end].length === rows[start].length) end += 1;
    if (rows[start].length >= 3 && end - start > best.end - best.start) best = { start, end };
    start = end;
  }
  if (best.end - best.start < 2) return { grid: null, before: state, after: "" };
  return {
    grid: rows.slice(best.start, best.end),
    before: lines.slice(0, best.start).join("\n").trim(),
    after: lines.slice(best.end).join("\n").trim(),
  };
}

function tileClass(glyph) {
  if (glyph === WALL) return "wall";
  if (FLOOR.has(glyph)) return "floor";
  return HERE.has(glyph) ? "piece here" : "piece";
}

// Tiles that differ from the state one turn earlier are outlined; those that differed in any turn before carry a dot.
function drawBoard(state, previous, history) {
  const board = parseBoard(state);
  if (!board.grid) return make("pre", "state", state);
  const height = board.grid.length;
  const width = board.grid[0].length;
  const differs = (one, other, y, x) => one && other && one.grid && other.grid && one.grid[y]?.[x] !== other.grid[y]?.[x];
  const past = history.map(parseBoard);
  const before = previous === null ? null : parseBoard(previous);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "board", role: "img", "aria-label": state });
  svg.style.maxWidth = `${Math.min(26, Math.max(14, width * 2.6))}rem`;
  board.grid.forEach((row, y) =>
    row.forEach((glyph, x) => {
      const kind = tileClass(glyph);
      svg.append(draw("rect", { x: x + 0.03, y: y + 0.03, width: 0.94, height: 0.94, rx: 0.14, class: `tile ${kind}` }));
      const visited = past.some((one, turn) => turn > 0 && differs(past[turn - 1], one, y, x));
      if (kind === "floor" && visited) svg.append(draw("circle", { cx: x + 0.5, cy: y + 0.5, r: 0.1, class: "trail" }));
      if (kind.startsWith("piece")) svg.append(draw("text", { x: x + 0.5, y: y + 0.5, class: `glyph ${kind}` }, glyph));
      if (differs(before, board, y, x)) {
        svg.append(draw("rect", { x: x + 0.06, y: y + 0.06, width: 0.88, height: 0.88, rx: 0.12, class: "changed" }));
      }
    }),
  );
  return make(
    "div",
    "board-frame",
    board.before ? make("pre", "state", board.before) : null,
    svg,
    board.after ? make("pre", "state", board.after) : null,
  );
}
