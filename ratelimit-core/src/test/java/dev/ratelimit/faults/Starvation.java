package dev.ratelimit.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.Function;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Loads a package a second time, such that the memory may end at each of its allocations: there, and before and after
 * each call of a collection, it passes the {@link Fuse} that is armed on the thread. The package knows nothing of this.
 */
public final class Starvation extends ClassLoader {

    private static final String FUSE = Type.getInternalName(Fuse.class);

    private final String prefix;
    private final String test;

    private Starvation(Class<? extends Scenario> scenario) {
        super(scenario.getClassLoader());
        this.prefix = scenario.getPackageName() + ".";
        this.test = scenario.getNestHost().getName();
    }

    /**
     * A way to create scenarios in a package that may run out of memory.
     *
     * @param type a class in a test, which itself has all the memory that it needs; it is created with a fuse
     */
    public static Function<Fuse, Scenario> of(Class<? extends Scenario> type) {
        try {
            return EveryCall.creating(
                    Class.forName(type.getName(), true, new Starvation(type)).asSubclass(Scenario.class));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            if (!name.startsWith(prefix) || name.indexOf('.', prefix.length()) >= 0) {
                return super.loadClass(name, resolve);
            }
            byte[] bytes = name.startsWith(test) ? bytes(name) : starving(bytes(name));
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private byte[] bytes(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] starving(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new StarvingClass(writer), 0);
        return writer.toByteArray();
    }

    private static String simple(String internalName) {
        return internalName.substring(internalName.lastIndexOf('/') + 1).replace('$', '.');
    }

    private static final class StarvingClass extends ClassVisitor {

        private String owner = "";

        StarvingClass(ClassVisitor writer) {
            super(Opcodes.ASM9, writer);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            owner = name;
            super.visit(version, access, name, signature, parent, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
            MethodVisitor writer = super.visitMethod(access, name, type, signature, thrown);
            return name.equals("<clinit>") ? writer : new StarvingMethod(writer, simple(owner) + "." + name);
        }
    }

    private static final class StarvingMethod extends MethodVisitor {

        private final String place;
        private int line;

        StarvingMethod(MethodVisitor writer, String place) {
            super(Opcodes.ASM9, writer);
            this.place = place;
        }

        private void allocates() {
            super.visitLdcInsn(place + ":" + line);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, FUSE, "allocates", "(Ljava/lang/String;)V", false);
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            line = number;
            super.visitLineNumber(number, start);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            super.visitTypeInsn(opcode, type);
            if (opcode == Opcodes.NEW || opcode == Opcodes.ANEWARRAY) {
                // afterwards, because frames refer to the position of this instruction
                allocates();
            }
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            super.visitIntInsn(opcode, operand);
            if (opcode == Opcodes.NEWARRAY) {
                allocates();
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String type, Handle bootstrap, Object... arguments) {
            super.visitInvokeDynamicInsn(name, type, bootstrap, arguments);
            allocates();
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type, boolean isInterface) {
            boolean grows = owner.startsWith("java/util/") && (name.equals("put") || name.equals("add"));
            if (grows) {
                allocates();
            }
            super.visitMethodInsn(opcode, owner, name, type, isInterface);
            if (grows && name.equals("put")) {
                // a map has the entry before it grows
                allocates();
            }
        }
    }
}
