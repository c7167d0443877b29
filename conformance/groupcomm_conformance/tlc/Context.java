package tlc2.util;

import tla2sany.semantic.SymbolNode;

/**
 * The values of parameters and of LETs, in the place of TLC's own class of this name: a list, the innermost first.
 *
 * <p>TLC looks in it for each operator and each variable that an expression mentions, most of which are not there: a
 * sixth of the time of a search went by in walks to the end of the list. Here each place knows by a bit for each name
 * what may be there, or further on, and a walk ends where its name cannot be.
 */
public final class Context {
  public static final Context Empty = new Context(null, null, null, 0);
  private static final Context BASE = new Context(null, null, Empty, 0);

  private final SymbolNode name; // null in Empty, and where a branch begins
  private final Object value;
  private final Context next;
  private final long names; // of the names from here on

  private Context(SymbolNode name, Object value, Context next, long names) {
    this.name = name;
    this.value = value;
    this.next = next;
    this.names = names;
  }

  /** A context whose names do not count for {@link #lookup(SymbolNode, boolean)} that stops here. */
  public static Context branch(Context context) {
    return context == Empty ? BASE : new Context(null, null, context, context.names);
  }

  public Context cons(SymbolNode name, Object value) {
    return new Context(name, value, this, names | (name == null ? 0 : bit(name)));
  }

  /** The innermost value of a name, null if there is none. */
  public Object lookup(SymbolNode wanted) {
    long bit = bit(wanted);
    for (Context here = this; (here.names & bit) != 0; here = here.next) {
      if (here.name == wanted) {
        return here.value;
      }
    }
    return null;
  }

  /** The same; where it {@code stops}, a value from before the last branch counts as none. */
  public Object lookup(SymbolNode wanted, boolean stops) {
    long bit = bit(wanted);
    for (Context here = this; (here.names & bit) != 0; here = here.next) {
      if (here.name == wanted) {
        return here.value;
      }
      if (stops && here.name == null) {
        return null;
      }
    }
    return null;
  }

  private static long bit(SymbolNode name) {
    return 1L << name.getUid();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (Context here = this; here != Empty; here = here.next) {
      if (here.name != null) {
        text.append(text.length() > 0 ? ", " : "").append(here.name.getName()).append("->").append(here.value);
      }
    }
    return "[" + text + "]";
  }
}
