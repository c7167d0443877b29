package groupcomm.jgroups;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

/**
 * The time that JGroups sees. It passes when the schedule says so, from one deadline to the next.
 *
 * A wait with a timeout becomes one without, and is interrupted when its deadline comes. That happens only when
 * no thread runs (Rest), so that a wait has either ended by what it waits for, or ends by the clock.
 */
public final class Clock {
    /** A deadline: of a thread that waits, or of a task. */
    static final class Deadline {
        final long at, number;
        final Thread waits;
        final Runnable task;
        boolean expired;

        Deadline(long at, long number, Thread waits, Runnable task) {
            this.at=at; this.number=number; this.waits=waits; this.task=task;
        }
    }

    private static final long START=1_000_000;
    private static final PriorityQueue<Deadline> deadlines=new PriorityQueue<>(
        Comparator.<Deadline>comparingLong(d -> d.at).thenComparingLong(d -> d.number));
    private static long now=START, number;
    private static Random dice=new Random(1);

    private Clock() {}

    /** Begin again: a group of its own has a time of its own. */
    static synchronized void reset() {
        deadlines.clear(); now=START; number=0; dice=new Random(1);
    }

    static synchronized Deadline at(long milliseconds, Thread waits, Runnable task) {
        // A wait without end is a wait that no schedule reaches.
        long at=milliseconds > Long.MAX_VALUE / 4? Long.MAX_VALUE / 2 : now + Math.max(0, milliseconds);
        Deadline added=new Deadline(at, number++, waits, task);
        deadlines.add(added);
        return added;
    }

    /** Take the next deadline that is not after `end`, and make it the time; null if there is none. */
    static synchronized Deadline next(long end) {
        Deadline next=deadlines.peek();
        if(next == null || next.at > end) {
            now=Math.max(now, end);
            return null;
        }
        now=Math.max(now, next.at);
        deadlines.poll();
        return next;
    }

    static synchronized long now() {return now;}

    private static synchronized void done(Deadline deadline) {deadlines.remove(deadline);}

    private interface Waiting<T> {T ends() throws InterruptedException;}

    /** Wait until it ends, or its deadline comes: then `null`. */
    private static <T> T until(long milliseconds, Waiting<T> waiting) throws InterruptedException {
        Deadline deadline=at(milliseconds, Thread.currentThread(), null);
        try {
            T ended=waiting.ends();
            // The wait had ended before its deadline, and the thread was at a lock: the interrupt was the clock's.
            if(deadline.expired) Thread.interrupted();
            return ended;
        }
        catch(InterruptedException e) {
            if(deadline.expired) return null;
            throw e;
        }
        finally {
            done(deadline);
        }
    }

    // In the place of what JGroups calls. The names and the order of arguments are those of the JDK.

    public static long currentTimeMillis() {return now();}

    public static long nanoTime() {return now() * 1_000_000;}

    public static synchronized double random() {return dice.nextDouble();}

    public static boolean await(Condition condition, long time, TimeUnit unit) throws InterruptedException {
        return until(unit.toMillis(time), () -> {condition.await(); return true;}) != null;
    }

    public static long awaitNanos(Condition condition, long nanoseconds) throws InterruptedException {
        long end=nanoTime() + nanoseconds;
        await(condition, nanoseconds, TimeUnit.NANOSECONDS);
        return end - nanoTime();
    }

    public static void await(Object monitor, long milliseconds) throws InterruptedException {
        if(milliseconds == 0) monitor.wait();
        else until(milliseconds, () -> {monitor.wait(); return true;});
    }

    public static boolean await(CountDownLatch latch, long time, TimeUnit unit) throws InterruptedException {
        return until(unit.toMillis(time), () -> {latch.await(); return true;}) != null;
    }

    public static Object poll(BlockingQueue<?> queue, long time, TimeUnit unit) throws InterruptedException {
        return until(unit.toMillis(time), queue::take);
    }

    public static Object get(Future<?> future, long time, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        Object[] got={null};
        ExecutionException[] failed={null};
        Boolean ended=until(unit.toMillis(time), () -> {
            try {got[0]=future.get();}
            catch(ExecutionException e) {failed[0]=e;}
            return true;
        });
        if(ended == null) throw new TimeoutException();
        if(failed[0] != null) throw failed[0];
        return got[0];
    }

    public static void join(Thread thread, long milliseconds) throws InterruptedException {
        until(milliseconds, () -> {thread.join(); return true;});
    }

    public static void sleep(long milliseconds) throws InterruptedException {
        Object nobodyNotifies=new Object();
        until(milliseconds, () -> {
            synchronized(nobodyNotifies) {while(true) nobodyNotifies.wait();}
        });
    }

    public static void sleep(long milliseconds, int nanoseconds) throws InterruptedException {sleep(milliseconds);}

    public static void parkNanos(long nanoseconds) {
        Deadline deadline=at(nanoseconds / 1_000_000, Thread.currentThread(), null);
        LockSupport.park();
        if(deadline.expired) Thread.interrupted();
        done(deadline);
    }
}
