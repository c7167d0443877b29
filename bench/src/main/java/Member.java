import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.SEQUENCER;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;

/** A member of a JGroups group in total order; compare.py says what it reads and writes. */
public final class Member implements Receiver {
  private final JChannel channel;
  private final Semaphore window = new Semaphore(0);
  private final Queue<Long> sentAt = new ArrayDeque<>();
  private long delivered;
  private long wanted;
  private double[] latencies = {};
  private int back;

  private Member(int index, List<InetSocketAddress> places) throws Exception {
    TCP transport = new TCP();
    transport.setBindAddress(InetAddress.getLoopbackAddress());
    transport.setBindPort(places.get(index).getPort());
    channel =
        new JChannel(
            transport,
            new TCPPING().setInitialHosts(places),
            new MERGE3(),
            new FD_ALL3(),
            new VERIFY_SUSPECT2(),
            new NAKACK2(),
            new UNICAST3(),
            new STABLE(),
            new GMS(),
            new UFC(),
            new MFC(),
            new FRAG4(),
            new SEQUENCER());
    channel.setReceiver(this);
    channel.connect("bench");
  }

  @Override
  public synchronized void receive(Message message) {
    delivered++;
    if (message.getSrc().equals(channel.getAddress())) {
      latencies[back++] = (System.nanoTime() - sentAt.remove()) / 1e6;
      window.release();
    }
    if (delivered == wanted) {
      notifyAll();
    }
  }

  private void round(int members, int count, int size, int most) throws Exception {
    while (channel.getView().size() < members) {
      Thread.sleep(10);
    }
    synchronized (this) {
      wanted += (long) members * count;
      latencies = new double[count];
      back = 0;
    }
    window.drainPermits();
    window.release(most);
    long began = System.nanoTime();
    double cpu = cpu();
    for (int each = 0; each < count; each++) {
      window.acquire();
      synchronized (this) {
        sentAt.add(System.nanoTime());
      }
      channel.send(new BytesMessage(null, new byte[size]));
    }
    synchronized (this) {
      while (delivered < wanted) {
        wait();
      }
    }
    cpu = cpu() - cpu;
    double wall = (System.nanoTime() - began) / 1e9;
    Arrays.sort(latencies);
    boolean first = channel.getView().getCoord().equals(channel.getAddress());
    System.out.printf(
        "{\"first\": %b, \"cpu\": %f, \"wall\": %f, \"p50\": %f, \"p99\": %f}%n",
        first, cpu, wall, latencies[count / 2], latencies[count * 99 / 100]);
  }

  private static double cpu() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }

  public static void main(String[] arguments) throws Exception {
    List<InetSocketAddress> places =
        Arrays.stream(arguments)
            .skip(1)
            .map(place -> place.split(":"))
            .map(parts -> new InetSocketAddress(parts[0], Integer.parseInt(parts[1])))
            .toList();
    Member member = new Member(Integer.parseInt(arguments[0]), places);
    System.out.println("joined");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      int[] asked = Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray();
      member.round(places.size(), asked[0], asked[1], asked[2]);
    }
    System.exit(0);
  }
}
