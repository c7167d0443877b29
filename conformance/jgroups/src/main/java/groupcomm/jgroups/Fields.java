package groupcomm.jgroups;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.function.ToLongFunction;

/** Sets and reads fields of JGroups' protocols, as its own configurator does: not all have a setter. */
final class Fields {
    private Fields() {}

    private static Field field(Object of, String name) {
        for(Class<?> type=of.getClass(); type != null; type=type.getSuperclass()) {
            try {
                Field found=type.getDeclaredField(name);
                found.setAccessible(true);
                return found;
            }
            catch(NoSuchFieldException e) {/* it may be the superclass's */}
        }
        throw new IllegalArgumentException(of.getClass().getName() + " has no field " + name);
    }

    static Object get(Object of, String name) {
        try {return field(of, name).get(of);}
        catch(IllegalAccessException e) {throw new IllegalStateException(e);}
    }

    /** How many messages a reliable multicast can send again: of each sender those with a seqno up to its last. */
    static int kept(Object multicast, ToLongFunction<Object> last) throws ReflectiveOperationException {
        int kept=0;
        for(Map.Entry<?,?> each: ((Map<?,?>)get(multicast, "xmit_table")).entrySet()) {
            Method window=each.getValue().getClass().getMethod("get", long.class);
            for(long seqno=1; seqno <= last.applyAsLong(each.getKey()); seqno++)
                if(window.invoke(each.getValue(), seqno) != null) kept++;
        }
        return kept;
    }

    static void set(Object of, String name, Object value) {
        Field to=field(of, name);
        Class<?> type=to.getType();
        Object fits=value;
        if(value instanceof Number n) fits=type == int.class? (Object)n.intValue() : type == long.class? (Object)n.longValue() : n;
        try {to.set(of, fits);}
        catch(IllegalAccessException e) {throw new IllegalStateException(e);}
    }
}
