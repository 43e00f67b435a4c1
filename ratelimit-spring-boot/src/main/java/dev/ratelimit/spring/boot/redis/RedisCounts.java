package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.spring.rules.instances.CountsSummary;
import dev.ratelimit.spring.rules.instances.SharedCounts;
import dev.ratelimit.spring.rules.text.UrlEncoding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Shares what instances have counted by one key in Redis for each, which the script {@code counts.lua} writes every few seconds,
 * and which are read only when somebody asks. Used under the lock of {@link RedisChanges}, but for the number of instances.
 */
final class RedisCounts {

    /** The summaries of more instances are not read, so that an answer is bounded. */
    private static final int MAX_READ = 100;

    /** Runs the script under the lock. */
    @FunctionalInterface
    interface Script {

        /**
         * Runs the script.
         *
         * @param keys how many of the arguments are keys
         */
        List<String> eval(int keys, List<String> keysAndArguments);
    }

    private final String prefix;
    private final String instance;
    private final Duration alive;
    private final Script script;

    /** The names of the other instances that run. */
    private volatile Map<String, String> others = Map.of();

    RedisCounts(String prefix, String instance, Duration alive, Script script) {
        this.prefix = prefix;
        this.instance = instance;
        this.alive = alive;
        this.script = script;
    }

    /** The key of this instance. */
    String key() {
        return prefix + instance;
    }

    /** How many other instances run. */
    int others() {
        return others.size();
    }

    /** Learns which other instances run, by a line for each: what it is, and its name, encoded. */
    void others(List<String> lines) {
        Map<String, String> names = new LinkedHashMap<>();
        lines.stream().sorted().forEach(line -> {
            int end = line.indexOf(' ');
            String name = UrlEncoding.decoded(line.substring(end + 1));
            names.put(line.substring(0, end), name.isEmpty() ? "unknown" : name);
        });
        others = names;
    }

    /** Tells the others. */
    List<String> tell(CountsSummary counted) {
        return script.eval(1, List.of(key(), Long.toString(alive.toMillis()), counted.toString()));
    }

    /** What the others have told. */
    List<SharedCounts.Told> read() {
        Map<String, String> names = others;
        List<String> keys =
                names.keySet().stream().limit(MAX_READ).map(prefix::concat).toList();
        List<String> replies = keys.isEmpty() ? List.of() : script.eval(keys.size(), keys);
        List<SharedCounts.Told> told = new ArrayList<>();
        for (String name : names.values()) {
            int at = 2 * told.size();
            told.add(at < replies.size() ? told(name, replies.get(at), replies.get(at + 1)) : told(name, "", ""));
        }
        return told;
    }

    private static SharedCounts.Told told(String name, String age, String text) {
        CountsSummary summary = summary(text);
        return new SharedCounts.Told(name, summary == null ? 0 : Long.parseLong(age), summary);
    }

    /** {@code null} if it is missing, or of another version. */
    private static @Nullable CountsSummary summary(String text) {
        try {
            return text.isEmpty() ? null : CountsSummary.parse(text);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
