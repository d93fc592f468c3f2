// One lane a role: every turn of the episode as a mark, and what was said in the cycle that is looked at.

function markClass(turn) {
  if (turn.invalid !== null) return "bad";
  if (turn.reward > 1e-9) return "plus";
  return turn.reward < -1e-9 ? "minus" : "zero";
}

const MARKS = { bad: "!", plus: "+", minus: "−", zero: "·" };

function drawLanes(play, roles, taken, jump) {
  const lanes = make("div", "lanes");
  lanes.style.setProperty("--turns", play.turns.length);
  roles.forEach((role, row) => {
    const name = make("span", "lane-name", role);
    name.style.gridRow = row + 1;
    lanes.append(name);
    play.turns.forEach((turn, at) => {
      if (turn.role === role) lanes.append(drawMark(turn, row, at, taken, jump));
    });
  });
  return lanes;
}

function drawMark(turn, row, at, taken, jump) {
  const kind = markClass(turn);
  const mark = make("button", `mark ${kind}`, MARKS[kind]);
  mark.type = "button";
  mark.style.gridArea = `${row + 1} / ${at + 2}`;
  mark.title = `${turn.agent}, turn ${at + 1}: ` + (turn.invalid ?? `reward ${signed(turn.reward)}`);
  mark.setAttribute("aria-label", mark.title);
  if (at + 1 === taken) mark.setAttribute("aria-current", "step");
  if (at + 1 > taken) mark.classList.add("ahead");
  mark.addEventListener("click", () => jump(at + 1));
  return mark;
}

// Long episodes scroll sideways; the current turn stays in sight without moving the page.
function centreLanes() {
  for (const lanes of document.querySelectorAll(".lanes")) {
    const mark = lanes.querySelector("[aria-current]");
    lanes.scrollLeft = mark ? mark.offsetLeft - lanes.clientWidth / 2 : 0;
  }
}

function drawReward(turn) {
  const parts = [["reward", turn.reward], ["team", turn.team], ["local", turn.local]];
  const list = make("dl", "parts");
  const facts = make("dl", "parts facts");
  for (const [name, value] of parts) {
    const tone = value > 1e-9 ? "plus" : value < -1e-9 ? "minus" : "zero";
    list.append(make("div", tone, make("dt", "", name), make("dd", "", signed(value))));
  }
  for (const [name, value] of Object.entries(turn.info)) {
    if (value === null || value === "" || value === 0) continue;
    facts.append(make("div", "", make("dt", "", words(name)), make("dd", "", plain(value))));
  }
  return [list, facts];
}

function drawCard(role, turn, current, openSaw, onToggle) {
  if (!turn) return make("article", "card waiting", make("header", "", make("strong", "", role)), make("p", "quiet", "has not acted yet"));
  const saw = make("details", "saw", make("summary", "", "What it saw"), make("pre", "", turn.saw));
  saw.open = openSaw;
  saw.addEventListener("toggle", () => onToggle(saw.open));
  const card = make(
    "article",
    "card" + (current ? " current" : ""),
    make("header", "", make("strong", "", turn.agent), make("span", "quiet", `cycle ${turn.cycle + 1}`)),
    turn.invalid === null ? null : make("p", "invalid", make("b", "", "Invalid: "), turn.invalid),
    turn.said.trim() ? drawReply(turn.said) : make("p", "quiet", "(an empty reply)"),
    ...drawReward(turn),
    saw,
  );
  if (current) card.setAttribute("aria-current", "step");
  return card;
}

// The latest turn of each role within the cycle of the current turn; later ones of that cycle have not happened yet.
function drawCards(play, roles, taken, openSaw, onToggle) {
  const cards = make("div", "cards");
  if (taken === 0) {
    cards.append(make("p", "quiet", "The start. Nobody has acted yet."));
    return cards;
  }
  const now = play.turns[taken - 1];
  const past = play.turns.slice(0, taken);
  for (const role of roles) {
    const turn = past.findLast((one) => one.role === role && one.cycle === now.cycle);
    cards.append(drawCard(role, turn, turn === now, openSaw, onToggle));
  }
  return cards;
}
