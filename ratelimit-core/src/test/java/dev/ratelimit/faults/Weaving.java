package dev.ratelimit.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Loads classes a second time, with calls added to their methods. The classes know nothing of this. */
public abstract class Weaving extends ClassLoader {

    protected Weaving(ClassLoader parent) {
        super(parent);
    }

    /** Whether a class is loaded here; the parent loads all others. */
    protected abstract boolean loads(String name);

    /** A visitor of a class that is loaded here. */
    protected abstract ClassVisitor weaver(String name, ClassVisitor writer);

    @Override
    protected final Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            if (!loads(name)) {
                return super.loadClass(name, resolve);
            }
            ClassReader reader = new ClassReader(bytes(name));
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(weaver(name, writer), 0);
            byte[] woven = writer.toByteArray();
            return defineClass(name, woven, 0, woven.length);
        }
    }

    /** The class as it was compiled. */
    protected final byte[] bytes(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The name without its package. */
    protected static String simple(String internalName) {
        return internalName.substring(internalName.lastIndexOf('/') + 1).replace('$', '.');
    }

    /** Visits the methods of a class. */
    protected abstract static class Methods extends ClassVisitor {

        private String owner = "";

        protected Methods(ClassVisitor writer) {
            super(Opcodes.ASM9, writer);
        }

        /** A visitor of a method of this class. */
        protected abstract MethodVisitor method(MethodVisitor writer, String owner, String name, int access);

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            owner = name;
            super.visit(version, access, name, signature, parent, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
            return method(super.visitMethod(access, name, type, signature, thrown), owner, name, access);
        }
    }

    /** Adds calls that say where they are, and knows where memory is allocated. */
    protected abstract static class Method extends MethodVisitor {

        private final String place;
        private int line;

        protected Method(MethodVisitor writer, String owner, String name) {
            super(Opcodes.ASM9, writer);
            this.place = simple(owner) + "." + name;
        }

        /** An object or an array has been allocated. */
        protected abstract void allocates();

        /** Adds a call of a static method with a text, the place. */
        protected final void call(String type, String name) {
            super.visitLdcInsn(place + ":" + line);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, type, name, "(Ljava/lang/String;)V", false);
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
    }
}
