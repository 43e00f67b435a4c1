package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.attack.Attack;
import dev.ratelimit.simulator.attack.Attack.Size;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes made-up traffic. */
@Command(
        name = "attack",
        mixinStandardHelpOptions = true,
        description = "Writes made-up traffic as a log in JSON, to be replayed alone or beside a real log.",
        sortOptions = false)
final class AttackCommand implements Callable<Integer> {

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(
            paramLabel = "KIND",
            description =
                    "flood (of new addresses), greedy (one client), retry-storm, synchronized (clients) or growth.")
    String kind = "";

    @Option(
            names = "--rate",
            paramLabel = "REQUESTS",
            defaultValue = "100",
            description = "Requests of the attack each second; by default, ${DEFAULT-VALUE}.")
    int rate;

    @Option(
            names = "--clients",
            paramLabel = "CLIENTS",
            defaultValue = "500",
            description = "Normal clients, each with a request every ten seconds; by default, ${DEFAULT-VALUE}.")
    int clients;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description = "How long it lasts; by default, ${DEFAULT-VALUE}.")
    int seconds;

    @Option(names = "--seed", paramLabel = "NUMBER", defaultValue = "1", description = "Another one is other traffic.")
    long seed;

    @Option(
            names = "--start",
            paramLabel = "TIME",
            defaultValue = "2027-01-01T00:00:00Z",
            description = "When it begins; by default, ${DEFAULT-VALUE}.")
    String start = "";

    @Option(
            names = "--path",
            paramLabel = "PATH",
            defaultValue = "/",
            description = "The path of all requests; by default, ${DEFAULT-VALUE}.")
    String path = "";

    @Option(
            names = "--method",
            paramLabel = "METHOD",
            defaultValue = "GET",
            description = "Their method; GET by default.")
    String method = "";

    @Option(
            names = "--status",
            paramLabel = "STATUS",
            defaultValue = "200",
            description = "The status of all responses; by default, ${DEFAULT-VALUE}.")
    int status;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            defaultValue = "-",
            description = "The log; by default, standard output.")
    String out = "";

    @Override
    public Integer call() throws IOException {
        Attack attack = attack();
        Instant first = first();
        if (!method.matches("[A-Z]+") || !path.matches("/[!#-\\[\\]-~]*")) {
            throw new IllegalArgumentException("--method must be in capitals, and --path must begin with / and have no"
                    + " spaces, quotes and backslashes");
        }
        try (OutputFile file =
                OutputFile.of(out, Objects.requireNonNull(spec).commandLine().getOut())) {
            Writer writer = file.writer();
            attack.send(new Size(rate, clients, seconds, seed), (millis, address, normal) -> {
                try {
                    writer.write("{\"time\":\"" + first.plusMillis(millis) + "\",\"address\":\"" + address
                            + "\",\"method\":\"" + method + "\",\"path\":\"" + path + "\",\"status\":" + status
                            + "}\n");
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            file.commit();
        }
        return 0;
    }

    private Attack attack() {
        for (Attack one : Attack.values()) {
            if (one.name().replace('_', '-').equalsIgnoreCase(kind)) {
                return one;
            }
        }
        throw new IllegalArgumentException(
                "'" + kind + "' is no kind of attack; write flood, greedy, retry-storm, synchronized or growth");
    }

    private Instant first() {
        try {
            return Instant.parse(start);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("--start '" + start + "' is no time; write 2027-01-01T00:00:00Z", e);
        }
    }
}
