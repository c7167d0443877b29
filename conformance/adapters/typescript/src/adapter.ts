// The loop of an adapter: a request a line on stdin, an answer a line on stdout, in turn (docs/porting.md).
// Nothing here is special to a protocol. `port.ts` has the two functions that are yours.
import { createInterface } from "node:readline";
import { NotYet, protocol, start, step, version } from "./port.js";
import type { Config, Event, State } from "./values.js";

type Request =
  | { seq: number; do: "hello"; adapter: number; groupcomm: string }
  | { seq: number; do: "configure"; protocol: string; config: Config }
  | { seq: number; do: "step"; state: State; event: Event }
  | { seq: number; do: "step"; at: number; event: Event; keep?: number }
  | { seq: number; do: "keep"; keep: number; state: State }
  | { seq: number; do: "read"; at: number }
  | { seq: number; do: "read"; member: string }
  | { seq: number; do: "start"; member: string }
  | { seq: number; do: "event"; member: string; event: Event }
  | { seq: number; do: "stop" };

const can = ["step", "keep", "start", "read"];
let config: Config | undefined;
const kept = new Map<number, State>();
const members = new Map<string, State>();

function known<K>(states: Map<K, State>, key: K): State {
  const state = states.get(key);
  if (state === undefined) throw new Error(`there is no state ${String(key)}`);
  return state;
}

function stepped(before: State, event: Event) {
  if (config === undefined) throw new Error("not configured");
  return step(config, before, event);
}

function answer(request: Request): object {
  switch (request.do) {
    case "hello":
      return { adapter: 1, name: "skeleton", version, language: "typescript", protocols: [protocol], can };
    case "configure":
      config = request.config;
      return { ok: true };
    case "step": {
      const before = "at" in request ? known(kept, request.at) : request.state;
      const done = stepped(before, request.event);
      if ("keep" in request && request.keep !== undefined) {
        kept.set(request.keep, done.outcome === "handled" ? done.state : before);
      }
      return done;
    }
    case "keep":
      kept.set(request.keep, request.state);
      return { ok: true };
    case "read":
      return { state: "at" in request ? known(kept, request.at) : known(members, request.member) };
    case "start":
      members.set(request.member, start(request.member));
      return { ok: true };
    case "event": {
      const done = stepped(known(members, request.member), request.event);
      if (done.outcome !== "handled") return done;
      members.set(request.member, done.state);
      return { outcome: done.outcome, effects: done.effects };
    }
    case "stop":
      return { ok: true };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  let told: object;
  try {
    told = answer(request);
  } catch (error) {
    // Stdout is for answers: print words of your own with console.error.
    told = error instanceof NotYet ? { skipped: error.message } : { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify({ seq: request.seq, ...told })}\n`);
  if (request.do === "stop") break;
}
