package groupcomm.jgroups;

import java.io.IOException;
import java.util.TreeMap;

/**
 * One thread of JGroups runs at a time, and which one is next is no chance.
 *
 * A thread that is woken would run beside the thread that woke it, and the machine would choose which of the two sends,
 * delivers or takes a lock first. Here it runs when all other threads sleep: {@link Rewriter} has each thread of JGroups ask
 * at the entry of each method, after each call that may have waited, and in each monitor. Of several threads that wait for
 * their turn, the oldest is next. Threads are created in turn too, so their order of age is the same in each run.
 */
public final class Turns {
    private static final class Waiting {
        final Thread thread;
        boolean granted;

        Waiting(Thread thread) {this.thread=thread;}
    }

    private static final TreeMap<Long,Waiting> waiting=new TreeMap<>();
    private static volatile Thread running;

    private Turns() {}

    /** Begin again: threads that wait for their turn are those of a group that is over, and wait on. */
    static void reset() {
        synchronized(waiting) {waiting.clear();}
    }

    /** It is the caller's turn, who knows that all others sleep. */
    static void take() {running=Thread.currentThread();}

    /** Start a thread; it is its turn. The caller asks JGroups for nothing more. */
    static void start(Thread thread) {
        thread.setDaemon(true);
        running=thread;
        thread.start();
    }

    /** Interrupt a thread that waits; it is its turn. */
    static void interrupt(Thread thread) {
        running=thread;
        thread.interrupt();
    }

    /** Let all threads run, one after the other, until each sleeps. */
    static void run(Rest rest) throws IOException {
        for(rest.await(); next(); rest.await());
    }

    private static boolean next() {
        Waiting next;
        synchronized(waiting) {
            if(waiting.isEmpty()) return false;
            next=waiting.pollFirstEntry().getValue();
            running=next.thread;
        }
        synchronized(next) {
            next.granted=true;
            next.notify();
        }
        return true;
    }

    /** Return when it is the caller's turn: at once, if it has the turn already. */
    public static void pass() {
        Thread me=Thread.currentThread();
        if(me == running) return;
        Waiting turn=new Waiting(me);
        synchronized(waiting) {waiting.put(me.getId(), turn);}
        boolean interrupted=false;
        synchronized(turn) {
            while(!turn.granted) {
                try {turn.wait();}
                catch(InterruptedException e) {interrupted=true;}
            }
        }
        if(interrupted) me.interrupt();
    }
}
