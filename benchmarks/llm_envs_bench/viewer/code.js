// Programming problems. The state is text: problem, examples, cases, the latest program, and a verdict a line at its end.

const VERDICT = /^(example|case) (\d+): ([a-z_ ]+)$/;
const PAIR = /^(example|case): ('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*") -> ('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")$/;
const ESCAPES = { n: "\n", t: "\t", r: "\r" };

// A Python string literal as the text that it stands for.
const literal = (text) =>
  text.slice(1, -1).replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([\s\S]))/g, (_, x, u, wide, one) =>
    one === undefined ? String.fromCodePoint(parseInt(x ?? u ?? wide, 16)) : ESCAPES[one] ?? one,
  );

// Verdicts are read from the end: programs stand before them, and may say whatever they like.
function takeVerdicts(lines, kind) {
  const verdicts = [];
  let next = null;
  while (lines.length) {
    const found = lines.at(-1).match(VERDICT);
    if (!found || found[1] !== kind || (next !== null && Number(found[2]) !== next)) break;
    verdicts.unshift(found[3]);
    next = Number(found[2]) - 1;
    lines.pop();
    if (next === 0) break;
  }
  return verdicts;
}

function parseProblem(state) {
  const lines = state.split("\n");
  const header = lines.findIndex((line) => /^hidden tests: \d+ \([0-9a-f]+\), passed: \d+$/.test(line));
  if (header < 0) return null;
  const [, hidden, passed] = lines[header].match(/: (\d+) .*: (\d+)$/);
  const pairsOf = (some) => some.map((line) => line.match(PAIR)).filter(Boolean).map((found) => ({ kind: found[1], given: literal(found[2]), wanted: literal(found[3]) }));
  const examples = pairsOf(lines.slice(0, header));
  const rest = lines.slice(header + 1);
  const onCases = takeVerdicts(rest, "case");
  const onExamples = examples.length ? takeVerdicts(rest, "example") : [];
  const firstProgram = rest.findIndex((line) => line === "program:" || line === "tried:");
  const cases = pairsOf(firstProgram < 0 ? rest : rest.slice(0, firstProgram));
  const tried = rest.indexOf("tried:");
  const codeOf = (from, to) => (from < 0 ? null : rest.slice(from + 1, to).join("\n").trimEnd());
  const program = rest[firstProgram] === "program:" ? firstProgram : -1;
  return {
    name: lines[0].replace("problem: ", ""),
    statement: lines.slice(1, header).filter((line) => !PAIR.test(line)).join("\n").trim(),
    tests: [...examples.map((one, n) => ({ ...one, verdict: onExamples[n] })), ...cases.map((one, n) => ({ ...one, verdict: onCases[n] }))],
    hidden: Number(hidden),
    passed: Number(passed),
    program: codeOf(program, tried > program ? tried : undefined),
    tried: codeOf(tried),
  };
}

// What a program reads or prints; that it is nothing, or nothing to be seen, is said in words.
function drawText(text) {
  return text.trim() ? make("pre", "", text) : make("span", "quiet", text ? "(blank)" : "(empty)");
}

function testRow(test, number) {
  const kind = test.verdict === undefined ? "open" : test.verdict === "pass" ? "pass" : "fail";
  return make(
    "tr",
    kind,
    make("td", "", `${test.kind} ${number}`),
    make("td", "", drawText(test.given)),
    make("td", "", drawText(test.wanted)),
    make("td", "mark-of", test.verdict ?? "not run"),
  );
}

function drawTests(problem) {
  const table = make("table", "tests", make("thead", "", make("tr", "", ...["test", "input", "expected", "verdict"].map((name) => make("th", "", name)))));
  const counts = { example: 0, case: 0 };
  table.append(make("tbody", "", ...problem.tests.map((test) => testRow(test, (counts[test.kind] += 1)))));
  return make("div", "wide", table);
}

function drawHidden(problem) {
  const share = problem.hidden ? problem.passed / problem.hidden : 0;
  const meter = make("span", "meter", make("span", "fill"));
  meter.firstChild.style.width = `${100 * share}%`;
  const words = problem.program === null ? `${problem.hidden} hidden tests; no program yet` : `${problem.passed} of ${problem.hidden} hidden tests passed`;
  return make("p", `hidden-tests ${share === 1 ? "pass" : "fail"}`, meter, words);
}

function drawCode(state) {
  const problem = parseProblem(state);
  if (!problem) return make("pre", "state", state);
  const statement = make("details", "statement-box", make("summary", "", `Problem: ${problem.name}`), make("p", "statement", problem.statement));
  statement.open = problem.program === null;
  const box = make("div", "problem", statement, drawHidden(problem));
  for (const [title, code] of [["Program", problem.program], ["Tried out", problem.tried]]) {
    if (code !== null) box.append(make("h4", "", title), drawPython(code));
  }
  if (problem.tests.length) box.append(make("h4", "", "Tests that may be seen"), drawTests(problem));
  return box;
}
