package dev.ratelimit.redis.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.redis.SilentLog;
import dev.ratelimit.storm.Histories;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
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

    private static final Histories<Step, History> HISTORIES = new Histories<>(
            History::draw,
            Storm::run,
            """
            to keep it, save this as ratelimit-redis/src/test/resources/dev/ratelimit/redis/storm/histories/NAME.history

            %s
            """::formatted,
            "-pl ratelimit-redis -am test -Dtest=StormTest -Dsurefire.failIfNoSpecifiedTests=false");

    /** The histories that found a fault once; others may take their seeds for delays, and must hold it, too. */
    @ParameterizedTest
    @MethodSource("kept")
    @Order(1)
    void keptHistory_holdsWhatIsPromised(Path file) throws IOException {
        History history = History.of(Files.readString(file));

        List<String> timeline = HISTORIES.requireHolds(file + " fails", history);

        assertThat(String.join("\n", timeline))
                .as("the timeline of a history that gets where it is meant to")
                .containsSubsequence(history.reached());
        for (int other = 1; other <= OTHER_DELAYS; other++) {
            long seed = history.setup().seed() + other;
            List<String> unused = HISTORIES.requireHolds(file + " fails with seed " + seed, history.withSeed(seed));
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
        HISTORIES.runChosen(BUILD);
    }

    @Test
    @Tag("slow")
    void manyHistories_holdWhatIsPromised() {
        HISTORIES.run(BUILD, 100);
        HISTORIES.run(1_000_000, 100);
    }

    @Test
    @Tag("nightly")
    void evenMoreHistories_holdWhatIsPromised() {
        HISTORIES.run(BUILD + 100, 200);
        HISTORIES.run(1_000_100, Boolean.getBoolean("redis.long") ? 9_900 : 2_900);
    }

    @Test
    @Tag("slow")
    void oneSeed_hasTheSameEventsEachTime() {
        HISTORIES.requireRepeatable(50);
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
