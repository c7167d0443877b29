// The port: `Start` and `Step` of spec/stable/Stable.tla, both pure. Replace what throws `NotYet`.
import type { Config, Effect, Event, State } from "./values.js";

export const protocol = "stable";
export const version = "0.0.0";

export type Done =
  | { outcome: "handled"; state: State; effects: Effect[] }
  | { outcome: "ignored" | "local_error" | "remote_error" };

/** An answer `skipped`, which is never a pass. */
export class NotYet extends Error {}

export function start(member: string): State {
  throw new NotYet(`start(${member}) is not ported yet`);
}

/** A step changes nothing in place: the driver keeps states, and reads them back. */
export function step(_config: Config, _state: State, event: Event): Done {
  switch (event.type) {
    case "StableTimeout":
    default:
      throw new NotYet(`${event.type} is not ported yet`);
  }
}
