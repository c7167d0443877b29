// Reads traces of STABLE with types of its own, as a test of a port does: a local state is a struct, its functions are maps.
use itf::de::{self, As};
use num_bigint::BigInt;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
struct Id { counter: BigInt, creator: String }

#[derive(Deserialize)]
struct View { id: Id, members: Vec<String> }

#[derive(Deserialize)]
struct Local {
    member: String,
    view: View,
    vote: BTreeMap<String, BigInt>,
    minimum: BTreeMap<String, BigInt>,
    heard_from: BTreeSet<String>,
    pending: bool,
    received_bytes: BigInt,
}

#[derive(Deserialize)]
struct Picks {
    #[serde(with = "As::<de::Option::<_>>")]
    member: Option<String>,
}

#[derive(Deserialize)]
struct Act { action: String, member: String, outcome: String }

#[derive(Deserialize)]
struct State {
    act: Act,
    local: BTreeMap<String, Local>,
    #[serde(rename = "mbt::actionTaken")]
    action: String,
    #[serde(rename = "mbt::nondetPicks")]
    picks: Picks,
}

fn main() {
    let (mut traces, mut states) = (0, 0);
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let trace = itf::trace_from_str::<State>(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        for (number, each) in trace.states.iter().enumerate() {
            let state = &each.value;
            for (name, local) in &state.local {
                assert_eq!(name, &local.member);
                assert!(local.vote.keys().eq(local.minimum.keys()));
                assert!(local.heard_from.iter().all(|from| local.view.members.contains(from)));
                assert!(local.received_bytes >= BigInt::from(0) && local.view.id.counter >= BigInt::from(0));
                assert!(!local.pending || local.view.members.contains(&local.view.id.creator));
            }
            assert_eq!(state.action, if number == 0 { "init" } else { state.act.action.as_str() });
            assert!(!state.act.outcome.is_empty());
            assert_eq!(state.picks.member.as_deref().unwrap_or(""), state.act.member);
        }
        traces += 1;
        states += trace.states.len();
    }
    println!("{traces} traces, {states} states");
}
