package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.Forgetful;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * Spellings of paths, and an application whose handlers note which of them has answered. That alone says which limit a request
 * should have had: nothing here looks at a path as the limits do.
 */
final class HostilePaths {

    /** How often each budget admits a request in an hour. */
    private static final int LIMIT = 2;

    /** What handlers note that have no limit. */
    private static final String FREE = "free";

    /** Handlers of all kinds; each notes its budget: its name and, if it has one for each value, the variable in the path. */
    @RestController
    static class Handlers implements Forgetful {

        private final List<String> answers = new CopyOnWriteArrayList<>();

        @Override
        public void forget() {
            answers.clear();
        }

        /** What has answered since the last call. */
        List<String> take() {
            List<String> taken = List.copyOf(answers);
            answers.clear();
            return taken;
        }

        String note(String budget) {
            answers.add(budget);
            return budget;
        }

        @GetMapping("/secret")
        @RateLimited(value = "2/hour", key = "ip")
        String secret() {
            return note("secret");
        }

        @GetMapping("/secret/below")
        String below() {
            return note("free below");
        }

        @GetMapping("/users")
        String users() {
            return note("free users");
        }

        @GetMapping("/users/{id}")
        @RateLimited(value = "2/hour", key = "path:id")
        String user(@PathVariable String id) {
            return note("user " + id);
        }

        @GetMapping("/tree/**")
        @RateLimited(value = "2/hour", key = "ip")
        String tree() {
            return note("tree");
        }

        @GetMapping("/tree/low")
        String low() {
            return note("free low");
        }

        @GetMapping("/docs/{name}.pdf")
        @RateLimited(value = "2/hour", key = "path:name")
        String document(@PathVariable String name) {
            return note("document " + name);
        }

        @GetMapping("/two/{a}-{b}")
        @RateLimited(value = "2/hour", key = "path:a")
        String two(@PathVariable String a, @PathVariable String b) {
            return note("two " + a);
        }

        @GetMapping("/number/{n:[0-9]+}")
        @RateLimited(value = "2/hour", key = "ip")
        String number(@PathVariable String n) {
            return note("number");
        }

        @GetMapping(path = "/twins", params = "v=1")
        String freeTwin() {
            return note("free twin");
        }

        @GetMapping(path = "/twins", params = "v=2")
        @RateLimited(value = "2/hour", key = "ip")
        String twin() {
            return note("twin");
        }

        @GetMapping("/paid/item")
        String paid() {
            return note("paid");
        }

        @GetMapping("/api/u/{id}")
        String api(@PathVariable String id) {
            return note("api " + id);
        }

        @GetMapping("/each/a")
        String eachA() {
            return note("each a");
        }

        @GetMapping("/each/b")
        String eachB() {
            return note("each b");
        }

        @GetMapping("/mostly/limited")
        String mostly() {
            return note("mostly");
        }

        @GetMapping("/mostly/{name}")
        @RateLimitExempt
        String exempt(@PathVariable String name) {
            return note("free exempt");
        }

        @GetMapping("/open/{name}")
        String open(@PathVariable String name) {
            return note("free open");
        }
    }

    /** The limits that are not annotations. */
    static final String[] POLICIES = {
        "p.limit=2/hour",
        "p.key=ip",
        "p.match.paths=/paid/item",
        "ratelimit.policies.api.limit=2/hour",
        "ratelimit.policies.api.key=path:id",
        "ratelimit.policies.api.missing-key=skip",
        "ratelimit.policies.api.match.paths=/api/**",
        "ratelimit.policies.each.limit=2/hour",
        "ratelimit.policies.each.key=ip, endpoint",
        "ratelimit.policies.each.match.paths=/each/**",
        "ratelimit.policies.mostly.limit=2/hour",
        "ratelimit.policies.mostly.key=ip",
        "ratelimit.policies.mostly.match.paths=/mostly/**",
        "ratelimit.policies.functions.limit=2/hour",
        "ratelimit.policies.functions.key=ip",
        "ratelimit.policies.functions.match.paths=/fn/**",
        "ratelimit.exempt.paths=/open/**"
    };

    /** A path of each budget, as its mapping has it. */
    private static final Map<String, String> PATHS = new LinkedHashMap<>();

    static {
        PATHS.put("secret", "/secret");
        PATHS.put("user 7", "/users/7");
        PATHS.put("tree", "/tree/high");
        PATHS.put("free low", "/tree/low");
        PATHS.put("document x", "/docs/x.pdf");
        PATHS.put("two 1", "/two/1-2");
        PATHS.put("number", "/number/7");
        PATHS.put("twin", "/twins?v=2");
        PATHS.put("paid", "/paid/item");
        PATHS.put("api 7", "/api/u/7");
        PATHS.put("each a", "/each/a");
        PATHS.put("mostly", "/mostly/limited");
        PATHS.put("free exempt", "/mostly/exempt");
        PATHS.put("function", "/fn/x");
    }

    /** Paths beside them, whose handlers must still answer when those above do not. */
    private static final Map<String, String> BESIDE = Map.of(
            "free below", "/secret/below",
            "free users", "/users",
            "free twin", "/twins?v=1",
            "each b", "/each/b",
            "free open", "/open/x");

    /** Ways to write a path. */
    private static final List<UnaryOperator<String>> SPELLINGS = List.of(
            path -> path,
            // slashes
            path -> path + "/",
            path -> path + "//",
            path -> "/" + path,
            path -> "//" + path,
            path -> first(path) + "/" + path.substring(first(path).length()),
            path -> path.replace("/", "//"),
            path -> "/" + path.substring(1).replace("/", "%2f"),
            path -> "/" + path.substring(1).replace("/", "%2F"),
            path -> "/" + path.substring(1).replace("/", "%252f"),
            path -> "/" + path.substring(1).replace("/", "%5c"),
            path -> "/" + path.substring(1).replace("/", "\\"),
            path -> "/%2f" + path.substring(1),
            path -> "/%5c" + path.substring(1),
            path -> path + "%2f",
            path -> path + "%5c",
            path -> path + "\\",
            path -> "/" + path.substring(1).replace("/", "%c0%af"),
            path -> "/" + path.substring(1).replace("/", "%ef%bc%8f"),
            // dots
            path -> "/." + path,
            path -> "/%2e" + path,
            path -> "/%252e" + path,
            path -> path + "/.",
            path -> path + "/%2e",
            path -> path + "/x/..",
            path -> path + "/x/%2e%2e",
            path -> path + "/..;/" + last(path),
            path -> path + ".",
            path -> "/x/.." + path,
            path -> "/x/%2e%2e" + path,
            path -> "/x/..%2f" + path.substring(1),
            path -> "/x/..;" + path,
            path -> "/.." + path,
            path -> "/..;" + path,
            // a path that is exempt, in front
            path -> "/open/.." + path,
            path -> "/open/%2e%2e" + path,
            path -> "/open/..;" + path,
            path -> "/open/..%2f" + path.substring(1),
            path -> "/open/.%2e" + path,
            path -> "/open;/.." + path,
            path -> "/open%2f.." + path,
            path -> "/secret/.." + path,
            // matrix parameters
            path -> path + ";",
            path -> path + ";a=b",
            path -> path + ";a=/b",
            path -> path + ";/",
            path -> path + ";a=b/",
            path -> path + "/;",
            path -> path + "/;a=b",
            path -> first(path) + ";a=b" + path.substring(first(path).length()),
            path -> first(path) + ";a=b,c;d" + path.substring(first(path).length()),
            path -> "/;" + path,
            path -> "/;a=b" + path,
            path -> path + "%3b",
            path -> path + "%3ba=b",
            path -> path + ";jsessionid=1",
            // suffixes
            path -> path + ".json",
            path -> path + ".x",
            path -> path + ".json/",
            path -> path + ".json;a",
            path -> path + ";.json",
            path -> path + "/.json",
            path -> path + "%2ejson",
            // letters
            path -> "/" + escape(path.substring(1, 2)) + path.substring(2),
            path -> "/" + escape(path.substring(1, 2)).toLowerCase(Locale.ROOT) + path.substring(2),
            path -> path.substring(0, path.length() - 1) + escape(path.substring(path.length() - 1)),
            path -> "/" + escape(path.substring(1)).replace("%2F", "/"),
            path -> "/" + escape(path.substring(1)),
            path -> "/" + escape(path.substring(1)).replace("%", "%25"),
            path -> "/%25" + escape(path.substring(1, 2)).substring(1) + path.substring(2),
            path -> path.toUpperCase(Locale.ROOT),
            path -> "/" + path.substring(1, 2).toUpperCase(Locale.ROOT) + path.substring(2),
            path -> "/" + escape(path.substring(1, 2).toUpperCase(Locale.ROOT)) + path.substring(2),
            path -> path.replace("s", "%c5%bf"),
            path -> path.replace("s", "\u00c5\u00bf"),
            path -> path.replace("i", "%c4%b1"),
            path -> path.replace("i", "%c4%b0"),
            path -> path.replace("k", "%e2%84%aa"),
            path -> path.replace("e", "e%cc%81"),
            path -> path.replace("e", "%e9"),
            path -> path.replace("e", "\u00e9"),
            path -> path.replace("e", "%ef%bd%85"),
            path -> path.replace("e", "%c1%a5"),
            path -> path.replace("e", "%u0065"),
            // blanks and characters without a shape
            path -> path + "%20",
            path -> path + "+",
            path -> "/%20" + path.substring(1),
            path -> path + "%09",
            path -> path + "%0a",
            path -> path + "%0d%0a",
            path -> path + "%00",
            path -> path + "%00.json",
            path -> path + "%a0",
            path -> path + "%c2%a0",
            path -> path + "%e2%80%8b",
            path -> path + "%ef%bb%bf",
            path -> path + "%7f",
            path -> path + "%ff",
            path -> path + "%",
            path -> path + "%zz",
            // other ends
            path -> path + "%3f",
            path -> path + "%3fx",
            path -> path + "%23",
            path -> path + "#x",
            path -> path + "|",
            path -> path + "^",
            path -> path + "{x}",
            path -> path + "*",
            path -> path + "/*",
            path -> path + ",",
            path -> path + "&x",
            // other forms
            path -> "http://localhost" + path,
            path -> "http://other.example" + path,
            path -> "http://localhost/" + path,
            path -> path.substring(1));

    /** Long ways to write it, which cost more. */
    private static final List<UnaryOperator<String>> LONG = List.of(
            path -> path + ";a=" + "b".repeat(6_000),
            path -> path + ";b".repeat(3_000),
            path -> path + "/".repeat(3_000),
            path -> "/".repeat(3_000) + path,
            path -> "/.".repeat(2_000) + path,
            path -> path + "/x/..".repeat(1_000),
            path -> path + "x".repeat(6_000));

    private static String first(String path) {
        int end = path.indexOf('/', 1);
        return end < 0 ? path : path.substring(0, end);
    }

    private static String last(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String escape(String letters) {
        StringBuilder escaped = new StringBuilder();
        letters.chars().forEach(c -> escaped.append(String.format("%%%02X", c)));
        return escaped.toString();
    }

    private final RunningApp app;
    private final Handlers handlers;
    private final String base;
    private final List<String> faults = new ArrayList<>();

    /** How many spellings a handler has answered. */
    private int answered;

    private HostilePaths(RunningApp app, String base) {
        this.app = app;
        this.base = base;
        this.handlers = app.bean(Handlers.class);
    }

    /**
     * Sends each spelling of each path to an application with {@link Handlers}, {@link Functions} and {@link #POLICIES}.
     *
     * @param base what comes before each path
     */
    static void send(RunningApp app, String base) {
        HostilePaths all = new HostilePaths(app, base);
        spellings(base).forEach(all::alone);
        assertThat(all.faults).isEmpty();
        // otherwise nothing has been tested
        assertThat(all.answered).isGreaterThan(PATHS.size());
    }

    private static Set<String> spellings(String base) {
        Set<String> all = new LinkedHashSet<>();
        for (String path : PATHS.values()) {
            String[] parts = (base + path).split("\\?", 2);
            String query = parts.length == 1 ? "" : "?" + parts[1];
            SPELLINGS.forEach(spelling -> all.add(spelling.apply(parts[0]) + query));
            if (!base.isEmpty()) {
                SPELLINGS.forEach(spelling -> all.add(base + spelling.apply(path.split("\\?", 2)[0]) + query));
            }
        }
        LONG.forEach(spelling -> all.add(base + spelling.apply("/secret")));
        LONG.forEach(spelling -> all.add(base + spelling.apply("/users/7")));
        return all;
    }

    /** What a request has met. */
    private record Met(int status, List<String> budgets) {

        /** Whose handler it was; empty if there was none. */
        String budget() {
            return budgets.isEmpty() ? "" : budgets.get(0);
        }
    }

    private Met get(String path) {
        int status;
        try {
            RawResponse response = app.get(path);
            status = response.status();
            if (status == 200 && handlers.answers.isEmpty()) {
                handlers.note("function");
            }
        } catch (UncheckedIOException | IllegalStateException withoutAnAnswer) {
            status = 0;
        }
        return new Met(status, handlers.take());
    }

    private static boolean isLimited(String budget) {
        return !budget.isEmpty() && !budget.startsWith(FREE);
    }

    private void fault(String path, String what) {
        faults.add((path.length() > 80 ? path.substring(0, 80) + "…" : path) + ": " + what);
    }

    /** Sends one spelling while all budgets are whole, until its own is used up, and then paths like it as they usually are. */
    private void alone(String path) {
        app.ticker().advance(Duration.ofHours(2));
        Met first = get(path);
        if (first.status() == 429) {
            fault(path, "refused at once");
        }
        if (first.budgets().isEmpty()) {
            return;
        }
        answered++;
        List<Integer> statuses = new ArrayList<>(List.of(first.status()));
        int calls = first.budgets().size();
        for (int i = 0; i < LIMIT; i++) {
            Met next = get(path);
            statuses.add(next.status());
            calls += next.budgets().size();
        }
        boolean limited = isLimited(first.budget());
        if (calls != (limited ? LIMIT : LIMIT + 1)) {
            fault(path, first.budget() + " was called " + calls + " times, " + statuses);
        }
        neighbours(first.budget()).forEach((budget, canonical) -> {
            boolean same = budget.equals(first.budget()) && limited;
            boolean answers = !get(base + canonical).budgets().isEmpty();
            if (same == answers && !isRefundedTooLate(budget)) {
                fault(path, "after " + first.budget() + ", " + budget + (answers ? " is" : " is not") + " answered");
            }
        });
    }

    /** The path of a budget, and those that are most like it. */
    private static Map<String, String> neighbours(String budget) {
        Map<String, String> all = new LinkedHashMap<>(PATHS);
        all.putAll(BESIDE);
        String path = all.getOrDefault(budget, "/secret");
        all.values().removeIf(other -> !first(other.replace('?', '/')).equals(first(path.replace('?', '/'))));
        return all;
    }

    /** Where the exemption is known at the handler alone, it refunds what was charged in front, but a used-up budget refuses. */
    private static boolean isRefundedTooLate(String budget) {
        return budget.equals("free exempt");
    }
}
