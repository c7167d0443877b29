package groupcomm.jgroups;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.stack.Protocol;
import org.jgroups.stack.ProtocolStack;
import org.jgroups.util.UUID;

/** A member: a real stack, with an application above it that notes what comes, and a transport below that captures. */
final class Member {
    final Driver driver;
    final String name;
    final Address address;
    final List<Protocol> protocols=new ArrayList<>();
    final Protocol application;
    final Protocol transport;
    final GMS gms;
    final Timers timers;
    volatile boolean crashed;
    /** The coordinator that discovery finds, or null. */
    volatile Address found;
    /** What its application multicasts when it is asked to stop, or null. */
    volatile String atBlock;

    Member(Driver driver, int number, List<String> layers, Map<String,Object> options) throws Exception {
        this.driver=driver;
        name=String.valueOf((char)('A' + number));
        address=new UUID(0, number + 1L);
        timers=new Timers(this);
        application=Line.application(this);
        transport=Line.transport(this);
        GMS deciding=null;
        for(String layer: layers) {
            Protocol protocol=(Protocol)Class.forName(className(layer)).getDeclaredConstructor().newInstance();
            if(protocol instanceof GMS g) deciding=g;
            protocols.add(protocol);
            for(Map.Entry<String,Object> option: options.entrySet()) {
                String[] name=option.getKey().split("\\.");
                if(name[0].equals(layer)) Fields.set(protocol, name[1], option.getValue());
            }
        }
        if(deciding == null) throw new IllegalArgumentException("a stack has GMS");
        gms=deciding;
        ProtocolStack stack=new ProtocolStack();
        Protocol above=application;
        List<Protocol> below=new ArrayList<>(protocols);
        below.add(transport);
        for(Protocol protocol: below) {
            above.setDownProtocol(protocol);
            protocol.setUpProtocol(above);
            protocol.setProtocolStack(stack);
            above=protocol;
        }
        application.setProtocolStack(stack);
        Line.addressed(this, stack);
        for(int i=protocols.size() - 1; i >= 0; i--) protocols.get(i).init();
        Line.told(this);
        for(int i=protocols.size() - 1; i >= 0; i--) protocols.get(i).start();
    }

    private static String className(String layer) {
        return "org.jgroups.protocols." + (List.of("SEQUENCER", "MFC", "NAKACK4").contains(layer)? "" : "pbcast.") + layer;
    }

    Protocol top() {return protocols.get(0);}

    Protocol bottom() {return protocols.get(protocols.size() - 1);}

    Protocol find(String layer) {
        for(Protocol protocol: protocols) if(protocol.getClass().getSimpleName().equals(layer)) return protocol;
        throw new IllegalArgumentException("no " + layer + " in the stack");
    }

    boolean has(String layer) {
        return protocols.stream().anyMatch(protocol -> protocol.getClass().getSimpleName().equals(layer));
    }

    // Events of the stack

    /** An event comes up to the application. */
    Object up(Event event) {
        int type=event.getType();
        if(type == Line.event("BLOCK")) block();
        else if(type == Line.event("UNBLOCK")) driver.note("unblock", this);
        else if(type == Event.VIEW_CHANGE) driver.note("view", this, "view", driver.view((View)event.getArg()));
        return null;
    }

    /** As `block()` of an application that sends a message: it returns when that has gone out. */
    private void block() {
        driver.note("block", this);
        if(atBlock == null) return;
        Line.send(this, atBlock);
        driver.note("returned", this);
    }

    void delivered(Message message) {
        driver.note("deliver", this, "sender", driver.name(message.getSrc()), "payload", message.getObject());
    }

    /** An event goes down to the transport. */
    Object down(Event event) {
        if(event.getType() == Event.VIEW_CHANGE)
            driver.note("installed", this, "view", driver.view((View)event.getArg()));
        if(event.getType() == Event.FIND_INITIAL_MBRS) return Line.discovered(found);
        return null;
    }
}
