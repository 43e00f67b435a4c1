package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.endpoint.KnownEndpoints;
import dev.ratelimit.simulator.endpoint.LogEndpoints;
import dev.ratelimit.simulator.traffic.Field.Kind;
import dev.ratelimit.simulator.traffic.FieldMapping;
import dev.ratelimit.simulator.traffic.LogOptions;
import dev.ratelimit.simulator.traffic.NamedFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say which traffic is read, and how. */
final class LogInput {

    private static final String STANDARD_INPUT = "-";

    @Option(
            names = "--input",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description =
                    "Access logs, perhaps compressed with gzip; - is standard input. They are read as one, in the order"
                            + " of their times.")
    List<String> inputs = new ArrayList<>();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description =
                    "combined, common, json, csv, recording, or a log format of nginx, Apache or Tomcat; by default, what"
                            + " the first line looks like.")
    @Nullable
    String format;

    @Option(
            names = "--field",
            paramLabel = "WHAT=FIELD",
            description = "The field that has the time, address, method, path, query, status or duration.")
    Map<What, String> fields = new LinkedHashMap<>();

    /** What fields say that have no option of their own. */
    enum What {
        TIME(Kind.TIME),
        ADDRESS(Kind.ADDRESS),
        REQUEST(Kind.REQUEST),
        METHOD(Kind.METHOD),
        PATH(Kind.PATH),
        QUERY(Kind.QUERY),
        STATUS(Kind.STATUS),
        DURATION(Kind.DURATION);

        private final Kind kind;

        What(Kind kind) {
            this.kind = kind;
        }

        /** As it is written. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(names = "--user-from", paramLabel = "FIELD", description = "The field that has the name of the caller.")
    @Nullable
    String user;

    @Option(names = "--roles-from", paramLabel = "FIELD", description = "The field that has the roles of the caller.")
    @Nullable
    String roles;

    @Option(names = "--session-from", paramLabel = "FIELD", description = "The field that has the id of the session.")
    @Nullable
    String session;

    @Option(names = "--header", paramLabel = "NAME=FIELD", description = "The field that has the value of a header.")
    Map<String, String> headers = new LinkedHashMap<>();

    @Option(names = "--cookie", paramLabel = "NAME=FIELD", description = "The field that has the value of a cookie.")
    Map<String, String> cookies = new LinkedHashMap<>();

    @Option(
            names = "--claim",
            paramLabel = "NAME=FIELD",
            description = "The field that has a claim of the caller's token.")
    Map<String, String> claims = new LinkedHashMap<>();

    @Option(names = "--bean", paramLabel = "NAME=FIELD", description = "The field that has what a resolver says.")
    Map<String, String> beans = new LinkedHashMap<>();

    @Option(
            names = "--zone",
            paramLabel = "ZONE",
            defaultValue = "UTC",
            description = "The time zone of times without one; by default, ${DEFAULT-VALUE}.")
    ZoneId zone = ZoneOffset.UTC;

    @Option(
            names = "--duration-unit",
            paramLabel = "UNIT",
            description = "The unit of durations: s, ms, us or ns; by default, what their field says.")
    @Nullable
    String unit;

    @Option(
            names = "--times-are-ends",
            description = "The times are those at which requests ended, as in logs of nginx; durations are subtracted.")
    boolean ends;

    @Option(
            names = "--sort-window",
            paramLabel = "REQUESTS",
            defaultValue = "10000",
            description = "How many requests are kept to sort them by time; by default, ${DEFAULT-VALUE}.")
    int window;

    @Option(
            names = "--endpoints",
            paramLabel = "FILE",
            description = "The endpoints of the application, one a line, such as GET /orders/{id}.")
    @Nullable
    Path endpoints;

    @Option(
            names = "--strict",
            description =
                    "Exit with 1 if there are no requests, or lines could not be read, or were out of order by more than the window.")
    boolean strict;

    /** How the logs are to be read. */
    LogOptions options(String contextPath) {
        FieldMapping mapping = FieldMapping.USUAL_NAMES;
        for (Map.Entry<What, String> field : fields.entrySet()) {
            mapping = mapping.with(field.getKey().kind, "", field.getValue());
        }
        mapping = with(mapping, Kind.USER, user);
        mapping = with(mapping, Kind.ROLES, roles);
        mapping = with(mapping, Kind.SESSION, session);
        for (Map.Entry<String, String> header : headers.entrySet()) {
            mapping = mapping.with(Kind.HEADER, header.getKey().toLowerCase(Locale.ROOT), header.getValue());
        }
        for (Map.Entry<String, String> cookie : cookies.entrySet()) {
            mapping = mapping.with(Kind.COOKIE, cookie.getKey(), cookie.getValue());
        }
        for (Map.Entry<String, String> claim : claims.entrySet()) {
            mapping = mapping.with(Kind.CLAIM, claim.getKey(), claim.getValue());
        }
        for (Map.Entry<String, String> bean : beans.entrySet()) {
            mapping = mapping.with(Kind.BEAN, bean.getKey(), bean.getValue());
        }
        return new LogOptions(format, mapping, zone, durationUnit(), ends, contextPath, null, window());
    }

    private static FieldMapping with(FieldMapping mapping, Kind kind, @Nullable String field) {
        return field == null ? mapping : mapping.with(kind, "", field);
    }

    private @Nullable TimeUnit durationUnit() {
        if (unit == null) {
            return null;
        }
        return switch (unit) {
            case "s" -> TimeUnit.SECONDS;
            case "ms" -> TimeUnit.MILLISECONDS;
            case "us" -> TimeUnit.MICROSECONDS;
            case "ns" -> TimeUnit.NANOSECONDS;
            default -> throw new IllegalArgumentException("--duration-unit '" + unit + "' is not s, ms, us or ns");
        };
    }

    private int window() {
        if (window < 1 || window > 10_000_000) {
            throw new IllegalArgumentException("--sort-window must be from 1 to 10000000 but was " + window);
        }
        return window;
    }

    /** Whether the user has said which field has the callers. */
    boolean namesUsers() {
        return user != null;
    }

    /** The logs that are read. */
    List<NamedFile> files() throws IOException {
        List<NamedFile> files = new ArrayList<>();
        for (String input : inputs) {
            if (Files.isDirectory(Path.of(input))) {
                throw new IllegalArgumentException("--input " + input + " is a directory; write the files in it");
            }
            files.add(
                    input.equals(STANDARD_INPUT)
                            ? new NamedFile("standard input", kept(System.in))
                            : NamedFile.of(Path.of(input)));
        }
        return files;
    }

    /** A file with what can be read only once. */
    private static Path kept(InputStream in) throws IOException {
        Path file = Files.createTempFile("ratelimit-simulator", ".log");
        file.toFile().deleteOnExit();
        Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
        return file;
    }

    /** Calls back with the option and the name of each file that is read. */
    void eachFile(BiConsumer<String, Path> files) {
        inputs.stream()
                .filter(input -> !input.equals(STANDARD_INPUT))
                .forEach(input -> files.accept("--input", Path.of(input)));
        if (endpoints != null) {
            files.accept("--endpoints", endpoints);
        }
    }

    /** Finds the endpoints of requests. */
    LogEndpoints endpoints(String managementPath) throws IOException {
        return new LogEndpoints(endpoints == null ? List.of() : KnownEndpoints.list(endpoints), managementPath);
    }
}
