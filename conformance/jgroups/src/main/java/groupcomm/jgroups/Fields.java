package groupcomm.jgroups;

import java.lang.reflect.Field;

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

    static void set(Object of, String name, Object value) {
        Field to=field(of, name);
        Class<?> type=to.getType();
        Object fits=value;
        if(value instanceof Number n) fits=type == int.class? (Object)n.intValue() : type == long.class? (Object)n.longValue() : n;
        try {to.set(of, fits);}
        catch(IllegalAccessException e) {throw new IllegalStateException(e);}
    }
}
