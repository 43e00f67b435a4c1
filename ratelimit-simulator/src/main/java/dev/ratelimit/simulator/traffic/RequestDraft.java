package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.simulator.traffic.Field.Kind;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Collects the fields of one line, and makes a request of them. Used again for each line. Not thread-safe. */
final class RequestDraft {

    private static final int KEPT_PATHS = 20_000;
    private static final double MAX_NANOS = 4e18;
    private static final int KEPT_TEXTS = 1 << 14;

    /** The first line of a request. */
    private record RequestLine(
            String method, LoggedPath path, @Nullable String query) {}

    private final LogOptions options;
    private final TimeParser times;

    /** The paths seen, so that most requests need not parse theirs. */
    private final Map<String, LoggedPath> paths = new HashMap<>();

    /** Texts that are likely to come again, by their hash. */
    private final @Nullable String[] texts = new @Nullable String[KEPT_TEXTS];

    /** What these texts say, if they are the first lines of requests. */
    private final @Nullable RequestLine[] requestLines = new @Nullable RequestLine[KEPT_TEXTS];

    private @Nullable RequestLine request;
    private @Nullable LoggedPath path;
    private long nanos;
    private boolean timed;
    private @Nullable String address;
    private @Nullable String method;
    private @Nullable String target;
    private @Nullable String query;
    private int status;
    private long durationNanos;
    private @Nullable String user;
    private Map<String, String> headers = Map.of();
    private Map<String, String> cookies = Map.of();
    private Map<String, Object> claims = Map.of();
    private Map<String, @Nullable String> beans = Map.of();
    private Set<String> roles = Set.of();
    private @Nullable String session;
    private Map<String, RecordedCharge> charges = Map.of();
    private boolean plain;
    private @Nullable String mistake;

    RequestDraft(LogOptions options) {
        this.options = options;
        this.times = new TimeParser(options.zone());
        clear();
    }

    TimeParser times() {
        return times;
    }

    void clear() {
        timed = false;
        address = null;
        method = null;
        request = null;
        target = null;
        query = null;
        status = LoggedRequest.UNKNOWN;
        durationNanos = LoggedRequest.UNKNOWN;
        user = null;
        session = null;
        mistake = null;
        if (!plain) {
            headers = Map.of();
            cookies = Map.of();
            claims = Map.of();
            beans = Map.of();
            roles = Set.of();
            charges = Map.of();
            plain = true;
        }
    }

    /** Takes over a field that is a part of a line. */
    void set(Field field, byte[] line, int from, int to) {
        switch (field.kind()) {
            case OTHER -> {}
            case TIME -> time(times.parse(line, from, to), line, from, to);
            case STATUS -> {
                if (to - from == 3 && digit(line[from]) && digit(line[from + 1]) && digit(line[from + 2])) {
                    status = (line[from] - '0') * 100 + (line[from + 1] - '0') * 10 + line[from + 2] - '0';
                } else {
                    set(field, new String(line, from, to - from, StandardCharsets.UTF_8));
                }
            }
            case HEADER -> {
                if (options.needsHeader(field.name())) {
                    set(field, text(line, from, to));
                }
            }
            case REQUEST -> {
                if (to - from == 1 && line[from] == '-') {
                    return;
                }
                int slot = slotOf(line, from, to);
                RequestLine known = requestLines[slot];
                if (known == null) {
                    requestLine(Objects.requireNonNull(texts[slot]));
                    requestLines[slot] = request;
                } else {
                    request = known;
                }
            }
            default -> set(field, text(line, from, to));
        }
    }

    private static boolean digit(byte b) {
        return b >= '0' && b <= '9';
    }

    private void time(long at, byte[] line, int from, int to) {
        timed = at != TimeParser.UNREADABLE;
        nanos = at;
        if (!timed) {
            fail("the time '" + new String(line, from, to - from, StandardCharsets.UTF_8) + "' cannot be read");
        }
    }

    /** A part of a line as text, which is the same object if it was there before, most of the time. */
    private String text(byte[] line, int from, int to) {
        return Objects.requireNonNull(texts[slotOf(line, from, to)]);
    }

    /** Where a part of a line is kept as text. */
    private int slotOf(byte[] line, int from, int to) {
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + line[i];
        }
        int slot = (hash ^ hash >>> 15) & KEPT_TEXTS - 1;
        String kept = texts[slot];
        if (kept != null && kept.length() == to - from && same(kept, line, from)) {
            return slot;
        }
        texts[slot] = new String(line, from, to - from, StandardCharsets.UTF_8);
        requestLines[slot] = null;
        return slot;
    }

    /** Only for ASCII, whose length in bytes is that in characters. */
    private static boolean same(String text, byte[] line, int from) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) != line[from + i]) {
                return false;
            }
        }
        return true;
    }

    /** Takes over a field; {@code -} and nothing stand for no value. */
    void set(Field field, String value) {
        boolean absent = value.isEmpty() || value.equals("-");
        if (field.kind() == Kind.TIME) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            time(times.parse(bytes, 0, bytes.length), bytes, 0, bytes.length);
        } else if (!absent) {
            setPresent(field, value);
        }
    }

    /** Takes over what the request asked policies for when it was recorded. */
    void setCharges(Map<String, RecordedCharge> recorded) {
        plain = false;
        charges = recorded;
    }

    private void setPresent(Field field, String value) {
        switch (field.kind()) {
            case ADDRESS -> address = value;
            case USER -> user = value;
            case REQUEST -> requestLine(value);
            case METHOD -> method = value;
            case PATH -> target = value;
            case QUERY -> query = value.startsWith("?") ? value.substring(1) : value;
            case STATUS -> status = (int) number(value, "status");
            case DURATION -> durationNanos = duration(field, value);
            case SESSION -> session = value;
            default -> setRare(field, value);
        }
    }

    private void setRare(Field field, String value) {
        plain = false;
        switch (field.kind()) {
            case HEADER -> {
                headers = headers.isEmpty() ? new HashMap<>() : headers;
                headers.put(field.name().toLowerCase(Locale.ROOT), value);
            }
            case COOKIE -> {
                cookies = cookies.isEmpty() ? new HashMap<>() : cookies;
                cookies.put(field.name(), value);
            }
            case CLAIM -> {
                claims = claims.isEmpty() ? new HashMap<>() : claims;
                claims.put(field.name(), value);
            }
            case BEAN -> {
                beans = beans.isEmpty() ? new HashMap<>() : beans;
                beans.put(field.name(), value);
            }
            case ROLES -> roles = new HashSet<>(Set.of(value.split("[, ]+")));
            default -> {}
        }
    }

    /** Such as {@code GET /orders?page=2 HTTP/1.1}; what clients send may be anything. */
    private void requestLine(String line) {
        int first = line.indexOf(' ');
        int last = line.lastIndexOf(' ');
        if (first <= 0) {
            fail("the request '" + line + "' has no path");
            return;
        }
        String written = first == last ? line.substring(first + 1) : line.substring(first + 1, last);
        int mark = written.indexOf('?');
        LoggedPath parsed = pathOf(mark < 0 ? written : written.substring(0, mark));
        if (parsed != null) {
            String name = line.substring(0, first).intern();
            request = new RequestLine(name, parsed, mark < 0 ? null : written.substring(mark + 1));
        }
    }

    private long number(String value, String what) {
        try {
            long number = Long.parseLong(value);
            if (number < 0) {
                fail("the " + what + " '" + value + "' is negative");
            }
            return number;
        } catch (NumberFormatException e) {
            fail("the " + what + " '" + value + "' is not a whole number");
            return 0;
        }
    }

    private long duration(Field field, String value) {
        TimeUnit unit = options.durationUnit();
        if (unit == null && field.name().isEmpty()) {
            throw new IllegalArgumentException("the unit of durations such as " + value
                    + " is not known; write it, as in --duration-unit ms, or s or us");
        }
        long nanos = (unit == null ? TimeUnit.valueOf(field.name()) : unit).toNanos(1);
        try {
            double units = Double.parseDouble(value);
            if (units >= 0 && units * nanos < MAX_NANOS) {
                return Math.round(units * nanos);
            }
        } catch (NumberFormatException e) {
            // said below
        }
        fail("the duration '" + value + "' is not a number of at least 0");
        return LoggedRequest.UNKNOWN;
    }

    void fail(String reason) {
        if (mistake == null) {
            mistake = reason;
        }
    }

    /** What is wrong with the line; {@code null} if nothing is. */
    @Nullable
    String mistake() {
        if (mistake == null && !timed) {
            return "there is no time";
        }
        if (mistake == null && startNanos() < 0) {
            return "the request began before 1970";
        }
        if (mistake == null && target == null && request == null) {
            return "there is no path";
        }
        if (mistake == null && (request == null || target != null)) {
            readTarget(Objects.requireNonNull(target));
        }
        return mistake;
    }

    private void readTarget(String whole) {
        int mark = whole.indexOf('?');
        path = pathOf(mark < 0 ? whole : whole.substring(0, mark));
        if (mark >= 0 && query == null) {
            query = whole.substring(mark + 1);
        }
    }

    /** The request; only if there is no mistake. */
    LoggedRequest request() {
        RequestLine line = request;
        if (line != null && target == null) {
            query = query == null ? line.query() : query;
            return new LoggedRequest(this, line.path());
        }
        return new LoggedRequest(this, Objects.requireNonNull(path));
    }

    /** The path; {@code null}, and a mistake, if servers would refuse it before they ask limits. */
    private @Nullable LoggedPath pathOf(String target) {
        LoggedPath known = paths.get(target);
        if (known == null) {
            if (paths.size() >= KEPT_PATHS) {
                paths.clear();
            }
            try {
                known = new LoggedPath(withoutOrigin(target), options.contextPath());
            } catch (IllegalArgumentException e) {
                fail("the path '" + target + "' has an escape that is none");
                return null;
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

    long startNanos() {
        boolean ended = options.timesAreEnds() && durationNanos > 0;
        return ended ? nanos - durationNanos : nanos;
    }

    String method() {
        if (method != null) {
            return method;
        }
        return request == null ? "GET" : request.method();
    }

    @Nullable
    String query() {
        return query;
    }

    @Nullable
    String address() {
        return address;
    }

    int status() {
        return status;
    }

    long durationNanos() {
        return durationNanos;
    }

    LoggedValues values() {
        if (plain && user == null && session == null) {
            return LoggedValues.NONE;
        }
        return new LoggedValues(
                user == null && claims.isEmpty() ? null : LoggedCaller.of(user == null ? "" : user, claims),
                roles,
                headers,
                cookies,
                session,
                beans,
                charges);
    }
}
