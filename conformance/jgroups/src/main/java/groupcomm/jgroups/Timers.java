package groupcomm.jgroups;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jgroups.util.TimeScheduler;

/** The timers of a member. Its tasks run when the schedule lets time pass. A proxy, as each release series adds methods. */
final class Timers implements InvocationHandler {
    private final Member member;
    final TimeScheduler proxy;

    Timers(Member member) {
        this.member=member;
        proxy=(TimeScheduler)Proxy.newProxyInstance(Timers.class.getClassLoader(), new Class<?>[]{TimeScheduler.class}, this);
    }

    @Override public Object invoke(Object self, Method method, Object[] given) {
        switch(method.getName()) {
            case "execute": return add((Runnable)given[0], 0, null);
            case "schedule": return add((Runnable)given[0], milliseconds(given[1], given[2]), null);
            case "scheduleWithFixedDelay":
            case "scheduleAtFixedRate": {
                long period=milliseconds(given[2], given[3]);
                return add((Runnable)given[0], milliseconds(given[1], given[3]), () -> period);
            }
            case "scheduleWithDynamicInterval": {
                TimeScheduler.Task task=(TimeScheduler.Task)given[0];
                return add(task, task.nextInterval(), task::nextInterval);
            }
            case "hashCode": return System.identityHashCode(self);
            case "equals": return self == given[0];
            case "toString": case "dumpTimerTasks": return "timers of " + member.name;
            default: return method.getReturnType() == boolean.class? (Object)false
                : method.getReturnType() == int.class? (Object)0 : method.getReturnType() == long.class? (Object)0L : null;
        }
    }

    private static long milliseconds(Object time, Object unit) {return ((TimeUnit)unit).toMillis((Long)time);}

    private Object add(Runnable task, long delay, LongSupplier period) {
        Once once=new Once(task, period);
        Clock.at(delay, null, once);
        return once;
    }

    private final class Once extends FutureTask<Object> {
        private final Runnable task;
        private final LongSupplier period;

        Once(Runnable task, LongSupplier period) {
            super(task, null);
            this.task=task; this.period=period;
        }

        @Override public void run() {
            if(isCancelled() || member.crashed) return;
            if(period == null) {
                super.run();
                return;
            }
            task.run();
            long next=period.getAsLong();
            if(next > 0 && !isCancelled()) Clock.at(next, null, this);
        }
    }
}
