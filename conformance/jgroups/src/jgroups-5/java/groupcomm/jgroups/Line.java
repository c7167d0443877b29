package groupcomm.jgroups;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.PhysicalAddress;
import org.jgroups.View;
import org.jgroups.ViewId;
import org.jgroups.logging.LogFactory;
import org.jgroups.protocols.NoBundler;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.TP;
import org.jgroups.stack.DiagnosticsHandler;
import org.jgroups.stack.Protocol;
import org.jgroups.stack.ProtocolStack;
import org.jgroups.util.DefaultSocketFactory;
import org.jgroups.util.DefaultThreadFactory;
import org.jgroups.util.Digest;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.Responses;
import org.jgroups.util.ThreadPool;
import org.jgroups.util.TimeScheduler;
import org.jgroups.util.TimeService;

/** The parts that JGroups 5 alone has. */
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
    static Message copy(Message message) {return message.copy(true, true);}
    static void receive(Member to, Message message) {to.transport.getUpProtocol().up(message);}
    static void send(Member by, String payload) {by.top().down(new ObjectMessage(null, payload).setSrc(by.address));}
    static Object suspected(Address address) {return Collections.singletonList(address);}

    static Object discovered(Address coordinator) {
        Responses found=new Responses(0, false);
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
        for(Protocol protocol: member.protocols) protocol.setAddress(member.address);
        member.transport.setAddress(member.address);
    }

    static void told(Member member) {}

    static Protocol application(Member member) {return new Application(member);}

    static Protocol transport(Member member) throws Exception {return new Transport(member);}

    static final class Application extends Protocol {
        private final Member member;

        Application(Member member) {this.member=member;}

        @Override public String getName() {return "APPLICATION";}
        @Override public Object up(Event event) {return member.up(event);}
        @Override public void up(MessageBatch batch) {for(Message message: batch) up(message);}

        @Override public Object up(Message message) {
            member.delivered(message);
            return null;
        }
    }

    /** Captures, and never sends: it is not started, and has what other protocols ask of a transport. */
    static final class Transport extends TP {
        private final Member member;

        Transport(Member member) throws Exception {
            this.member=member;
            Fields.set(this, "diag_handler", new DiagnosticsHandler(
                LogFactory.getLog(TP.class), new DefaultSocketFactory(), new DefaultThreadFactory("diagnostics", true)));
            setBundler(new NoBundler());
            Fields.set(this, "thread_factory", new DefaultThreadFactory("transport", true));
            ThreadPool pool=new ThreadPool();
            pool.setThreadPool(Runnable::run);
            Fields.set(this, "thread_pool", pool);
            setTimeService(new TimeService(member.timers.proxy) {
                @Override public long timestamp() {return Clock.nanoTime();}
            });
        }

        @Override public String getName() {return "CAPTURE";}
        @Override public boolean supportsMulticasting() {return true;}
        @Override public void sendUnicast(PhysicalAddress to, byte[] data, int offset, int length) {}
        @Override public PhysicalAddress getPhysicalAddress() {return null;}
        public String getInfo() {return "";}
        @Override public TimeScheduler getTimer() {return member.timers.proxy;}
        @Override public Object down(Event event) {return member.down(event);}
        @Override public Object down(Message message) {return member.driver.capture(member, message);}
    }
}
