package groupcomm.jgroups;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Loads JGroups with each call that reads a clock, waits for a time or throws dice turned to {@link Clock}.
 * {@link Turns#pass} is called wherever a thread may have begun to run.
 *
 * JGroups waits in threads: for acknowledgements, for answers, for its next try. In real time, and with threads side by
 * side, the outcome of a schedule would depend on the load of the machine.
 */
final class Rewriter extends ClassLoader {
    private static final String CLOCK="groupcomm/jgroups/Clock", TURNS="groupcomm/jgroups/Turns";

    /** Name and descriptor of a call to its replacement's name; the object becomes the first argument. */
    private static final Map<String,String[]> WAITS=Map.ofEntries(
        Map.entry("java/util/concurrent/locks/Condition.await(JLjava/util/concurrent/TimeUnit;)Z",
                  new String[]{"await", "java/util/concurrent/locks/Condition"}),
        Map.entry("java/util/concurrent/locks/Condition.awaitNanos(J)J",
                  new String[]{"awaitNanos", "java/util/concurrent/locks/Condition"}),
        Map.entry("java/lang/Object.wait(J)V", new String[]{"await", "java/lang/Object"}),
        Map.entry("poll(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;",
                  new String[]{"poll", "java/util/concurrent/BlockingQueue"}),
        Map.entry("java/util/concurrent/CountDownLatch.await(JLjava/util/concurrent/TimeUnit;)Z",
                  new String[]{"await", "java/util/concurrent/CountDownLatch"}),
        Map.entry("java/util/concurrent/CompletableFuture.get(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;",
                  new String[]{"get", "java/util/concurrent/Future"}),
        Map.entry("java/util/concurrent/Future.get(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;",
                  new String[]{"get", "java/util/concurrent/Future"}),
        Map.entry("java/lang/Thread.join(J)V", new String[]{"join", "java/lang/Thread"}));

    /** Static calls that have a namesake in Clock. */
    private static final Map<String,String> READS=Map.of(
        "java/lang/System.currentTimeMillis()J", "currentTimeMillis",
        "java/lang/System.nanoTime()J", "nanoTime",
        "java/lang/Thread.sleep(J)V", "sleep",
        "java/lang/Thread.sleep(JI)V", "sleep",
        "java/util/concurrent/locks/LockSupport.parkNanos(J)V", "parkNanos",
        "java/lang/Math.random()D", "random");

    Rewriter(ClassLoader parent) {super(parent);}

    private static boolean mine(String name) {return name.startsWith("org.jgroups.") || name.startsWith("groupcomm.jgroups.");}

    @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized(getClassLoadingLock(name)) {
            Class<?> known=findLoadedClass(name);
            if(known != null) return known;
            if(!mine(name)) return super.loadClass(name, resolve);
            try(InputStream in=getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if(in == null) throw new ClassNotFoundException(name);
                byte[] code=in.readAllBytes();
                if(name.startsWith("org.jgroups.")) code=rewritten(code);
                return defineClass(name, code, 0, code.length);
            }
            catch(IOException e) {throw new ClassNotFoundException(name, e);}
        }
    }

    private static byte[] rewritten(byte[] code) {
        ClassReader reader=new ClassReader(code);
        ClassWriter writer=new ClassWriter(reader, 0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                return new Calls(super.visitMethod(access, name, descriptor, signature, exceptions));
            }
        }, 0);
        return writer.toByteArray();
    }

    private static final class Calls extends MethodVisitor {
        Calls(MethodVisitor to) {super(Opcodes.ASM9, to);}

        @Override public void visitCode() {
            super.visitCode();
            pass();
        }

        @Override public void visitInsn(int opcode) {
            super.visitInsn(opcode);
            if(opcode == Opcodes.MONITORENTER) pass();
        }

        @Override public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            String call=name + descriptor;
            boolean ofObject=opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE;
            String read=opcode == Opcodes.INVOKESTATIC? READS.get(owner + "." + call) : null;
            String[] to=ofObject? WAITS.get(owner + "." + call) : null;
            if(to == null && ofObject && owner.startsWith("java/util/concurrent/")) to=WAITS.get(call);
            if(read != null) super.visitMethodInsn(Opcodes.INVOKESTATIC, CLOCK, read, descriptor, false);
            else if(to != null)
                super.visitMethodInsn(Opcodes.INVOKESTATIC, CLOCK, to[0], "(L" + to[1] + ";" + descriptor.substring(1), false);
            else super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            if(read != null || to != null || waits(owner, name)) pass();
        }

        private static boolean waits(String owner, String name) {
            return owner.startsWith("java/util/concurrent/") || name.equals("wait") || name.equals("join");
        }

        private void pass() {super.visitMethodInsn(Opcodes.INVOKESTATIC, TURNS, "pass", "()V", false);}
    }
}
