package dev.ratelimit.memory.storm;

import static java.util.Objects.requireNonNull;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.faults.Weaving;
import dev.ratelimit.memory.InMemoryStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Loads the in-memory store a second time, with calls of {@link Points} before each access to memory that threads share,
 * and before each call.
 */
final class Weaver extends Weaving {

    private static final String PACKAGE = "dev.ratelimit.memory.";
    private static final String POINTS = Type.getInternalName(Points.class);
    private static final String RANDOM = Type.getInternalName(Points.FixedRandom.class);
    private static final String SECURE_RANDOM = "java/security/SecureRandom";

    /** Classes whose methods are accesses to shared memory. */
    private static final List<String> SHARED = List.of(
            "java/lang/invoke/VarHandle", "java/util/concurrent/ConcurrentHashMap", "java/util/concurrent/atomic/");

    private static final Weaver WOVEN = new Weaver();

    private final List<String> names;
    private final Set<String> volatiles = new HashSet<>();

    private Weaver() {
        super(Weaver.class.getClassLoader());
        try {
            URI source = InMemoryStore.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI();
            names = names(Path.of(source).resolve(PACKAGE.replace('.', '/')));
            for (String name : names) {
                new ClassReader(bytes(name)).accept(new Volatiles(), ClassReader.SKIP_CODE);
            }
            for (String name : names) {
                // initialized now: a thread that initializes a class must not pass the baton on
                Class.forName(name, true, this);
            }
        } catch (IOException | URISyntaxException | ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A woven store. */
    static WovenStore store(Ticker ticker, int maxKeys) {
        try {
            Class<?> type = Class.forName(InMemoryStore.class.getName(), true, WOVEN);
            Object builder = type.getMethod("builder").invoke(null);
            Class<?> settings = requireNonNull(builder).getClass();
            settings.getMethod("ticker", Ticker.class).invoke(builder, ticker);
            settings.getMethod("maxKeys", int.class).invoke(builder, maxKeys);
            Object store = settings.getMethod("build").invoke(builder);
            return new WovenStore((RateLimitStore) requireNonNull(store));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A store that was loaded here, and is not an {@link InMemoryStore} of the test's class loader. */
    record WovenStore(RateLimitStore calls) {

        /** Forgets all keys. */
        void clear() {
            try {
                calls.getClass().getMethod("clear").invoke(calls);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw new IllegalStateException(e);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        long count(String name, String policy) {
            try {
                Object count = calls.getClass().getMethod(name, String.class).invoke(calls, policy);
                return (long) requireNonNull(count);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** The classes of the store, without those of its tests in the same package. */
    private static List<String> names(Path classes) throws IOException {
        try (Stream<Path> files = Files.list(classes)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class") && !name.startsWith("package-info"))
                    .map(name -> PACKAGE + name.substring(0, name.length() - ".class".length()))
                    .sorted()
                    .toList();
        }
    }

    @Override
    protected boolean loads(String name) {
        return names.contains(name);
    }

    @Override
    protected ClassVisitor weaver(String name, ClassVisitor writer) {
        return new WovenClass(writer);
    }

    /** Collects the volatile fields. */
    private final class Volatiles extends ClassVisitor {

        private String owner = "";

        Volatiles() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            owner = name;
        }

        @Override
        public @Nullable FieldVisitor visitField(int access, String name, String type, String signature, Object value) {
            if ((access & Opcodes.ACC_VOLATILE) != 0) {
                volatiles.add(owner + "." + name);
            }
            return null;
        }
    }

    private final class WovenClass extends Methods {

        WovenClass(ClassVisitor writer) {
            super(writer);
        }

        @Override
        protected MethodVisitor method(MethodVisitor writer, String owner, String name, int access) {
            return new WovenMethod(writer, owner, name, (access & Opcodes.ACC_SYNCHRONIZED) != 0);
        }
    }

    private final class WovenMethod extends Method {

        /** An object under construction is not shared, and initializing a class holds a lock. */
        private final boolean constructs;

        private final boolean locks;

        WovenMethod(MethodVisitor writer, String owner, String name, boolean locks) {
            super(writer, owner, name);
            this.constructs = name.startsWith("<");
            this.locks = locks;
        }

        @Override
        protected void allocates() {
            point("allocation");
        }

        private void point(String kind) {
            if (!constructs) {
                call(POINTS, kind);
            }
        }

        private void monitor(String entersOrExits) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, entersOrExits, "()V", false);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (locks) {
                monitor("enter");
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.LASTORE) {
                point("access");
            } else if (locks && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                monitor("exit");
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            super.visitTypeInsn(opcode, type.equals(SECURE_RANDOM) ? RANDOM : type);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String type) {
            if (volatiles.contains(owner + "." + name)) {
                point("access");
            }
            super.visitFieldInsn(opcode, owner, name, type);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type, boolean isInterface) {
            if (SHARED.stream().anyMatch(owner::startsWith)) {
                point("access");
            }
            String method = simple(owner) + "." + name;
            switch (method) {
                case "BackOff.after" -> super.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, "backOff", type, false);
                case "LockSupport.parkNanos" ->
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, "park", type, false);
                case "Thread.getId" ->
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, "id", "(Ljava/lang/Thread;)J", false);
                default -> {
                    point("call");
                    if (owner.startsWith("java/util/") && !owner.startsWith("java/util/concurrent/atomic/")) {
                        point("allocation");
                    }
                    String woven = owner.equals(SECURE_RANDOM) ? RANDOM : owner;
                    super.visitMethodInsn(opcode, woven, name, type, isInterface);
                }
            }
        }
    }
}
