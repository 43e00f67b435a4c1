package dev.ratelimit.faults;

import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/**
 * Loads packages a second time, such that the memory may end at each of its allocations: there, and before and after
 * each call of a collection, it passes the {@link Fuse} that is armed on the thread.
 */
public final class Starvation extends Weaving {

    private static final String FUSE = Type.getInternalName(Fuse.class);

    private final Set<String> packages;
    private final String test;

    private Starvation(Class<? extends Scenario> scenario, Class<?>... others) {
        super(scenario.getClassLoader());
        this.packages = Stream.concat(Stream.of(scenario), Stream.of(others))
                .map(Class::getPackageName)
                .collect(Collectors.toSet());
        this.test = scenario.getNestHost().getName();
    }

    /**
     * A way to create scenarios in a package that may run out of memory.
     *
     * @param type a class in a test, which itself has all the memory that it needs; it is created with a fuse
     * @param others classes of other packages that may run out of memory
     */
    public static Function<Fuse, Scenario> of(Class<? extends Scenario> type, Class<?>... others) {
        try {
            return EveryCall.creating(Class.forName(type.getName(), true, new Starvation(type, others))
                    .asSubclass(Scenario.class));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected boolean loads(String name) {
        return packages.contains(name.substring(0, Math.max(0, name.lastIndexOf('.'))));
    }

    @Override
    protected ClassVisitor weaver(String name, ClassVisitor writer) {
        return name.startsWith(test) ? writer : new StarvingClass(writer);
    }

    private static final class StarvingClass extends Methods {

        StarvingClass(ClassVisitor writer) {
            super(writer);
        }

        @Override
        protected MethodVisitor method(MethodVisitor writer, String owner, String name, int access) {
            return name.equals("<clinit>") ? writer : new StarvingMethod(writer, owner, name);
        }
    }

    private static final class StarvingMethod extends Method {

        StarvingMethod(MethodVisitor writer, String owner, String name) {
            super(writer, owner, name);
        }

        @Override
        protected void allocates() {
            call(FUSE, "allocates");
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
