package dev.ratelimit.simulator.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SortingWindowTest {

    private static AccessLog log(String lines, int window) throws IOException {
        LogOptions options =
                new LogOptions("combined", FieldMapping.USUAL_NAMES, ZoneOffset.UTC, null, false, "", null, window);
        return AccessLog.of(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)), options);
    }

    private static String line(int second, int page) {
        return String.format(
                "10.0.0.1 - - [23/Nov/2026:%02d:%02d:%02d +0000] \"GET /%d HTTP/1.1\" 200 1 \"-\" \"-\"%n",
                second / 3600, second / 60 % 60, second % 60, page);
    }

    @Test
    void sameTime_keepsItsOrder() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            lines.append(line(9 - i / 10, i));
        }
        List<String> paths = new ArrayList<>();
        try (AccessLog log = log(lines.toString(), 100)) {
            for (LoggedRequest request = log.next(); request != null; request = log.next()) {
                paths.add(request.path().value());
            }
        }
        List<String> expected = new ArrayList<>();
        for (int second = 9; second >= 0; second--) {
            for (int i = 0; i < 10; i++) {
                expected.add("/" + (second * 10 + i));
            }
        }
        assertThat(paths).isEqualTo(expected);
    }

    @Test
    void anyOrder_isSortedLikeAList() throws IOException {
        Random random = new Random(1);
        for (int run = 0; run < 20; run++) {
            List<Integer> seconds = new ArrayList<>();
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < 200; i++) {
                int second = Math.max(0, i / 4 - random.nextInt(1 + run));
                seconds.add(second);
                lines.append(line(second, i));
            }
            List<String> expected = IntStream.range(0, 200)
                    .boxed()
                    .sorted(Comparator.comparing(seconds::get))
                    .map(i -> "/" + i)
                    .toList();
            List<String> paths = new ArrayList<>();
            try (AccessLog log = log(lines.toString(), 150)) {
                for (LoggedRequest request = log.next(); request != null; request = log.next()) {
                    paths.add(request.path().value());
                }
            }

            assertThat(paths).as("run %d", run).isEqualTo(expected);
        }
    }

    /** Moving each past all others would take longer than a test may. */
    @Test
    void newestFirst_isSorted_howeverManyThereAre() throws IOException {
        int lines = 200_000;
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < lines; i++) {
            text.append(line((lines - i) / 5, i));
        }
        try (AccessLog log = log(text.toString(), lines)) {
            long before = 0;
            for (LoggedRequest request = log.next(); request != null; request = log.next()) {
                assertThat(request.nanos()).isGreaterThanOrEqualTo(before);
                before = request.nanos();
            }
            assertThat(log.summary().late()).isZero();
            assertThat(log.summary().requests()).isEqualTo(lines);
        }
    }
}
