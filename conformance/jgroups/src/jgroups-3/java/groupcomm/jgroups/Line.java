package groupcomm.jgroups;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.PhysicalAddress;
import org.jgroups.View;
import org.jgroups.ViewId;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.TP;
import org.jgroups.stack.Protocol;
import org.jgroups.stack.ProtocolStack;
import org.jgroups.util.AsciiString;
import org.jgroups.util.DefaultThreadFactory;
import org.jgroups.util.Digest;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.Responses;
import org.jgroups.util.ThreadFactory;
import org.jgroups.util.TimeScheduler;
import org.jgroups.util.TimeService;

/** The parts that JGroups 3 alone has. */
final class Line {
    private Line() {}

    static int event(String name) {
        try {return Event.class.getField(name).getInt(null);}
        catch(ReflectiveOperationException e) {return -1;}
    }

    static ViewId id(View view) {return view.getViewId();}
    static Address creator(View view) {return view.getCreator();}
    static View view(Address creator, long counter, List<Address> members) {return new View(creator, counter, members);}
    static void from(Message message, Address sender) {message.setSrc(sender);}
    static Address destination(Message message) {return message.getDest();}
    static Message copy(Message message) {return message.copy();}
    static void receive(Member to, Message message) {to.transport.getUpProtocol().up(new Event(Event.MSG, message));}
    static void send(Member by, String payload) {by.top().down(new Event(Event.MSG, new Message(null, payload).src(by.address)));}
    static Object suspected(Address address) {return address;}

    static Object discovered(Address coordinator) {
        Responses found=new Responses(false);
        if(coordinator != null) found.addResponse(new PingData(coordinator, true).coord(true), false);
        found.done();
        return found;
    }

    static Map<String,List<Long>> digest(Driver driver, Member member) {
        Digest digest=(Digest)member.bottom().down(new Event(Event.GET_DIGEST));
        Map<String,List<Long>> seqnos=new TreeMap<>();
        for(Address each: digest.getMembersRaw()) seqnos.put(driver.name(each), List.of(digest.get(each)[0], digest.get(each)[1]));
        return seqnos;
    }

    static void addressed(Member member, ProtocolStack stack) {
        Fields.set(stack, "top_prot", member.application);
        Fields.set(stack, "bottom_prot", member.transport);
    }

    static void told(Member member) {member.top().down(new Event(Event.SET_LOCAL_ADDRESS, member.address));}

    static Protocol application(Member member) {return new Application(member);}

    static Protocol transport(Member member) {return new Transport(member);}

    static final class Application extends Protocol {
        private final Member member;

        Application(Member member) {this.member=member;}

        @Override public String getName() {return "APPLICATION";}
        @Override public void up(MessageBatch batch) {for(Message message: batch) member.delivered(message);}

        @Override public Object up(Event event) {
            if(event.getType() != Event.MSG) return member.up(event);
            member.delivered((Message)event.getArg());
            return null;
        }
    }

    /** Captures, and never sends: it is not started, and has what other protocols ask of a transport. */
    static final class Transport extends TP {
        private final Member member;

        Transport(Member member) {
            this.member=member;
            Executor direct=Runnable::run;
            for(String pool: List.of("thread_pool", "oob_thread_pool", "internal_thread_pool")) Fields.set(this, pool, direct);
            Fields.set(this, "time_service", new TimeService(member.timers.proxy));
        }

        @Override public String getName() {return "CAPTURE";}
        @Override public boolean supportsMulticasting() {return true;}
        @Override public void sendMulticast(AsciiString cluster, byte[] data, int offset, int length) {}
        @Override public void sendUnicast(PhysicalAddress to, byte[] data, int offset, int length) {}
        @Override public PhysicalAddress getPhysicalAddress() {return null;}
        @Override public String getInfo() {return "";}
        @Override public TimeScheduler getTimer() {return member.timers.proxy;}
        @Override public ThreadFactory getThreadFactory() {return new DefaultThreadFactory("transport", true, true);}

        @Override public Object down(Event event) {
            return event.getType() == Event.MSG? member.driver.capture(member, (Message)event.getArg()) : member.down(event);
        }
    }
}
