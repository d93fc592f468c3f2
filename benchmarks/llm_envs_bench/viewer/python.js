// Programs and replies: Python with its words told apart, prose with the code blocks in it.

const KEYWORDS =
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";
const PYTHON = new RegExp(
  [
    "(?<comment>#[^\\n]*)",
    "(?<string>[rbfuRBFU]{0,2}(?:'''[\\s\\S]*?(?:'''|$)|\"\"\"[\\s\\S]*?(?:\"\"\"|$)|'(?:\\\\.|[^'\\\\\\n])*'?|\"(?:\\\\.|[^\"\\\\\\n])*\"?))",
    `(?<keyword>\\b(?:${KEYWORDS.replaceAll(" ", "|")})\\b)`,
    "(?<number>\\b\\d[\\w.]*)",
  ].join("|"),
  "g",
);

function drawPython(code) {
  const box = make("pre", "code");
  let at = 0;
  for (const found of code.matchAll(PYTHON)) {
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    box.append(code.slice(at, found.index), make("span", kind, found[0]));
    at = found.index + found[0].length;
  }
  box.append(code.slice(at));
  return box;
}

// A reply: fenced blocks as code, the rest as it is, formulas marked.
function drawReply(text) {
  const box = make("div", "said");
  const parts = text.split(/^```[^\n]*\n([\s\S]*?)^```[ \t]*$/m);
  parts.forEach((part, number) => {
    if (!part.trim()) return;
    box.append(number % 2 ? drawPython(part.replace(/\n$/, "")) : make("div", "prose", ...drawFormulas(part.trim())));
  });
  return box;
}
