// Questions of mathematics. Formulas stay LaTeX, which is set apart from the words around it and lightened a little.

const FORMULA = /\$\$[\s\S]+?\$\$|\$[^$\n]+\$|\\\([\s\S]+?\\\)|\\\[[\s\S]+?\\\]|\\f?boxed\s*\{/g;
const SIGNS = {
  times: "×", cdot: "·", div: "÷", pm: "±", le: "≤", leq: "≤", ge: "≥", geq: "≥", ne: "≠", neq: "≠", approx: "≈", infty: "∞",
  pi: "π", alpha: "α", beta: "β", gamma: "γ", theta: "θ", lambda: "λ", mu: "μ", sigma: "σ", phi: "φ", omega: "ω", Delta: "Δ",
  sum: "∑", prod: "∏", int: "∫", cup: "∪", cap: "∩", in: "∈", to: "→", ldots: "…", dots: "…", cdots: "⋯", lfloor: "⌊",
  rfloor: "⌋", lceil: "⌈", rceil: "⌉", quad: " ", left: "", right: "", mid: "|", sqrt: "√", degree: "°", circ: "∘", equiv: "≡",
};

const MATRIX = /\\begin\{([bpv]?matrix)\}([\s\S]*?)\\end\{\1\}/g;
const rowsOf = (inner) => inner.split("\\\\").map((row) => row.split("&").map((cell) => cell.trim()).join(", ")).join("; ");

// Signs for commands that stand for one, matrices row by row; what else has structure stays as it was written.
function lighten(source) {
  return source
    .replace(MATRIX, (_, kind, inner) => `[${rowsOf(inner)}]`)
    .replace(/\\([A-Za-z]+)(?![A-Za-z])/g, (whole, name) => SIGNS[name] ?? whole)
    .replace(/\\([{}%$&#_])/g, "$1")
    .replace(/\\[,;!: ]/g, " ");
}

// Where the group that opens before `from` closes; the end of the text if it does not.
function closingOf(text, from) {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") depth += 1;
    else if (text[at] === "}" && (depth -= 1) === 0) return at;
  }
  return text.length;
}

function formula(source, className) {
  const element = make("span", className, lighten(source));
  element.title = source;
  return element;
}

// Text with its formulas, as nodes.
function drawFormulas(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(FORMULA)) {
    if (found.index < at) continue;
    nodes.push(text.slice(at, found.index));
    if (found[0].endsWith("{")) {
      const begin = found.index + found[0].length;
      const end = closingOf(text, begin);
      nodes.push(formula(text.slice(begin, end), "formula boxed"));
      at = end + 1;
    } else {
      nodes.push(formula(found[0].replace(/^(\$\$?|\\[([])|(\$\$?|\\[)\]])$/g, "").trim(), "formula"));
      at = found.index + found[0].length;
    }
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}

const JUDGED = { right: "pass", wrong: "fail", undecided: "open" };

// The question, and every answer and output so far with its verdict.
function drawMath(play, taken) {
  const box = make("div", "problem", make("h4", "", "Question"), make("p", "statement", ...drawFormulas(play.start)));
  const judged = play.turns.slice(0, taken).filter((turn) => turn.info.verdict !== undefined);
  if (!judged.length) return box;
  const list = make("ol", "verdicts");
  for (const turn of judged) {
    const wrote = "program_ran" in turn.info;
    const found = turn.state.match(wrote ? /\noutput: ([\s\S]*?)(?:\nanswer: |$)/ : /\nanswer: ([\s\S]*)$/);
    const verdict = turn.info.verdict;
    list.append(
      make(
        "li",
        JUDGED[verdict] ?? "open",
        make("span", "mark-of", verdict),
        make("span", "quiet", `${turn.agent}, cycle ${turn.cycle + 1}, ${wrote ? "program" : "answer"}`),
        formula(found ? found[1] : "", "formula"),
      ),
    );
  }
  box.append(make("h4", "", "Answers"), list);
  return box;
}
