package groupcomm.jgroups;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

/** Reads a command a line from stdin, and answers each with a line on stdout, both JSON. */
public final class Main {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers=new PrintStream(System.out, false, StandardCharsets.UTF_8);
        // JGroups prints what it likes; nothing but answers may come between answers.
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        Rewriter loader=new Rewriter(Main.class.getClassLoader());
        Thread.currentThread().setContextClassLoader(loader);   // JGroups finds its own classes by it
        Class<?> driver=loader.loadClass("groupcomm.jgroups.Driver");
        @SuppressWarnings("unchecked")
        Function<String,String> answer=(Function<String,String>)driver.getDeclaredConstructor().newInstance();
        BufferedReader commands=new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for(String line; (line=commands.readLine()) != null;) {
            answers.println(answer.apply(line));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
