package dev.ratelimit.benchmarks.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Requests by {@code wrk}, from a hundred users in turn. */
final class Load {

    static final int USERS = 100;

    private static final String CONNECTIONS = "32";

    private static final String SCRIPT = """
            local prepared, turn = {}, 0
            function init(args)
              for user = 1, %d do
                prepared[user] = wrk.format("GET", "/hello", { ["X-User"] = "user-" .. user })
              end
            end
            function request()
              turn = turn %% #prepared + 1
              return prepared[turn]
            end
            function done(summary, latency, requests)
              io.write(string.format("answers %%d %%d %%d %%d %%d\\n", summary.requests, summary.errors.status,
                summary.duration, latency:percentile(50), latency:percentile(99)))
            end
            """.formatted(USERS);

    private final Path script;

    Load() {
        try {
            script = Files.createTempFile("requests", ".lua");
            Files.writeString(script, SCRIPT);
            script.toFile().deleteOnExit();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Times in microseconds. */
    record Answers(long all, long refused, long micros, long p50, long p99) {

        double perSecond() {
            return all * 1e6 / micros;
        }
    }

    Answers run(int port, int seconds) {
        List<String> command = List.of(
                "wrk",
                "-t1",
                "-c" + CONNECTIONS,
                "-d" + seconds + "s",
                "-s",
                script.toString(),
                "http://127.0.0.1:" + port + "/hello");
        String output;
        try {
            Process wrk = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            output = new String(wrk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            wrk.waitFor();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (IOException e) {
            throw new UncheckedIOException("wrk is needed", e);
        }
        return output.lines()
                .filter(line -> line.startsWith("answers "))
                .map(Load::answers)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("wrk said: " + output));
    }

    private static Answers answers(String line) {
        String[] numbers = line.split(" ", -1);
        return new Answers(
                Long.parseLong(numbers[1]),
                Long.parseLong(numbers[2]),
                Long.parseLong(numbers[3]),
                Long.parseLong(numbers[4]),
                Long.parseLong(numbers[5]));
    }
}
