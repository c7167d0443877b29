package port;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import port.Types.*;

/** HEARTBEAT in the skeleton of Java: what the tests put in the place of its Port.java. */
public final class Port {
    public sealed interface Result {}

    public record Handled(State state, List<Effect> effects) implements Result {}

    public record Ignored() implements Result {}

    public record LocalError() implements Result {}

    public record RemoteError() implements Result {}

    private static final ViewId NO_VIEW = new ViewId(0, "");
    private static final Heard NOTHING = new Heard(0, NO_VIEW, false, false, 0, 0);

    /** Addresses are ordered by code points, which is not the order of Java's strings. */
    private static final Comparator<String> ORDER =
            (a, b) -> java.util.Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray());

    public static State start(String member) {
        return new State(member, NO_VIEW, Set.of(), 0, 0, Map.of());
    }

    private static boolean isSilent(Config c, Heard h) {
        return h.missed() > Math.min(c.Longest(), Math.max(c.Patience(), 2 * h.gap()));
    }

    private static boolean isSuspect(Config c, State s, Heard h) {
        if (isSilent(c, h) || h.view().equals(NO_VIEW)) {
            return isSilent(c, h);
        }
        boolean excludes = !h.counts() && h.view().counter() >= s.view().counter();
        boolean lasted = s.beats() - s.since() > c.Patience();
        return h.suspects() && h.view().equals(s.view()) || excludes || lasted && (h.suspects() || !h.counts());
    }

    private static Set<String> others(Set<String> of, State s) {
        Set<String> found = new TreeSet<>(ORDER);
        found.addAll(of);
        found.remove(s.member());
        return found;
    }

    public static Result step(Config c, State s, Event event) {
        if (event instanceof BeatTimeout e) {
            return beatTimeout(c, s, e.around());
        } else if (event instanceof HeartbeatReceived e) {
            return heartbeatReceived(s, e.sender(), e.message());
        }
        View view = ((ViewInstalled) event).view();
        if (!view.members().contains(s.member())) {
            return new LocalError();
        } else if (view.id().equals(s.view())) {
            return new Ignored();
        }
        State after = new State(s.member(), view.id(), new HashSet<>(view.members()), s.beats(), s.beats(), s.heard());
        return new Handled(after, List.of());
    }

    private static Result beatTimeout(Config c, State s, Around around) {
        Set<String> watched = others(around.watched(), s);
        Set<String> sought = others(around.sought(), s);
        Set<String> peers = others(around.reachable(), s);
        peers.addAll(watched);
        peers.addAll(sought);
        Map<String, Heard> heard = new HashMap<>();
        s.heard().forEach((p, h) -> {
            if (peers.contains(p)) {
                long missed = Math.min(h.missed(), c.Longest()) + 1;
                heard.put(p, new Heard(h.number(), h.view(), h.counts(), h.suspects(), missed, h.gap()));
            }
        });
        watched.forEach(p -> heard.putIfAbsent(p, NOTHING));
        sought.forEach(p -> heard.putIfAbsent(p, NOTHING));
        State after = new State(s.member(), s.view(), s.members(), s.beats() + 1, s.since(), heard);
        List<Effect> effects = new ArrayList<>();
        for (String p : peers) {
            boolean suspects = around.suspected().contains(p);
            Heartbeat message = new Heartbeat(after.beats(), s.view(), s.members().contains(p), suspects);
            effects.add(new DatagramHeartbeat(p, message));
        }
        effects.add(new SetTimer("beat", c.BeatInterval(), c.BeatInterval()));
        for (String p : watched) {
            if (!s.members().isEmpty() && isSuspect(c, after, heard.get(p))) {
                effects.add(new PassUp(new Suspected(p)));
            }
        }
        for (String p : sought) {
            if (isSilent(c, heard.get(p))) {
                effects.add(new PassUp(new SilenceReported(p)));
            }
        }
        return new Handled(after, effects);
    }

    private static Result heartbeatReceived(State s, String sender, Heartbeat m) {
        boolean word = m.counts() || m.suspects();
        if (sender.equals(s.member()) || m.number() < 1 || m.view().equals(NO_VIEW) && word) {
            return new RemoteError();
        }
        Heard known = s.heard().getOrDefault(sender, NOTHING);
        if (m.number() <= known.number()) {
            return new Ignored();
        }
        long gap = known.number() == 0 ? 0 : Math.max(known.missed(), known.gap() - 1);
        Map<String, Heard> heard = new HashMap<>(s.heard());
        heard.put(sender, new Heard(m.number(), m.view(), m.counts(), m.suspects(), 0, gap));
        return new Handled(new State(s.member(), s.view(), s.members(), s.beats(), s.since(), heard), List.of());
    }
}
