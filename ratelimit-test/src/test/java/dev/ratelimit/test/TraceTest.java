package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.LimitOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TraceTest {

    /** A concurrency limit has no times to record: its permits come back when they are refunded. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
    void all_eachAlgorithm_isRecorded(Algorithm algorithm) {
        Limit limit = algorithm.limit(Rate.parse("1/second"), LimitOptions.NONE);

        assertThat(Trace.all().map(Trace::limit)).hasAtLeastOneElementOfType(limit.getClass());
    }

    @Test
    void files_areAllThatThereAre() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/dev/ratelimit/test/traces"))) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(
                            Trace.FILES.stream().map(name -> name + ".json").toList());
        }
    }

    @Test
    void all_eachTrace_hasItsNameAndSteps() {
        assertThat(Trace.all().map(Trace::name)).doesNotHaveDuplicates().hasSizeGreaterThan(300);
        assertThat(Trace.all()).allSatisfy(trace -> assertThat(trace.steps()).hasSizeGreaterThan(20));
    }
}
