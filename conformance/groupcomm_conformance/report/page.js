"use strict";

// A viewer shows one state at a time: the current scene of its chart, and beside it a table of the state. It lies in
// a template until its story is opened: a page has some hundred of them.
// All text comes from the page; `states` (see page.py) has the cells, which are HTML already.

const viewers = new Map();

class Viewer {
  constructor(section) {
    this.section = section;
    this.id = section.dataset.story;
    this.data = JSON.parse(section.querySelector("script").textContent);
    this.list = section.querySelector(".scenes");
    this.scenes = [...this.list.children];
    this.links = this.scenes.map((scene) => scene.querySelector(".number"));
    this.tools = section.querySelector(".tools");
    this.range = section.querySelector("input");
    this.spoken = section.querySelector(".spoken");
    this.at = 0;
    this.tools.hidden = false;
    section.classList.add("live");
    section.addEventListener("click", (event) => this.click(event));
    section.addEventListener("keydown", (event) => this.key(event));
    this.range.addEventListener("input", () => this.go(Number(this.range.value) - 1, { told: true }));
    this.show();
  }

  get last() {
    return this.scenes.length - 1;
  }

  /** Show a state, counted from 0. `told`: the address follows; `focus`: so does the keyboard. */
  go(to, { told = false, focus = false } = {}) {
    const at = Math.max(0, Math.min(this.last, to));
    const moved = at !== this.at;
    this.at = at;
    if (moved) this.show();
    if (focus) this.links[at].focus({ preventScroll: true });
    this.reveal();
    if (told) history.replaceState(null, "", `#${this.id}/${at + 1}`);
  }

  /** Scroll the chart, and never the page, so that the scene is seen with the ones around it. */
  reveal() {
    const scene = this.scenes[this.at];
    const deed = scene.querySelector(".deed");
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    const chart = this.list.parentElement;
    const middle = (size, room) => Math.max(0, (room - size) / 2);
    this.list.scrollTo({ top: scene.offsetTop - middle(scene.offsetHeight, this.list.clientHeight), behavior });
    chart.scrollTo({ left: deed.offsetLeft - middle(deed.offsetWidth, chart.clientWidth), behavior });
  }

  show() {
    const { members, group } = this.data.scenes[this.at];
    this.scenes.forEach((scene, place) => {
      scene.classList.toggle("later", place > this.at);
      if (place === this.at) scene.setAttribute("aria-current", "step");
      else scene.removeAttribute("aria-current");
      this.links[place].tabIndex = place === this.at ? 0 : -1;
    });
    this.range.value = this.at + 1;
    this.range.setAttribute("aria-valuetext", `${this.at + 1} of ${this.scenes.length}`);
    this.section.querySelector(".place b").textContent = this.at + 1;
    for (const button of this.tools.querySelectorAll("button")) {
      const end = ["first", "back"].includes(button.dataset.go) ? 0 : this.last;
      button.setAttribute("aria-disabled", this.at === end);
    }
    const scene = this.scenes[this.at];
    const deed = scene.querySelector(".deed");
    const [deeds, outcome] = [".unseen, strong", ".outcome"].map((parts) =>
      [...deed.querySelectorAll(parts)].map((part) => part.textContent.trim()).join(" "),
    );
    const words = outcome ? `${deeds}, ${outcome}` : deeds;
    this.section.querySelector(".now").textContent = `${this.at + 1}. ${words}`;
    const changes = [...scene.querySelectorAll(".changes li")].map((change) => change.textContent);
    this.spoken.textContent = [`State ${this.at + 1} of ${this.scenes.length}`, words, ...changes].join(". ");
    const more = scene.querySelector(".more");
    this.section.querySelector(".said").replaceChildren(...(more ? [more.cloneNode(true)] : []));
    this.fill(this.section.querySelector(".members"), members);
    this.fill(this.section.querySelector(".group"), group);
  }

  fill(body, rows) {
    body.replaceChildren(
      ...rows.map(([name, cells]) => {
        const row = document.createElement("tr");
        const head = document.createElement("th");
        head.scope = "row";
        head.textContent = name;
        row.append(head);
        for (const number of cells) {
          const cell = document.createElement("td");
          if (number !== null) cell.innerHTML = this.data.html[number < 0 ? -1 - number : number];
          if (number !== null && number < 0) {
            cell.className = "new";
            row.className = "changed";
          }
          if (body.className === "group") cell.colSpan = this.data.lanes.length || 1;
          row.append(cell);
        }
        return row;
      }),
    );
  }

  click(event) {
    const button = event.target.closest("button[data-go]");
    if (button) {
      const to = { first: 0, back: this.at - 1, on: this.at + 1, last: this.last }[button.dataset.go];
      this.go(to, { told: true });
      return;
    }
    const scene = event.target.closest(".scene");
    if (scene && !String(getSelection())) {
      event.preventDefault();
      this.go(this.scenes.indexOf(scene), { told: true, focus: true });
    }
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === this.range) return;
    const to = {
      ArrowLeft: this.at - 1,
      ArrowUp: this.at - 1,
      ArrowRight: this.at + 1,
      ArrowDown: this.at + 1,
      Home: 0,
      End: this.last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to, { told: true, focus: this.list.contains(event.target) });
  }
}

/** Take the viewer of an opened story out of its template. */
function opened(story) {
  const template = story.querySelector("template");
  if (template) template.replaceWith(template.content);
  const section = story.querySelector(".viewer");
  const viewer = viewers.get(section.dataset.story) ?? new Viewer(section);
  viewers.set(viewer.id, viewer);
  return viewer;
}

const LOST = " is not on this page";

/** Go where the address points: `#stable/join` opens a counterexample, `#stable/join/7` also steps to a state. */
function follow() {
  const [, id, number] = /^#(.+?\/.+?)(?:\/(\d+))?$/.exec(location.hash) ?? [];
  const story = id && document.getElementById(id);
  const named = decodeURIComponent(location.hash.slice(1));
  const lost = named && !story && !document.getElementById(named);
  if (lost || count.textContent.endsWith(LOST)) count.textContent = lost ? named + LOST : "";
  if (!story) return;
  story.open = true;
  const viewer = opened(story);
  if (number) viewer.go(Number(number) - 1, { focus: true });
  story.scrollIntoView({ block: "start", behavior: "instant" });
}

for (const story of document.querySelectorAll("details.story")) {
  if (story.open) opened(story);
  story.addEventListener("toggle", () => story.open && opened(story).reveal());
}
addEventListener("hashchange", follow);
// The browser goes there in its own way, the last time in the first frame after loading: this comes later.
addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(follow)));

// A row, an erratum or a story is found by all of the words typed, in any order, and by its result.
const find = document.querySelector(".find");
const [words, result, count] = find.elements;
const entries = [...document.querySelectorAll("[data-result]")];
const texts = new Map(entries.map((entry) => [entry, entry.textContent.toLowerCase()]));
find.hidden = entries.length === 0;
function look() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const entry of entries) {
    const fits = wanted.every((word) => texts.get(entry).includes(word));
    entry.hidden = !fits || (result.value !== "" && entry.dataset.result !== result.value);
    if (!entry.hidden) shown += 1;
  }
  count.textContent = wanted.length || result.value ? `${shown} of ${entries.length}` : "";
}
words.addEventListener("input", look);
result.addEventListener("change", look);
find.addEventListener("submit", (event) => {
  event.preventDefault();
  entries.find((entry) => !entry.hidden)?.scrollIntoView({ block: "center", behavior: "instant" });
});

// A list is sorted by a click on a heading, the second time the other way round.
const value = (row, column) => {
  const text = row.cells[column].dataset.value ?? row.cells[column].textContent;
  return { text, number: Number(text.replaceAll(",", "")) };
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.ariaSort === "ascending";
      for (const other of heads) other.ariaSort = other === head ? (down ? "descending" : "ascending") : "none";
      const order = (a, b) =>
        Number.isNaN(a.number) || Number.isNaN(b.number)
          ? a.text.localeCompare(b.text, "en", { numeric: true })
          : a.number - b.number;
      const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: value(row, column) }));
      rows.sort((a, b) => (down ? order(b.key, a.key) : order(a.key, b.key)));
      table.tBodies[0].append(...rows.map(({ row }) => row));
    });
  });
}

// The contents say where one is.
const places = new Map([...document.querySelectorAll(".contents li a[href^=\"#\"]")].map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) places.get(target.id).setAttribute("aria-current", "true");
      else places.get(target.id).removeAttribute("aria-current");
    }
  },
  { rootMargin: "-20% 0px -79% 0px" },
);
for (const id of places.keys()) seen.observe(document.getElementById(id));

// On paper everything is open.
let shut = [];
addEventListener("beforeprint", () => {
  shut = [...document.querySelectorAll("details:not([open])")];
  for (const details of shut) {
    details.open = true;
    if (details.matches(".story")) opened(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of shut) details.open = false;
});
