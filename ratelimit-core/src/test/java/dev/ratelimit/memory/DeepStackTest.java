package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.memory.StorePath.Scene;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls so deep in a recursion that the stack ends within them. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("nightly")
class DeepStackTest {

    private static final int WARM = 300;
    private static final int DEPTHS = 30;
    private static final long STACK = 300_000;

    static Stream<StorePath> paths() {
        return StorePath.all().stream();
    }

    @ParameterizedTest
    @MethodSource("paths")
    @DisplayName("a stack that ends anywhere in a call leaves nothing locked, and increases no budget")
    void call_atTheEndOfTheStack_leavesNothingLocked(StorePath path) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread deep = new Thread(null, () -> tryAllDepths(path), "deep", STACK);
        deep.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));

        deep.start();
        deep.join();

        assertThat(failure.get()).isNull();
    }

    /** First with mostly interpreted code, then with compiled code. */
    private static void tryAllDepths(StorePath path) {
        tryDepthsAtTheEnd(path);
        for (int i = 0; i < WARM; i++) {
            path.action().accept(path.scene());
        }
        tryDepthsAtTheEnd(path);
    }

    private static void tryDepthsAtTheEnd(StorePath path) {
        Scene clean = path.scene();
        path.action().accept(clean);
        List<String> after = clean.snapshot();
        int errors = 0;
        while (errors == 0) {
            // frames shrink when they are compiled, so the end of the stack may have moved
            int deepest = deepest(path, after);
            for (int depth = deepest - 2; depth < deepest + DEPTHS; depth++) {
                errors += succeeds(depth, path, after) ? 0 : 1;
            }
        }
    }

    private static int deepest(StorePath path, List<String> after) {
        int deepest = 4;
        while (succeeds(2 * deepest, path, after)) {
            deepest *= 2;
        }
        for (int step = deepest / 2; step > 0; step /= 2) {
            deepest += succeeds(deepest + step, path, after) ? step : 0;
        }
        return deepest;
    }

    private static boolean succeeds(int depth, StorePath path, List<String> after) {
        Scene scene = path.scene();
        try {
            deeper(depth, path, scene);
            return true;
        } catch (StackOverflowError expected) {
            // a charge that failed on the way back may now be charged twice, but never less than once
            path.action().accept(scene);
            assertThat(remaining(scene.snapshot()))
                    .as("left after %s at depth %d", path, depth)
                    .isLessThanOrEqualTo(remaining(after));
            return false;
        }
    }

    private static long remaining(List<String> snapshot) {
        return snapshot.subList(0, snapshot.size() - 4).stream()
                .mapToLong(line -> Long.parseLong(line.split(" ", -1)[2]))
                .sum();
    }

    private static int deeper(int depth, StorePath path, Scene scene) {
        if (depth == 0) {
            path.action().accept(scene);
            return 0;
        }
        return 1 + deeper(depth - 1, path, scene);
    }
}
