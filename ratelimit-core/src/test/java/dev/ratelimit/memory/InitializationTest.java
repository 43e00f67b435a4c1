package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * What a call needs is initialized when a store, a limiter or a queue is built: in a call that is deep in a recursion, a
 * stack overflow in the initialization of a class would make it unusable for the life of the JVM.
 */
class InitializationTest {

    /** Initialized by whoever creates limits, or uses the system's clock, or configures a store on a network. */
    private static final List<String> EARLIER = List.of(
            "dev.ratelimit.algorithm.",
            "dev.ratelimit.MisspeltRate",
            "dev.ratelimit.Penalty",
            "dev.ratelimit.Rate",
            "dev.ratelimit.OnStoreFailure",
            "dev.ratelimit.queue.RateLimitQueue$");

    /** What each initializer calls first. */
    public static final class Recorder {

        private static final Set<String> INITIALIZED = ConcurrentHashMap.newKeySet();

        private Recorder() {}

        public static void initializes(String name) {
            INITIALIZED.add(name);
        }
    }

    /** Builds one of each. */
    public static final class Building implements Runnable {
        @Override
        public void run() {
            InMemoryStore store = InMemoryStore.create();
            assertThat(new RateLimiter(store)).isNotNull();
            assertThat(RateLimitQueue.builder(store)
                            .policy("p", Waiting.of(Duration.ZERO, 1))
                            .build())
                    .isNotNull();
        }
    }

    @Test
    void building_initializesWhatCallsNeed() throws ReflectiveOperationException, IOException, URISyntaxException {
        Recording loader = new Recording();

        loader.loadClass(Building.class.getName())
                .asSubclass(Runnable.class)
                .getConstructor()
                .newInstance()
                .run();

        Set<String> late = new TreeSet<>(loader.withInitializers());
        late.removeAll(Recorder.INITIALIZED);
        late.removeIf(name -> EARLIER.stream().anyMatch(name::startsWith));
        assertThat(late).isEmpty();
        assertThat(Recorder.INITIALIZED).contains(Segment.class.getName());
    }

    /** Loads the library once more, with a call at the beginning of each initializer. */
    private static final class Recording extends ClassLoader {

        private final Path classes;

        Recording() throws URISyntaxException {
            super(InitializationTest.class.getClassLoader());
            classes = Path.of(InMemoryStore.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        }

        Set<String> withInitializers() throws IOException {
            Set<String> names = new TreeSet<>();
            try (Stream<Path> files = Files.walk(classes)) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".class")).toList()) {
                    new ClassReader(Files.readAllBytes(file)).accept(new Initializers(new ClassWriter(0), names), 0);
                }
            }
            return names;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                boolean builds = name.equals(Building.class.getName());
                if (!builds && !Files.exists(classes.resolve(name.replace('.', '/') + ".class"))) {
                    return super.loadClass(name, resolve);
                }
                try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                    ClassReader reader = new ClassReader(in);
                    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
                    reader.accept(new Initializers(writer, new TreeSet<>()), 0);
                    byte[] bytes = writer.toByteArray();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    /** Collects the classes that have an initializer, and lets them tell. */
    private static final class Initializers extends ClassVisitor {

        private final Set<String> names;
        private String name = "";

        Initializers(ClassVisitor writer, Set<String> names) {
            super(Opcodes.ASM9, writer);
            this.names = names;
        }

        @Override
        public void visit(int version, int access, String type, String signature, String parent, String[] interfaces) {
            name = type.replace('/', '.');
            super.visit(version, access, type, signature, parent, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String type, String signature, String[] thrown) {
            MethodVisitor writer = super.visitMethod(access, method, type, signature, thrown);
            if (!method.equals("<clinit>")) {
                return writer;
            }
            names.add(name);
            return new MethodVisitor(Opcodes.ASM9, writer) {
                @Override
                public void visitCode() {
                    super.visitCode();
                    visitLdcInsn(name);
                    visitMethodInsn(
                            Opcodes.INVOKESTATIC,
                            Type.getInternalName(Recorder.class),
                            "initializes",
                            "(Ljava/lang/String;)V",
                            false);
                }
            };
        }
    }
}
