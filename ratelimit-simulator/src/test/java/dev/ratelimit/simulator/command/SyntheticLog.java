package dev.ratelimit.simulator.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Random;
import java.util.TreeMap;

/** A combined log of normal and greedy clients over two hours, the same for the same seed. */
final class SyntheticLog {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private SyntheticLog() {}

    /**
     * Writes a log.
     *
     * @param normal how many clients come for some visits of some pages each; their addresses are 10.1.x.y
     * @param greedy how many send a request every half second, all the time; their addresses are 10.9.0.x
     */
    static Path write(Path file, Instant start, int normal, int greedy, long seed) throws IOException {
        Random random = new Random(seed);
        int seconds = 7_200;
        TreeMap<Long, String> lines = new TreeMap<>();
        long order = 0;
        for (int client = 0; client < normal; client++) {
            String address = "10.1." + (client >> 8) + "." + (client & 255);
            int visits = 1 + random.nextInt(4);
            for (int visit = 0; visit < visits; visit++) {
                double at = random.nextInt(seconds - 120);
                int pages = 1 + random.nextInt(12);
                for (int page = 0; page < pages; page++) {
                    at += 0.2 + random.nextDouble() * 8;
                    long second = (long) at;
                    lines.put(second * 1_000_000 + order++, line(start.plusSeconds(second), address, random));
                }
            }
        }
        for (int client = 0; client < greedy; client++) {
            for (int half = 0; half < seconds * 2; half++) {
                long at = half / 2;
                lines.put(
                        at * 1_000_000 + order++ % 1_000_000, line(start.plusSeconds(at), "10.9.0." + client, random));
            }
        }
        return Files.write(file, lines.values());
    }

    private static String line(Instant time, String address, Random random) {
        return address + " - - [" + TIME.format(time) + "] \"GET /api/products/" + random.nextInt(300)
                + " HTTP/1.1\" 200 512 \"-\" \"test\"";
    }
}
