// A state is text. Its grid (the longest block of rows of one width) becomes cells; the rest stays text.

const RULE = /^[-+|= ]*-{3}[-+|= ]*$/; // a line between the boxes of a board

// The cells of a line, and before which of them a bar stands.
function cellsOf(line) {
  if (line.includes("#")) return { cells: [...line], bars: [] }; // walls: a blank is a cell, too
  const tokens = line.trim().split(/\s+/);
  if (tokens.length >= 3 && tokens.every((token) => [...token].length === 1)) {
    const bars = [];
    const cells = [];
    for (const token of tokens) {
      if (token === "|") bars.push(cells.length);
      else cells.push(token);
    }
    return { cells, bars };
  }
  return { cells: tokens.length > 1 ? [] : [...line], bars: [] };
}

function blocksOf(lines) {
  const blocks = [];
  let open = null;
  lines.forEach((line, at) => {
    if (open && RULE.test(line)) {
      open.pending = true;
      return;
    }
    const { cells, bars } = cellsOf(line);
    if (cells.length < 3) {
      open = null;
      return;
    }
    if (!open || open.width !== cells.length) {
      open = { width: cells.length, first: at, last: at, rows: [], columnBars: bars, rowBars: [] };
      blocks.push(open);
    } else if (open.pending) open.rowBars.push(open.rows.length);
    open.pending = false;
    open.rows.push(cells);
    open.last = at;
  });
  return blocks.filter((block) => block.rows.length >= 2);
}

const parsedBoards = new Map();

// The last of the tallest blocks is the board as it is now; one of the same size before it, the board that was given.
function parseBoard(state) {
  if (parsedBoards.has(state)) return parsedBoards.get(state);
  const lines = state.split("\n");
  const blocks = blocksOf(lines);
  const height = Math.max(0, ...blocks.map((block) => block.rows.length));
  const tallest = blocks.filter((block) => block.rows.length === height);
  const board = { grid: null, given: null, before: state, after: "" };
  if (tallest.length) {
    const now = tallest.at(-1);
    const given = tallest.length > 1 && tallest[0].width === now.width ? tallest[0] : null;
    board.grid = now.rows;
    board.given = given && given.rows;
    board.rowBars = now.rowBars;
    board.columnBars = now.columnBars;
    board.before = lines.slice(0, (given ?? now).first).join("\n").trim();
    board.after = lines.slice(now.last + 1).join("\n").trim();
  }
  parsedBoards.set(state, board);
  return board;
}
