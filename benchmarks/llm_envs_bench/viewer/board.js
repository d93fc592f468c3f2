// Draws a board as tiles. What a glyph means depends on the game.

const CHESS = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
const LOOKS = {
  plan_path: { "#": "wall", ".": "floor", "@": "here", G: "goal", "+": "here", S: "start", digits: "price" },
  sokoban: { "#": "wall", " ": "floor", "@": "here", ".": "target", $: "box", "*": "box home", "+": "here" },
  sudoku: { ".": "floor" },
  tictactoe: { X: "first", O: "second", digits: "price" },
  connect_four: { ".": "floor", R: "first disc", B: "second disc", digits: "price" },
  chess: { ".": "floor", digits: "price" },
};
const ANY = { "#": "wall", ".": "floor", " ": "floor", "·": "floor", _: "floor", "-": "floor", "@": "here", "+": "here" };

// `llm_envs/plan_path-v0` -> `plan_path`
const familyOf = (env) => env.split("/").at(-1).replace(/-v\d+$/, "");

function lookOf(family, glyph) {
  const looks = LOOKS[family] ?? ANY;
  if (looks.digits && /\d/.test(glyph)) return looks.digits;
  if (family === "chess" && glyph.toLowerCase() in CHESS) return glyph === glyph.toLowerCase() ? "second" : "first";
  return looks[glyph] ?? "piece";
}

const SILENT = new Set(["wall", "floor", "target", "box", "box home", "first disc", "second disc"]); // drawn, not written

function tile(family, glyph, x, y, given) {
  const look = lookOf(family, glyph);
  const classes = `${look}${given ? " given" : ""}`;
  const parts = [draw("rect", { x: x + 0.03, y: y + 0.03, width: 0.94, height: 0.94, rx: 0.14, class: `tile ${classes}` })];
  if (look === "target" || (family === "sokoban" && "*+".includes(glyph)))
    parts.push(draw("circle", { cx: x + 0.5, cy: y + 0.5, r: 0.2, class: "ring" }));
  if (look.startsWith("box")) parts.push(draw("rect", { x: x + 0.17, y: y + 0.17, width: 0.66, height: 0.66, rx: 0.08, class: `crate ${look}` }));
  if (look.endsWith("disc")) parts.push(draw("circle", { cx: x + 0.5, cy: y + 0.5, r: 0.36, class: `stone ${look}` }));
  if (!SILENT.has(look)) {
    const written = family === "chess" ? CHESS[glyph.toLowerCase()] ?? glyph : glyph;
    parts.push(draw("text", { x: x + 0.5, y: y + 0.5, class: `glyph ${classes}` }, written));
  }
  return parts;
}

// Tiles that differ from the state one turn earlier are outlined; those that differed in any turn before carry a dot.
function drawBoard(env, state, previous, history) {
  const board = parseBoard(state);
  if (!board.grid) return make("pre", "state", state);
  const family = familyOf(env);
  const height = board.grid.length;
  const width = board.grid[0].length;
  const differs = (one, other, y, x) => one?.grid && other?.grid && one.grid[y]?.[x] !== other.grid[y]?.[x];
  const past = history.map(parseBoard);
  const before = previous === null ? null : parseBoard(previous);
  const svg = draw("svg", { viewBox: `-0.05 -0.05 ${width + 0.1} ${height + 0.1}`, class: "board", role: "img", "aria-label": state });
  svg.style.maxWidth = `${Math.min(26, Math.max(14, width * 2.6))}rem`;
  board.grid.forEach((row, y) =>
    row.forEach((glyph, x) => {
      const given = board.given && board.given[y][x] === glyph && lookOf(family, glyph) === "piece";
      svg.append(...tile(family, glyph, x, y, given));
      const visited = past.some((one, turn) => turn > 0 && differs(past[turn - 1], one, y, x));
      if (lookOf(family, glyph) === "floor" && visited) svg.append(draw("circle", { cx: x + 0.5, cy: y + 0.5, r: 0.1, class: "trail" }));
      if (differs(before, board, y, x)) svg.append(draw("rect", { x: x + 0.06, y: y + 0.06, width: 0.88, height: 0.88, rx: 0.12, class: "changed" }));
    }),
  );
  for (const y of board.rowBars) svg.append(draw("line", { x1: 0, y1: y, x2: width, y2: y, class: "bar" }));
  for (const x of board.columnBars) svg.append(draw("line", { x1: x, y1: 0, x2: x, y2: height, class: "bar" }));
  return make(
    "div",
    "board-frame",
    board.before ? make("pre", "state", board.before) : null,
    svg,
    board.after ? make("pre", "state", board.after) : null,
  );
}
