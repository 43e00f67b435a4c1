package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.memory.StorePath.Scene;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** After an exception in any call of a limit or a clock, nothing stays locked, and nobody gains or loses a permit. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultsTest {

    private static final List<Supplier<Throwable>> THROWN =
            List.of(() -> new IllegalStateException("test"), () -> new OutOfMemoryError("test"));

    /** Up to this number, each call is tried; of more calls, one in a hundred. */
    private static final int MANY = 100;

    static Stream<StorePath> paths() {
        return StorePath.all().stream();
    }

    @ParameterizedTest
    @MethodSource("paths")
    @DisplayName(
            "after an exception at the n-th call, nothing has changed, and a repeated call has the same result as without it")
    void anyCall_throws_changesNothing(StorePath path) {
        Scene clean = path.scene();
        List<String> before = clean.snapshot();
        path.action().accept(clean);
        List<String> after = clean.snapshot();

        for (Supplier<Throwable> thrown : THROWN) {
            int n = 1;
            while (throwsAt(n, thrown, path, before, after)) {
                n += 1 + n / MANY;
            }
            assertThat(n).as("calls of %s", path).isGreaterThan(3);
        }
    }

    /** Returns false if there is no n-th call. */
    private static boolean throwsAt(
            int n, Supplier<Throwable> thrown, StorePath path, List<String> before, List<String> after) {
        Scene scene = path.scene();
        scene.fuse.armed(n, thrown);
        Throwable seen = null;
        try {
            path.action().accept(scene);
        } catch (Throwable expected) {
            seen = expected;
        }
        if (!scene.fuse.disarmed()) {
            assertThat(seen).isNull();
            return false;
        }

        assertThat(seen).as("thrown at call %d", n).hasMessage("test");
        assertThat(budgets(scene.snapshot()))
                .as("budgets after call %d threw", n)
                .isSubsetOf(union(before, after));
        path.action().accept(scene);
        assertThat(scene.snapshot()).as("done again after call %d threw", n).isEqualTo(after);
        return true;
    }

    private static List<String> union(List<String> one, List<String> other) {
        return Stream.concat(one.stream(), other.stream()).toList();
    }

    private static List<String> budgets(List<String> snapshot) {
        return snapshot.subList(0, snapshot.size() - 4);
    }
}
