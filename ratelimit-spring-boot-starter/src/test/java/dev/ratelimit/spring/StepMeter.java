package dev.ratelimit.spring;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.bytebuddy.agent.ByteBuddyAgent;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;

/**
 * Measures work in steps: methods entered and loops repeated in this library, in Spring and in what they use of the JDK
 * for texts, numbers and collections. Unlike time, steps are the same on every machine. What is done without a loop of
 * the JDK, such as copying an array, takes no steps.
 */
public final class StepMeter implements AutoCloseable {

    /** Classes whose steps count. The test's own tools do not. */
    private static final Pattern COUNTED = Pattern.compile("dev/ratelimit/(?!test/|spring/Step).*"
            + "|org/springframework/(?!asm/|test/|mock/|boot/test/|cglib/).*|tools/jackson/.*"
            + "|java/(text|math|util/regex)/.*|jdk/internal/icu/.*|java/net/(URL..coder|Inet.*Address|URI.*)"
            + "|java/lang/(String|StringLatin1|StringUTF16|AbstractStringBuilder|CharacterData.*)"
            + "|java/util/(Array|Hash|LinkedHash|Tree|Linked|Abstract|Collections|Immutable|Enumeration|String).*"
            + "|java/util/(Arrays|TimSort|ComparableTimSort|BitSet|Locale)");

    private final Instrumentation jvm;
    private final Transformer transformer = new Transformer();

    /** Prepares all classes, loaded or not. */
    public StepMeter() throws IOException, UnmodifiableClassException {
        jvm = ByteBuddyAgent.install();
        jvm.appendToBootstrapClassLoaderSearch(new JarFile(jarOfSteps().toFile()));
        // loaded before anything counts its steps
        Steps.stop();
        jvm.addTransformer(transformer, true);
        transform();
    }

    private void transform() throws UnmodifiableClassException {
        transform(Stream.of(jvm.getAllLoadedClasses())
                .filter(type -> jvm.isModifiableClass(type) && !type.isHidden() && isCounted(type))
                .<Class<?>>map(type -> type)
                .toList());
    }

    /** Without classes whose dependencies are missing, which cannot run either. */
    private void transform(List<Class<?>> types) throws UnmodifiableClassException {
        try {
            jvm.retransformClasses(types.toArray(Class<?>[]::new));
        } catch (InternalError invalid) {
            int half = types.size() / 2;
            if (half > 0) {
                transform(types.subList(0, half));
                transform(types.subList(half, types.size()));
            }
        }
    }

    /** The steps of a task. */
    public long stepsOf(Runnable task) {
        Steps.start();
        try {
            task.run();
        } finally {
            Steps.stop();
        }
        return Steps.stop();
    }

    /** Leaves all classes as they were, for other tests in this JVM. */
    @Override
    public void close() throws UnmodifiableClassException {
        jvm.removeTransformer(transformer);
        transform();
    }

    private static boolean isCounted(Class<?> type) {
        return isCounted(type.getName().replace('.', '/'));
    }

    private static boolean isCounted(String type) {
        return COUNTED.matcher(type).matches();
    }

    /** The JDK must find the class. */
    private static Path jarOfSteps() throws IOException {
        String file = "dev/ratelimit/spring/Steps.class";
        Path jar = Files.createTempFile("steps", ".jar");
        jar.toFile().deleteOnExit();
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                InputStream in = StepMeter.class.getClassLoader().getResourceAsStream(file)) {
            out.putNextEntry(new JarEntry(file));
            in.transferTo(out);
        }
        return jar;
    }

    private static final class Transformer implements ClassFileTransformer {

        @Override
        public byte @Nullable [] transform(
                @Nullable ClassLoader loader,
                @Nullable String name,
                @Nullable Class<?> redefined,
                ProtectionDomain domain,
                byte[] code) {
            if (name == null || !isCounted(name)) {
                return null;
            }
            ClassReader reader = new ClassReader(code);
            ClassWriter writer = new ClassWriter(reader, 0);
            reader.accept(new CountingClass(writer), 0);
            return writer.toByteArray();
        }
    }

    private static final class CountingClass extends ClassVisitor {

        CountingClass(ClassVisitor to) {
            super(Opcodes.ASM9, to);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, @Nullable String generics, String @Nullable [] thrown) {
            return new CountingMethod(super.visitMethod(access, name, descriptor, generics, thrown));
        }
    }

    /** Counts when it is entered, and before it jumps back. */
    private static final class CountingMethod extends MethodVisitor {

        private final Set<Label> passed = new HashSet<>();

        CountingMethod(MethodVisitor to) {
            super(Opcodes.ASM9, to);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            count();
        }

        @Override
        public void visitLabel(Label label) {
            passed.add(label);
            super.visitLabel(label);
        }

        @Override
        public void visitJumpInsn(int operation, Label to) {
            if (passed.contains(to)) {
                count();
            }
            super.visitJumpInsn(operation, to);
        }

        private void count() {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, "dev/ratelimit/spring/Steps", "step", "()V", false);
        }
    }
}
