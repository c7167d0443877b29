"use strict";

// The sections of all pages are in `index.js`, which is loaded when somebody begins to search.

const search = document.querySelector(".search");
const [asked, said] = search.elements;
const list = document.querySelector(".hits");
const MOST = 30;
let loading;

function load() {
  loading ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${search.dataset.base}index.js`;
    script.addEventListener("load", done);
    document.head.append(script);
  });
  return loading;
}

/** Sections that have all words; those first that have them in the title, then those that have them early. */
function found(wanted) {
  const hits = [];
  for (const [place, page, title, text] of SECTIONS) {
    const [head, body] = [title.toLowerCase(), `${page} ${text}`.toLowerCase()];
    if (!wanted.every((word) => head.includes(word) || body.includes(word))) continue;
    const inHead = wanted.filter((word) => head.includes(word)).length;
    hits.push({ place, page, title, text, rank: -10 * inHead + (head === wanted.join(" ") ? -5 : 0) + head.length / 1000 });
  }
  return hits.sort((a, b) => a.rank - b.rank);
}

/** The words around the first one that is wanted, which is marked. */
function excerpt(text, wanted) {
  const at = Math.max(0, Math.min(...wanted.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0), text.length));
  const part = text.slice(Math.max(0, at - 60), at + 140);
  const line = document.createElement("p");
  const pattern = new RegExp(`(${wanted.map((word) => word.replace(/\W/g, "\\$&")).join("|")})`, "i");
  for (const piece of part.split(new RegExp(pattern, "gi"))) {
    const node = document.createElement(wanted.includes(piece.toLowerCase()) ? "mark" : "span");
    node.textContent = piece;
    line.append(node);
  }
  return line;
}

async function look() {
  const wanted = asked.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.hidden = wanted.length === 0;
  said.textContent = "";
  if (list.hidden) return;
  await load();
  const hits = found(wanted);
  said.textContent = hits.length ? `${hits.length}` : "nothing has all of these words";
  list.replaceChildren(
    ...hits.slice(0, MOST).map(({ place, page, title, text }) => {
      const entry = document.createElement("li");
      const link = document.createElement("a");
      link.href = search.dataset.base + place;
      link.textContent = title === page ? title : `${title} (${page})`;
      link.addEventListener("click", () => (list.hidden = true));
      entry.append(link, excerpt(text, wanted));
      return entry;
    }),
  );
}

asked.addEventListener("focus", load, { once: true });
asked.addEventListener("input", look);
search.addEventListener("submit", async (event) => {
  event.preventDefault();
  await look();
  list.querySelector("a")?.click();
});

// A flaw that an address names is opened.
function unfold() {
  const flaw = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details.flaw");
  if (!flaw) return;
  flaw.open = true;
  const story = flaw.querySelector("details.story");
  if (story) story.open = true;
  flaw.scrollIntoView({ block: "start", behavior: "instant" });
}
addEventListener("hashchange", unfold);
addEventListener("load", unfold);
