//! HEARTBEAT in the skeleton of Rust: what the tests put in the place of its `src/port.rs`.
use crate::types::*;
use std::collections::BTreeMap;

pub enum Outcome {
    Handled(State, Vec<Effect>),
    Ignored,
    LocalError,
    RemoteError,
}
use Outcome::{Handled, Ignored, LocalError, RemoteError};

fn no_view() -> ViewId {
    ViewId { counter: 0, creator: String::new() }
}

pub fn start(member: &str) -> State {
    State { member: member.into(), view: no_view(), members: Default::default(), beats: 0, since: 0, heard: BTreeMap::new() }
}

fn nothing() -> Heard {
    Heard { number: 0, view: no_view(), counts: false, suspects: false, missed: 0, gap: 0 }
}

fn is_silent(c: &Config, h: &Heard) -> bool {
    h.missed > c.Longest.min(c.Patience.max(2 * h.gap))
}

fn is_suspect(c: &Config, s: &State, h: &Heard) -> bool {
    if is_silent(c, h) || h.view == no_view() {
        return is_silent(c, h);
    }
    let excludes = !h.counts && h.view.counter >= s.view.counter;
    (h.suspects && h.view == s.view) || excludes || (s.beats - s.since > c.Patience && (h.suspects || !h.counts))
}

pub fn step(c: &Config, s: &State, event: &Event) -> Outcome {
    let mut after = s.clone();
    match event {
        Event::BeatTimeout(BeatTimeout { around }) => {
            let (mut watched, mut sought, mut peers) = (around.watched.clone(), around.sought.clone(), around.reachable.clone());
            watched.remove(&s.member);
            sought.remove(&s.member);
            peers.extend(watched.iter().chain(&sought).cloned());
            peers.remove(&s.member);
            after.heard.retain(|p, _| peers.contains(p));
            for h in after.heard.values_mut() {
                h.missed = h.missed.min(c.Longest) + 1;
            }
            for p in watched.iter().chain(&sought) {
                after.heard.entry(p.clone()).or_insert_with(nothing);
            }
            after.beats += 1;
            let mut effects = vec![];
            for p in &peers {
                let (counts, suspects) = (s.members.contains(p), around.suspected.contains(p));
                let message = Heartbeat { number: after.beats, view: s.view.clone(), counts, suspects };
                effects.push(Effect::DatagramHeartbeat(DatagramHeartbeat { to: p.clone(), message }));
            }
            effects.push(Effect::SetTimer(SetTimer { name: "beat".into(), low: c.BeatInterval, high: c.BeatInterval }));
            for p in watched.iter().filter(|p| !s.members.is_empty() && is_suspect(c, &after, &after.heard[*p])) {
                let event = PassUpEvent::Suspected(Suspected { suspect: p.clone() });
                effects.push(Effect::PassUp(PassUp { event }));
            }
            for p in sought.iter().filter(|p| is_silent(c, &after.heard[*p])) {
                let event = PassUpEvent::SilenceReported(SilenceReported { peer: p.clone() });
                effects.push(Effect::PassUp(PassUp { event }));
            }
            Handled(after, effects)
        }
        Event::HeartbeatReceived(HeartbeatReceived { sender, message: m }) => {
            if *sender == s.member || m.number < 1 || (m.view == no_view() && (m.counts || m.suspects)) {
                return RemoteError;
            }
            let known = s.heard.get(sender).cloned().unwrap_or_else(nothing);
            if m.number <= known.number {
                return Ignored;
            }
            let gap = if known.number == 0 { 0 } else { known.missed.max(known.gap - 1) };
            let (number, view) = (m.number, m.view.clone());
            after.heard.insert(sender.clone(), Heard { number, view, counts: m.counts, suspects: m.suspects, missed: 0, gap });
            Handled(after, vec![])
        }
        Event::ViewInstalled(ViewInstalled { view }) => {
            if !view.members.contains(&s.member) {
                return LocalError;
            }
            if view.id == s.view {
                return Ignored;
            }
            after.view = view.id.clone();
            after.members = view.members.iter().cloned().collect();
            after.since = s.beats;
            Handled(after, vec![])
        }
    }
}
