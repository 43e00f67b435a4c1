package dev.ratelimit.redis.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.redis.SilentLog;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs histories: first those that are kept in files, or one that {@code -Dstorm.file=} names, and then drawn ones;
 * {@code -Dstorm.from=} and {@code -Dstorm.histories=} choose their seeds.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(SilentLog.class)
class StormTest {

    private static final int BUILD = 100;

    /** With so many other delays a kept history runs, too. */
    private static final int OTHER_DELAYS = 3;

    private static final String DIRECTORY = "ratelimit-redis/src/test/resources/dev/ratelimit/redis/storm/histories";

    /** The histories that found a fault once; others may take their seeds for delays, and must hold it, too. */
    @ParameterizedTest
    @MethodSource("kept")
    @Order(1)
    void keptHistory_holdsWhatIsPromised(Path file) throws IOException {
        History history = History.of(Files.readString(file));

        List<String> timeline = requireHolds(history, "");

        assertThat(String.join("\n", timeline))
                .as("the timeline of a history that gets where it is meant to")
                .containsSubsequence(history.reached());
        for (int other = 1; other <= OTHER_DELAYS; other++) {
            requireHolds(history.withSeed(history.setup().seed() + other), "");
        }
    }

    static List<Path> kept() throws IOException, URISyntaxException {
        String given = System.getProperty("storm.file");
        if (given != null) {
            return List.of(Path.of(given));
        }
        URL directory = Objects.requireNonNull(StormTest.class.getResource("histories"));
        try (Stream<Path> files = Files.list(Path.of(directory.toURI()))) {
            return files.sorted().toList();
        }
    }

    @Test
    @Order(2)
    void anyHistory_holdsWhatIsPromised() {
        run(Long.getLong("storm.from", 0), Long.getLong("storm.histories", BUILD));
    }

    @Test
    @Tag("slow")
    void manyHistories_holdWhatIsPromised() {
        run(BUILD, 300 - BUILD);
        run(1_000_000, Boolean.getBoolean("redis.long") ? 10_000 : 3_000);
    }

    private static void run(long from, long histories) {
        LongStream.range(from, from + histories).parallel().forEach(StormTest::run);
    }

    private static void run(long seed) {
        History history = History.draw(seed);
        if (Storm.run(history) != null) {
            History shortest = Shrinker.shrink(history, shorter -> Storm.run(shorter) != null);
            List<String> unused = requireHolds(
                    shortest,
                    " from seed " + seed + ", which -Dstorm.from=" + seed + " -Dstorm.histories=1 draws again,");
        }
    }

    /** Runs a history that must hold, and returns its timeline. */
    private static List<String> requireHolds(History history, String origin) {
        List<String> timeline = new ArrayList<>();
        Throwable failure = Storm.run(history, timeline);
        if (failure != null) {
            throw new AssertionError(
                    """
                    a history%s fails; to keep it, save it as %s/NAME.history

                    # %s
                    %s

                    %s""".formatted(origin, DIRECTORY, failure.getMessage(), history, String.join("\n", timeline)),
                    failure);
        }
        return timeline;
    }

    @Test
    void oneSeed_hasTheSameEventsEachTime() {
        for (long seed = 0; seed < 50; seed++) {
            assertThat(timeline(seed)).as("seed %s", seed).isEqualTo(timeline(seed));
        }
    }

    private static List<String> timeline(long seed) {
        List<String> timeline = new ArrayList<>();
        assertThat(Storm.run(History.draw(seed), timeline)).isNull();
        return timeline;
    }

    @Test
    void shrink_leavesOnlyTheStepsThatMatter() {
        History history = History.draw(1);
        Set<Step> matter = Set.of(history.steps().get(3), history.steps().get(17));

        History shortest = Shrinker.shrink(history, shorter -> shorter.steps().containsAll(matter));

        assertThat(shortest.steps().stream().collect(Collectors.toSet())).isEqualTo(matter);
    }

    @Test
    void text_ofAnyHistory_isReadAsTheSameHistory() {
        for (long seed = 0; seed < 200; seed++) {
            History history = History.draw(seed);

            assertThat(History.of(history.toString())).as("seed %s", seed).isEqualTo(history);
        }
    }

    @Test
    void text_withAFieldThatNobodyKnows_isRejected() {
        assertThatThrownBy(() -> History.of("""
                policy limits=bucket:10/second
                at=1s do=CUT sever=1
                """))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unknown [sever]");
    }
}
