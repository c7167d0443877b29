package groupcomm.jgroups;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.ToNumberPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Header;
import org.jgroups.MergeView;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.util.UUID;

/** A group of members in one JVM, and the commands that drive it. README.md lists them. */
public final class Driver implements Function<String,String> {
    private record Sent(Member by, Message message) {}

    private static final Pattern ADDRESS=Pattern.compile("00000000-0000-0000-0000-0000000000([0-9a-f]{2})");
    private static final Pattern KIND=Pattern.compile("\\b[A-Z][A-Z_]{2,}\\b");

    private final Gson gson=new GsonBuilder().serializeNulls().disableHtmlEscaping()
        .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE).create();
    private final List<Sent> sent=new ArrayList<>();
    private final List<Map<String,Object>> noted=new ArrayList<>();
    private Map<String,Member> members=new LinkedHashMap<>();
    private Rest rest;

    @Override public String apply(String line) {
        Map<String,Object> answer=new LinkedHashMap<>();
        Turns.take();
        try {
            @SuppressWarnings("unchecked")
            Map<String,Object> command=gson.fromJson(line, Map.class);
            Object result=perform(command);
            Turns.run(rest);
            answer.put("result", result);
        }
        catch(Throwable e) {
            answer.put("error", e.toString());
        }
        synchronized(noted) {
            answer.put("events", new ArrayList<>(noted));
            noted.clear();
        }
        return gson.toJson(answer);
    }

    // Events noted for the answer

    void note(String kind, Member member, Object... more) {
        Map<String,Object> event=new LinkedHashMap<>();
        event.put("kind", kind);
        event.put("member", member.name);
        for(int i=0; i < more.length; i+=2) event.put((String)more[i], more[i + 1]);
        synchronized(noted) {noted.add(event);}
    }

    /** A message reaches the transport of its sender. The dead say nothing, though their threads may still run. */
    Object capture(Member by, Message message) {
        if(by.crashed) return null;
        if(message.getSrc() == null) Line.from(message, by.address);
        Address to=Line.destination(message);
        Message copy=Line.copy(message);
        List<String> kinds=new ArrayList<>();
        StringBuilder text=new StringBuilder();
        for(Map.Entry<Short,Header> each: new TreeMap<>(copy.getHeaders()).entrySet()) {
            String header=each.getValue().toString(), type=each.getValue().getClass().getSimpleName();
            Matcher kind=KIND.matcher(header);
            while(kind.find()) kinds.add(kind.group());
            text.append(type).append('{').append(named(header)).append('}');
        }
        synchronized(noted) {
            sent.add(new Sent(by, copy));
            note("sent", by, "number", sent.size(), "to", name(to), "headers", kinds, "text", text.toString());
        }
        return null;
    }

    String name(Address address) {
        if(address == null) return null;
        long number=((UUID)address).getLeastSignificantBits();
        return String.valueOf((char)('A' + number - 1));
    }

    private static String named(String text) {
        return ADDRESS.matcher(text).replaceAll(found -> String.valueOf((char)('A' + Integer.parseInt(found.group(1), 16) - 1)));
    }

    Map<String,Object> view(View view) {
        if(view == null) return null;
        List<String> names=new ArrayList<>();
        for(Address address: view.getMembers()) names.add(name(address));
        return Map.of("counter", Line.id(view).getId(), "creator", name(Line.creator(view)), "members", names,
                      "merged", view instanceof MergeView);
    }

    @SuppressWarnings("unchecked")
    private View view(Object value) {
        Map<String,Object> given=(Map<String,Object>)value;
        List<Address> addresses=new ArrayList<>();
        for(Object name: (List<?>)given.get("members")) addresses.add(member(name).address);
        return Line.view(member(given.get("creator")).address, (Long)given.get("counter"), addresses);
    }

    // Commands

    private Member member(Object name) {
        Member found=members.get(name);
        if(found == null) throw new IllegalArgumentException("no member is called " + name);
        return found;
    }

    /** Run in a thread of its own, as the transport's threads and the application's are: it may wait. */
    private void start(Member member, String what, Runnable runs) {
        Thread thread=new Thread(() -> {
            try {runs.run();}
            catch(Throwable e) {note("failed", member, "what", what, "error", e.toString());}
        }, what + " " + member.name);
        Turns.start(thread);
    }

    @SuppressWarnings("unchecked")
    private Object perform(Map<String,Object> command) throws Exception {
        String what=(String)command.get("do");
        if(what.equals("group")) {
            members.values().forEach(member -> member.crashed=true);
            Clock.reset();
            Turns.reset();
            sent.clear();
            noted.clear();
            rest=new Rest();
            members=new LinkedHashMap<>();
            for(int i=0; i < (Long)command.get("members"); i++) {
                Member member=new Member(this, i, (List<String>)command.get("layers"), (Map<String,Object>)command.get("options"));
                members.put(member.name, member);
            }
            return null;
        }
        if(what.equals("advance")) {
            advance((Long)command.get("ms"));
            return null;
        }
        if(what.equals("receive")) {
            Sent it=sent.get((int)(long)(Long)command.get("message") - 1);
            Member to=member(command.get("to"));
            Message copy=Line.copy(it.message);
            start(to, "receive", () -> Line.receive(to, copy));
            return null;
        }
        Member member=member(command.get("member"));
        Object found=command.get("found");
        switch(what) {
            case "connect" -> {
                member.found=found == null? null : member(found).address;
                start(member, what, () -> {
                    int type=member.has("FLUSH")? Line.event("CONNECT_USE_FLUSH") : Event.CONNECT;
                    Object result=member.top().down(new Event(type, "group"));
                    if(result instanceof Throwable e) note("failed", member, "what", what, "error", e.toString());
                    note("connected", member);
                });
            }
            case "discover" -> member.found=found == null? null : member(found).address;
            case "leave" -> start(member, what, () -> {
                member.top().down(new Event(Event.DISCONNECT, member.address));
                note("left", member);
            });
            case "crash" -> member.crashed=true;
            case "send" -> start(member, what, () -> Line.send(member, (String)command.get("payload")));
            case "at_block" -> member.atBlock=(String)command.get("payload");
            case "suspect" -> {
                Object suspected=Line.suspected(member(command.get("of")).address);
                start(member, what, () -> member.transport.getUpProtocol().up(new Event(Event.SUSPECT, suspected)));
            }
            case "merge" -> {
                Map<Address,View> views=new HashMap<>();
                ((Map<String,Object>)command.get("views")).forEach((name, view) -> views.put(member(name).address, view(view)));
                start(member, what, () -> member.gms.up(new Event(Event.MERGE, views)));
            }
            case "install" -> {
                View view=view(command.get("view"));
                start(member, what, () -> member.gms.installView(view));
            }
            case "stop" -> start(member, what, () -> {
                Object result=member.top().down(new Event(Line.event("SUSPEND")));
                note("stopped", member, "result", String.valueOf(result));
            });
            case "resume" -> start(member, what, () -> {
                member.top().down(new Event(Line.event("RESUME")));
                note("resumed", member);
            });
            case "digest" -> {return Line.digest(this, member);}
            case "kept" -> {
                Map<String,List<Long>> seqnos=Line.digest(this, member);
                return Fields.kept(member.bottom(), of -> seqnos.get(name((Address)of)).get(1));
            }
            case "blocked" -> {return Fields.get(member.find("FLUSH"), "isBlockingFlushDown");}
            case "role" -> {return Fields.get(member.gms, "impl").getClass().getSimpleName();}
            default -> throw new IllegalArgumentException("no command is called " + what);
        }
        return null;
    }

    /** Let time pass, deadline by deadline. Each has all its consequences before the next. */
    private void advance(long milliseconds) throws Exception {
        long end=Clock.now() + milliseconds;
        for(;;) {
            Clock.Deadline next=Clock.next(end);
            if(next == null) return;
            if(next.task != null) Turns.start(new Thread(next.task, "timer"));
            else {
                next.expired=true;
                Turns.interrupt(next.waits);
            }
            Turns.run(rest);
        }
    }
}
