package dev.ratelimit.memory.storm;

import dev.ratelimit.memory.storm.Step.Fault;
import dev.ratelimit.memory.storm.Step.Place;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Throws once, at the point that a fault selects. */
final class Fuse {

    private final Fault fault;
    private int left;
    private long deepest;
    private @Nullable Throwable thrown;
    private String where = "";

    Fuse(Fault fault) {
        this.fault = fault;
        this.left = fault.at();
    }

    void point(Place kind, String at) {
        if (kind == Place.FOREIGN || kind == fault.place()) {
            // where the stack has sufficed before, it suffices again
            boolean possible = fault.place() != Place.CALL || deepestSoFar();
            if (possible && kind == fault.place() && --left == 0) {
                where = at;
                thrown = fault.error().get();
                throw sneaked(thrown);
            }
        }
    }

    private boolean deepestSoFar() {
        long depth = StackWalker.getInstance().walk(Stream::count);
        boolean isDeepest = depth >= deepest;
        deepest = Math.max(depth, deepest);
        return isDeepest;
    }

    /** What was thrown; {@code null} if the call did not come so far. */
    @Nullable
    Throwable thrown() {
        return thrown;
    }

    String where() {
        return where;
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> RuntimeException sneaked(Throwable what) throws T {
        throw (T) what;
    }
}
