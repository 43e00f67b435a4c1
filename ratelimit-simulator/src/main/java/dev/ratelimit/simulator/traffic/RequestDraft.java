package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.simulator.traffic.Field.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Collects the fields of one line, and makes a request of them. Used again for each line. Not thread-safe. */
final class RequestDraft {

    private static final int KEPT_PATHS = 20_000;
    private static final double MAX_NANOS = 4e18;

    private static final Field TIME = Field.of(Kind.TIME);
    private static final Field REQUEST = Field.of(Kind.REQUEST);
    private static final Field METHOD = Field.of(Kind.METHOD);
    private static final Field PATH = Field.of(Kind.PATH);
    private static final Field QUERY = Field.of(Kind.QUERY);
    private static final Field STATUS = Field.of(Kind.STATUS);

    private final LogOptions options;
    private final TimeParser times;

    /** The paths seen, so that most requests need not parse theirs. */
    private final Map<String, LoggedPath> paths = new HashMap<>();

    private Map<Field, String> values = new HashMap<>();
    private Map<String, RecordedCharge> charges = Map.of();

    /** The field of the duration, which tells the unit; {@code null} if the line has none. */
    private @Nullable Field duration;

    RequestDraft(LogOptions options) {
        this.options = options;
        this.times = new TimeParser(options.zone());
    }

    TimeParser times() {
        return times;
    }

    void clear() {
        values = new HashMap<>();
        charges = Map.of();
        duration = null;
    }

    /** Takes over a field; {@code -} and nothing stand for no value. */
    void set(Field field, String value) {
        boolean needed =
                field.kind() != Kind.OTHER && (field.kind() != Kind.HEADER || options.needsHeader(field.name()));
        if (needed && !value.isEmpty() && !value.equals("-")) {
            values.put(field, value);
            duration = field.kind() == Kind.DURATION ? field : duration;
        }
    }

    /** Takes over what the request asked policies for when it was recorded. */
    void setCharges(Map<String, RecordedCharge> recorded) {
        charges = recorded;
    }

    /** The request. */
    LoggedRequest request() throws UnreadableLineException {
        String time = values.get(TIME);
        if (time == null) {
            throw new UnreadableLineException("there is no time");
        }
        long nanos = times.parse(time);
        if (nanos == TimeParser.UNREADABLE) {
            throw new UnreadableLineException("the time '" + time + "' cannot be read");
        }
        long took = duration == null ? LoggedRequest.UNKNOWN : duration(duration, values.get(duration));
        long start = options.timesAreEnds() && took > 0 ? nanos - took : nanos;
        if (start < 0) {
            throw new UnreadableLineException("the request began before 1970");
        }
        return new LoggedRequest(start, target(), new LoggedRequest.Answer(status(), took), values, charges);
    }

    /** Where the request leads to; a path of its own takes the place of that in the first line of the request. */
    private LoggedRequest.Target target() throws UnreadableLineException {
        String line = values.get(REQUEST);
        String method = values.get(METHOD);
        String written = values.get(PATH);
        if (line != null) {
            // such as GET /orders?page=2 HTTP/1.1; what clients send may be anything
            int first = line.indexOf(' ');
            int last = line.lastIndexOf(' ');
            if (first <= 0) {
                throw new UnreadableLineException("the request '" + line + "' has no path");
            }
            method = method == null ? line.substring(0, first) : method;
            written = written == null ? line.substring(first + 1, first == last ? line.length() : last) : written;
        }
        if (written == null) {
            throw new UnreadableLineException("there is no path");
        }
        int mark = written.indexOf('?');
        String query = values.get(QUERY);
        if (query != null) {
            query = query.startsWith("?") ? query.substring(1) : query;
        } else if (mark >= 0) {
            query = written.substring(mark + 1);
        }
        LoggedPath path = pathOf(mark < 0 ? written : written.substring(0, mark));
        return new LoggedRequest.Target(method == null ? "GET" : method, path, query);
    }

    private int status() throws UnreadableLineException {
        String text = values.get(STATUS);
        try {
            int status = text == null ? LoggedRequest.UNKNOWN : Integer.parseInt(text);
            if (text != null && status < 0) {
                throw new UnreadableLineException("the status '" + text + "' is negative");
            }
            return status;
        } catch (NumberFormatException e) {
            throw new UnreadableLineException("the status '" + text + "' is not a whole number");
        }
    }

    private long duration(Field field, @Nullable String value) throws UnreadableLineException {
        TimeUnit unit = options.durationUnit();
        if (unit == null && field.name().isEmpty()) {
            throw new IllegalArgumentException("the unit of durations such as " + value
                    + " is not known; write it, as in --duration-unit ms, or s or us");
        }
        long nanos = (unit == null ? TimeUnit.valueOf(field.name()) : unit).toNanos(1);
        try {
            double units = Double.parseDouble(String.valueOf(value));
            if (units >= 0 && units * nanos < MAX_NANOS) {
                return Math.round(units * nanos);
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new UnreadableLineException("the duration '" + value + "' is not a number of at least 0");
    }

    /** The path, unless servers would refuse it before they ask limits. */
    private LoggedPath pathOf(String target) throws UnreadableLineException {
        LoggedPath known = paths.get(target);
        if (known == null) {
            if (paths.size() >= KEPT_PATHS) {
                paths.clear();
            }
            try {
                known = new LoggedPath(withoutOrigin(target), options.contextPath());
            } catch (IllegalArgumentException e) {
                throw new UnreadableLineException("the path '" + target + "' has an escape that is none");
            }
            paths.put(target, known);
        }
        return known;
    }

    /** Proxies get absolute URLs. */
    private static String withoutOrigin(String target) {
        int scheme = target.indexOf("://");
        if (scheme < 0 || target.startsWith("/")) {
            return target;
        }
        int slash = target.indexOf('/', scheme + 3);
        return slash < 0 ? "/" : target.substring(slash);
    }
}
