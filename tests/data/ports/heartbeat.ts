// HEARTBEAT in the skeleton of TypeScript: what the tests put in the place of its src/port.ts.
import type { Config, Effect, Event, Heard, State, ViewId } from "./types.js";

export type Result =
  | { outcome: "handled"; state: State; effects: Effect[] }
  | { outcome: "ignored" | "local_error" | "remote_error" };

const NO_VIEW: ViewId = { counter: 0n, creator: "" };
const NOTHING: Heard = { number: 0n, view: NO_VIEW, counts: false, suspects: false, missed: 0n, gap: 0n };
const same = (a: ViewId, b: ViewId) => a.counter === b.counter && a.creator === b.creator;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);

/** Addresses are ordered by code points, which is not the order of JavaScript's strings. */
function before(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  const at = x.findIndex((c, i) => c !== y[i]);
  if (at < 0) return x.length - y.length;
  return at < y.length ? x[at]!.codePointAt(0)! - y[at]!.codePointAt(0)! : 1;
}

export function start(member: string): State {
  return { member, view: NO_VIEW, members: [], beats: 0n, since: 0n, heard: new Map() };
}

const isSilent = (c: Config, h: Heard) => h.missed > least(c.Longest, greatest(c.Patience, 2n * h.gap));

function isSuspect(c: Config, s: State, h: Heard): boolean {
  if (isSilent(c, h) || same(h.view, NO_VIEW)) return isSilent(c, h);
  if (h.suspects && same(h.view, s.view)) return true;
  if (!h.counts && h.view.counter >= s.view.counter) return true;
  return s.beats - s.since > c.Patience && (h.suspects || !h.counts);
}

export function step(c: Config, s: State, event: Event): Result {
  switch (event.type) {
    case "BeatTimeout": {
      const { suspected, reachable } = event.around;
      const others = (list: Iterable<string>) => [...new Set(list)].filter((p) => p !== s.member).sort(before);
      const [watched, sought] = [others(event.around.watched), others(event.around.sought)];
      const peers = others([...watched, ...sought, ...reachable]);
      const heard = new Map<string, Heard>();
      for (const [p, h] of s.heard) if (peers.includes(p)) heard.set(p, { ...h, missed: least(h.missed, c.Longest) + 1n });
      for (const p of [...watched, ...sought]) if (!heard.has(p)) heard.set(p, NOTHING);
      const after = { ...s, beats: s.beats + 1n, heard };
      const effects: Effect[] = peers.map((to) => {
        const [counts, suspects] = [s.members.includes(to), suspected.includes(to)];
        return { type: "Datagram", to, message: { type: "HEARTBEAT", number: after.beats, view: s.view, counts, suspects } };
      });
      effects.push({ type: "SetTimer", name: "beat", low: c.BeatInterval, high: c.BeatInterval });
      for (const suspect of watched) {
        if (s.members.length > 0 && isSuspect(c, after, heard.get(suspect)!)) {
          effects.push({ type: "PassUp", event: { type: "Suspected", suspect } });
        }
      }
      for (const peer of sought) {
        if (isSilent(c, heard.get(peer)!)) effects.push({ type: "PassUp", event: { type: "SilenceReported", peer } });
      }
      return { outcome: "handled", state: after, effects };
    }
    case "HeartbeatReceived": {
      const { sender, message } = event;
      const { type, ...said } = message;
      const word = said.counts || said.suspects;
      if (sender === s.member || said.number < 1n || (same(said.view, NO_VIEW) && word)) return { outcome: "remote_error" };
      const known = s.heard.get(sender) ?? NOTHING;
      if (said.number <= known.number) return { outcome: "ignored" };
      const gap = known.number === 0n ? 0n : greatest(known.missed, known.gap - 1n);
      const heard = new Map(s.heard).set(sender, { ...said, missed: 0n, gap });
      return { outcome: "handled", state: { ...s, heard }, effects: [] };
    }
    case "ViewInstalled": {
      const { id, members } = event.view;
      if (!members.includes(s.member)) return { outcome: "local_error" };
      if (same(id, s.view)) return { outcome: "ignored" };
      return { outcome: "handled", state: { ...s, view: id, members: [...new Set(members)], since: s.beats }, effects: [] };
    }
  }
}
