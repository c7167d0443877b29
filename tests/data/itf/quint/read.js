// Quint reads each trace and writes it again: sets and functions in another order, all else as it was.
const assert = require("node:assert");
const fs = require("node:fs");
const { ofItf, toItf, ACTION_TAKEN, NONDET_PICKS } = require("@informalsystems/quint/dist/src/itf.js");

const order = (value) => {
  if (Array.isArray(value)) return value.map(order);
  if (value === null || typeof value !== "object") return value;
  const told = Object.fromEntries(Object.keys(value).sort().map((name) => [name, order(value[name])]));
  for (const mark of ["#set", "#map"]) {
    if (told[mark]) told[mark].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return told;
};

let states = 0;
for (const file of process.argv.slice(2)) {
  const trace = JSON.parse(fs.readFileSync(file, "utf8"));
  const read = ofItf(trace);
  const written = toItf(trace.vars, read);
  assert(written.isRight(), `${file}: ${JSON.stringify(written.value)}`);
  assert.deepStrictEqual(order(written.value.states), order(trace.states));
  assert(trace.vars.includes(ACTION_TAKEN) && trace.vars.includes(NONDET_PICKS));
  states += read.length;
}
console.log(`${process.argv.length - 2} traces, ${states} states`);
