import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tla2sany.drivers.SANY;
import tla2sany.modanalyzer.SpecObj;

/**
 * TLC, run after run in one JVM: what loads, links and compiles TLC is done once.
 *
 * <p>Each line of standard input is one run: TLC's arguments, with tabs between them. Standard output is TLC's own,
 * and after each run a line {@code @!@!@ENDED code nanoseconds}: TLC's exit code, and the CPU time that the whole
 * process has taken for it. The JVM ends with its standard input.
 *
 * <p>TLC is made for a single run: its state is in static fields. So every run begins with the same values. The
 * arguments of this program are those of a first run, whose verdict is not read. After it all static fields of TLC
 * that can change are noted, and before each further run they are put back. The table of interned names needs more
 * than that: TLC orders strings by their numbers in it, so its first findings depend on them. (Names that a
 * specification shares with TLC's standard modules have lower numbers here than in a JVM of its own, and those of its
 * modules lower ones than those of its configuration. So a search that is ended early may have seen other states. A
 * search that is complete has seen the same states.)
 *
 * <p>The modules that a root names are parsed once ({@code SANY.java}), before the run's configuration is read: the
 * numbers of names do not depend on which root came first.
 */
public final class Resident {
  /**
   * Classes that keep their fields: classes that only watch, classes for other machines, and a parser that each
   * caller begins anew.
   */
  private static final String APART =
      "tlc2[.]tool[.](distributed|management|fp[.]management)[.].*|tla2sany[.]configuration[.].*";

  private final Map<Field, Object> statics = new LinkedHashMap<>();
  private final Map<Field, Object> names;
  private final int tool; // TLC's number among those that keep something in parsed modules
  private final Map<String, Parsed> known = new LinkedHashMap<>(16, 0.75f, true); // by all text of the modules

  /** The modules that a root names, null where the parser has anything to say, and the names with them. */
  private record Parsed(SpecObj spec, Map<Field, Object> names) {}

  /** How many roots are remembered, 40 MB each at most: short runs of one root follow each other. */
  private static final int KNOWN = 8;

  private static final Pattern NAMES =
      Pattern.compile("(?:^\\s*EXTENDS|\\bINSTANCE)\\s+(\\w+(?:\\s*,\\s*\\w+)*)", Pattern.MULTILINE);

  public static void main(String[] first) {
    try {
      serve(first);
      System.exit(0);
    } catch (Throwable thrown) { // threads of TLC would keep the JVM alive
      thrown.printStackTrace();
      System.exit(1);
    }
  }

  private static void serve(String[] first) throws Exception {
    PrintStream out = System.out;
    List<Class<?>> classes = classesOfTlc();
    System.setOut(new PrintStream(PrintStream.nullOutputStream()));
    util.ToolIO.out = System.out;
    util.ToolIO.err = System.out;
    if (run(first) != 0) {
      throw new IllegalStateException("TLC does not check the first module");
    }
    System.setOut(out);
    util.ToolIO.out = out;
    util.ToolIO.err = out;
    Resident resident = new Resident(classes);

    BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> read(requests), "requests");
    reader.setDaemon(true);
    reader.start();
    var system =
        (com.sun.management.OperatingSystemMXBean)
            java.lang.management.ManagementFactory.getOperatingSystemMXBean();
    for (String line = requests.take(); ; line = requests.take()) {
      long before = system.getProcessCpuTime();
      String[] arguments = line.split("\t");
      resident.makeReady(Path.of(arguments[arguments.length - 1]));
      int code = run(arguments);
      System.err.flush();
      out.println("@!@!@ENDED " + code + " " + (system.getProcessCpuTime() - before));
      out.flush();
    }
  }

  /** Take in requests; at the end of input the client is gone, and any run still under way has no reader. */
  private static void read(BlockingQueue<String> requests) {
    try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        requests.add(line);
      }
    } catch (java.io.IOException gone) {
      // as at the end
    }
    Runtime.getRuntime().halt(0);
  }

  /** Run TLC as its own main does. */
  private static int run(String[] arguments) {
    try {
      tlc2.TLC tlc = new tlc2.TLC();
      if (!tlc.handleParameters(arguments)) {
        return 1;
      }
      tlc.setResolver(new util.SimpleFilenameToStream());
      return tlc2.output.EC.ExitStatus.errorConstantToExitStatus(tlc.process());
    } catch (Throwable thrown) {
      thrown.printStackTrace();
      return 1;
    }
  }

  /** TLC's classes. Those that intern names are initialized: the names are in the table, whoever uses them first. */
  private static List<Class<?>> classesOfTlc() throws Exception {
    Path jar = Path.of(tlc2.TLC.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> classes = new ArrayList<>();
    try (JarFile file = new JarFile(jar.toFile())) {
      for (JarEntry entry : (Iterable<JarEntry>) file.stream()::iterator) {
        String name = entry.getName().replaceFirst("[.]class$", "").replace('/', '.');
        if (!entry.getName().endsWith(".class") || !name.matches("(tlc2|tla2sany|util)[.].*") || name.matches(APART)) {
          continue;
        }
        try {
          Class<?> found = Class.forName(name, false, Resident.class.getClassLoader());
          for (Field field : fieldsOf(found)) {
            if (field.getType() == util.UniqueString.class) {
              Class.forName(name);
            }
          }
          classes.add(found);
        } catch (LinkageError lacking) { // it needs a library that the jar comes without, as does whoever uses it
          continue;
        }
      }
    }
    return classes;
  }

  private static Field[] fieldsOf(Class<?> holder) {
    return Arrays.stream(holder.getDeclaredFields())
        .filter(field -> Modifier.isStatic(field.getModifiers()))
        .toArray(Field[]::new);
  }

  private Resident(List<Class<?>> classes) throws ReflectiveOperationException {
    for (Class<?> holder : classes) {
      for (Field field : fieldsOf(holder)) {
        if (!Modifier.isFinal(field.getModifiers())) {
          field.setAccessible(true);
          statics.put(field, field.get(null));
        }
      }
    }
    names = namesNow();
    Field id = Class.forName("tlc2.tool.impl.Spec").getDeclaredField("toolId");
    id.setAccessible(true);
    tool = id.getInt(null);
  }

  /** The table of interned names, as it is. */
  private static Map<Field, Object> namesNow() throws ReflectiveOperationException {
    Map<Field, Object> names = new LinkedHashMap<>();
    for (Field field : util.InternTable.class.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        field.setAccessible(true);
        names.put(field, copyOf(field.get(util.UniqueString.internTbl)));
      }
    }
    return names;
  }

  private static Object copyOf(Object value) {
    if (value == null || !value.getClass().isArray()) {
      return value;
    }
    int length = Array.getLength(value);
    Object copy = Array.newInstance(value.getClass().getComponentType(), length);
    System.arraycopy(value, 0, copy, 0, length);
    return copy;
  }

  /** Put back what was before the first run; the modules that the root names are parsed if no run had them. */
  private void makeReady(Path root) throws ReflectiveOperationException, IOException {
    putBack(names);
    List<String> modules = new ArrayList<>();
    StringBuilder key = new StringBuilder();
    for (Matcher each = NAMES.matcher(Files.readString(root)); each.find(); ) {
      modules.addAll(List.of(each.group(1).split("\\s*,\\s*")));
      key.append(each.group()).append('\n');
    }
    if (modules.isEmpty()) {
      return;
    }
    try (var files = Files.list(root.getParent())) {
      for (Path file : (Iterable<Path>) files.filter(each -> each.toString().endsWith(".tla")).sorted()::iterator) {
        key.append(file.equals(root) ? "" : file.getFileName() + "\n" + Files.readString(file));
      }
    }
    Parsed parsed = known.get(key.toString());
    if (parsed == null) {
      for (String member : List.of("A", "B", "C", "D", "E")) { // in this order in configurations, which TLC reads first
        util.UniqueString.uniqueStringOf(member);
      }
      util.ToolIO.setUserDir(root.getParent().toString());
      SpecObj spec = SANY.parse(modules, new util.SimpleFilenameToStream());
      parsed = new Parsed(spec, spec == null ? names : namesNow());
      known.put(key.toString(), parsed);
      if (known.size() > KNOWN) {
        known.remove(known.keySet().iterator().next());
      }
    }
    putBack(parsed.names);
    if (parsed.spec != null) {
      SANY.clear(parsed.spec.getExternalModuleTable().getModuleNodes(), tool);
      SANY.known = parsed.spec;
    }
  }

  private void putBack(Map<Field, Object> names) throws ReflectiveOperationException {
    for (Map.Entry<Field, Object> each : statics.entrySet()) {
      each.getKey().set(null, each.getValue());
    }
    for (Map.Entry<Field, Object> each : names.entrySet()) {
      each.getKey().set(util.UniqueString.internTbl, copyOf(each.getValue()));
      if (each.getValue() instanceof util.UniqueString[] entries) {
        for (util.UniqueString entry : entries) {
          if (entry != null) {
            entry.setLoc(-1); // the place of a variable or a definition of that name
          }
        }
      }
    }
    // A file that is closed twice gives its buffer into the pool twice: two files of the next run would share it.
    Field pooled = tlc2.util.BufferedRandomAccessFile.class.getDeclaredField("numAvailBuffs");
    pooled.setAccessible(true);
    pooled.setInt(null, 0);
    Field said = tlc2.output.MP.class.getDeclaredField("instance");
    Field warnings = tlc2.output.MP.class.getDeclaredField("warningHistory");
    said.setAccessible(true);
    warnings.setAccessible(true);
    warnings.set(said.get(null), new util.Set());
  }
}
