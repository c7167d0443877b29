package groupcomm.jgroups;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits until no thread of JGroups runs.
 *
 * The kernel knows: a thread that another one has woken is runnable at once, while Java may still call it waiting. Two
 * rounds in which each thread sleeps, and none has been given the processor in between, mean that at the end of the
 * first all of them slept.
 */
final class Rest {
    private static final Path TASKS=Path.of("/proc/self/task");
    private static final long PATIENCE_NS=60_000_000_000L, PAUSE_NS=20_000L;

    /** Threads of the JVM itself: one of JGroups' that waits for them, as for a lock of the compiler, is not at rest. */
    private static Set<String> jvm;

    /** The thread that asks, and those of groups that are over. */
    private final Set<String> others;

    Rest() throws IOException {
        others=threads();
        if(jvm == null) jvm=new HashSet<>(others);
        others.removeAll(jvm);
        others.add(Path.of("/proc/thread-self").toRealPath().getFileName().toString());
    }

    private static Set<String> threads() throws IOException {
        Set<String> names=new HashSet<>();
        try(DirectoryStream<Path> tasks=Files.newDirectoryStream(TASKS)) {
            for(Path task: tasks) names.add(task.getFileName().toString());
        }
        return names;
    }

    /** Throws IllegalStateException if threads keep running. */
    void await() throws IOException {
        long start=System.nanoTime();
        Map<String,String> before=null;
        for(;;) {
            Map<String,String> now=asleep();
            if(now != null && now.equals(before)) return;
            before=now;
            if(now == null) {
                if(System.nanoTime() - start > PATIENCE_NS) throw new IllegalStateException("threads of JGroups run on and on");
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    /** How often each thread has run; null if one of them runs now. */
    private Map<String,String> asleep() throws IOException {
        Map<String,String> turns=new HashMap<>();
        for(String task: threads()) {
            if(others.contains(task)) continue;
            try {
                String stat=Files.readString(TASKS.resolve(task).resolve("stat"));
                char state=stat.charAt(stat.lastIndexOf(')') + 2);
                if(state == 'R' || state == 'D') return null;
                turns.put(task, Files.readString(TASKS.resolve(task).resolve("schedstat")));
            }
            catch(NoSuchFileException e) {/* it has ended */}
            catch(IOException e) {
                if(Files.exists(TASKS.resolve(task))) throw e;
            }
        }
        return turns;
    }
}
