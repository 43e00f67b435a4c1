package dev.ratelimit.spring.rules.history;

import static dev.ratelimit.spring.rules.text.UrlEncoding.decoded;
import static dev.ratelimit.spring.rules.text.UrlEncoding.encoded;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.WritableJson;

/**
 * What operators have changed, as texts: the {@linkplain ChangedValue values} of each policy and of each key with an
 * override, and the history of both. It is that of this instance or, with {@link SharedChanges}, what this instance knows
 * of that of all. Thread-safe.
 *
 * <p>A change and its entry of the history are one step, at one moment. So two copies of which one has lost something, or
 * has not heard of it yet, can be {@linkplain JoinedChanges joined}.
 */
public final class ChangeStore {

    /** How many entries of the history are kept. */
    public static final int MAX_HISTORY = 1000;

    /** In a text, the moment when it is accepted, in microseconds: no character that JSON contains as it is. */
    static final WritableJson ACCEPTED = out -> out.append('\1');

    /** In a text, the moment when what is accepted ends, if that is not a fixed one, likewise. */
    static final WritableJson END = out -> out.append('\2');

    /** How often another instance may be first. */
    private static final int ATTEMPTS = 20;

    /** How long an operator waits for other changes, and for attempts of the own: nobody waits for an answer longer. */
    private static final long PATIENCE_NANOS = 2_000_000_000;

    /** What is changed. */
    public enum Kind {
        POLICY,
        OVERRIDE
    }

    /**
     * What has a text.
     *
     * @param text the name of a policy, which is encoded if a key follows it
     */
    public record Name(Kind kind, String text) {

        /** Of what is changed of a policy. */
        public static Name ofPolicy(String policy) {
            return new Name(Kind.POLICY, policy);
        }

        /** Of the override of a key, in its usual spelling, under a policy. */
        public static Name ofKey(String policy, String key) {
            return new Name(Kind.OVERRIDE, encoded(policy) + " " + key);
        }

        /** The policy. */
        public String policy() {
            return kind == Kind.POLICY ? text : decoded(text.substring(0, Math.max(0, text.indexOf(' '))));
        }

        /** The key with an override. */
        public String key() {
            return text.substring(text.indexOf(' ') + 1);
        }
    }

    /**
     * A change that is not accepted yet.
     *
     * @param text in place of the present one; empty for none
     * @param entry of the history, with {@link RecordedChange#text}
     */
    public record Change(Name name, String text, ChangeEnd end, String entry) {

        /**
         * A change with its entry.
         *
         * @param entry without its time and its end, which are known once it is accepted
         * @param properties what is changed, by name
         */
        public static Change of(Name name, String text, ChangeEnd end, HistoryEntry entry, Set<String> properties) {
            return new Change(name, text, end, RecordedChange.text(entry, end, properties));
        }

        /** A text, accepted at this moment. */
        public String accepted(String asked, Accepted at) {
            return asked.replace("\1", Long.toString(at.micros()))
                    .replace("\2", Long.toString(at.nowMicros() + end.lastingMicros()));
        }

        /** How long it lasts, in microseconds; 0 if it has a fixed end or none. */
        public long lastingMicros() {
            return end.lastingMicros();
        }
    }

    /**
     * When a change is accepted.
     *
     * @param micros later than that of any change before, also if the clock has been set back
     * @param nowMicros by the clock, which its end is counted from
     */
    public record Accepted(long micros, long nowMicros) {

        static Accepted at(long micros) {
            return new Accepted(micros, micros);
        }
    }

    /**
     * All that there is.
     *
     * @param texts by the text of the name
     * @param history the latest entry first
     */
    public record Contents(Map<Kind, Map<String, String>> texts, List<String> history) {

        /** The texts of a kind. */
        public Map<String, String> of(Kind kind) {
            return texts.getOrDefault(kind, Map.of());
        }
    }

    /**
     * What has ended by the clock of this instance, and others may still have.
     *
     * @param text that they have
     * @param rest what is left of it
     * @param untilMicros when it ends
     */
    public record Ended(Name name, String text, String rest, long untilMicros) {}

    private final Ticker ticker;

    /** Lets one change after the other ask others. */
    private final ReentrantLock lock = new ReentrantLock(true);

    /** How far the clock of all instances is ahead of that of this one. */
    private final AtomicLong aheadMicros = new AtomicLong();

    private final Map<Kind, Map<String, String>> texts = new EnumMap<>(Kind.class);
    private final Map<Kind, Consumer<Map<String, String>>> observers = new EnumMap<>(Kind.class);
    private final Map<Name, Ended> ended = new ConcurrentHashMap<>();

    /** What others are to hear of what was adopted, as soon as nobody waits for it. */
    private final Queue<Runnable> untold = new ConcurrentLinkedQueue<>();

    private volatile List<String> history = List.of();
    private volatile @Nullable SharedChanges shared;

    /** Nothing is changed. */
    public ChangeStore(Ticker ticker) {
        this.ticker = ticker;
        for (Kind kind : Kind.values()) {
            texts.put(kind, new ConcurrentHashMap<>());
            observers.put(kind, all -> {});
        }
    }

    /** From now on, changes are those of all instances. */
    public void share(SharedChanges with) {
        shared = with;
    }

    /** Whether changes are those of all instances. */
    public boolean isShared() {
        return shared != null;
    }

    /** Where what is changed holds, and how long what has no end lasts, for people. */
    public String duration() {
        return isShared()
                ? "on all instances, until the last of them stops"
                : "on this instance only, until it restarts";
    }

    /**
     * From now on, tells this all texts of a kind before those of other instances are adopted. No change of this instance
     * goes on meanwhile, so the observer tells others {@linkplain #afterwards afterwards}.
     */
    public void observe(Kind kind, Consumer<Map<String, String>> observer) {
        observers.put(kind, observer);
    }

    /** Runs what may take its time, such as code of the application, when other changes of this instance may go on. */
    public void afterwards(Runnable work) {
        untold.add(work);
    }

    private void unlock() {
        lock.unlock();
        for (Runnable one = untold.poll(); one != null; one = untold.poll()) {
            one.run();
        }
    }

    /** The clock by which changes begin and end: that of all instances, as far as it is known. */
    public Ticker clock() {
        return new Ticker() {
            @Override
            public long nanos() {
                return ticker.nanos();
            }

            @Override
            public long epochNanos() {
                return ticker.epochNanos() + aheadMicros.get() * 1000;
            }
        };
    }

    /**
     * Sets the clock, unless its error may be the time that the answer took.
     *
     * @param micros the time of all instances
     * @param askedMicros when it was asked for, by this clock
     */
    public void setClock(long micros, long askedMicros) {
        long error = micros < askedMicros ? micros - askedMicros : Math.max(0, micros - nowMicros());
        aheadMicros.addAndGet(error);
    }

    /** This moment. */
    public Instant now() {
        return ChangedValue.instant(nowMicros());
    }

    /** This moment, in microseconds since the epoch. */
    public long nowMicros() {
        return Math.floorDiv(ticker.epochNanos(), 1000) + aheadMicros.get();
    }

    /** The text with this name; empty if there is none. */
    public String text(Name name) {
        return all(name.kind()).getOrDefault(name.text(), "");
    }

    private Map<String, String> all(Kind kind) {
        return texts.getOrDefault(kind, Map.of());
    }

    /** The entries of the history, the latest first. */
    List<String> history() {
        return history;
    }

    /**
     * Makes a change, here and on all instances, or nowhere.
     *
     * @param question what to change of what is known when it is called; called again if another instance was faster
     * @param answer is told the text that was accepted, before anything else is changed
     * @throws StaleVersionException if the question throws it
     * @throws IllegalStateException if changes cannot be shared at the moment
     */
    public <T> T change(Supplier<Change> question, Function<String, T> answer) {
        long deadline = ticker.nanos() + PATIENCE_NANOS;
        lockInTime();
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                if (ticker.nanos() - deadline >= 0) {
                    throw tooLate();
                }
                Change change = question.get();
                SharedChanges others = shared;
                Accepted at =
                        others == null ? Accepted.at(nowMicros()) : others.change(change, sharedText(change.name()));
                if (at != null) {
                    String accepted = change.accepted(change.text(), at);
                    T told = answer.apply(accepted);
                    set(change.name(), accepted);
                    ended.remove(change.name());
                    add(change.accepted(change.entry(), at));
                    return told;
                }
            }
            throw new IllegalStateException("other instances are changing the same at this moment; try again");
        } finally {
            unlock();
        }
    }

    private void lockInTime() {
        try {
            if (lock.tryLock(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw tooLate();
    }

    private static IllegalStateException tooLate() {
        return new IllegalStateException(
                "changes before this one took too long, since Redis answers slowly or not at all, or other instances are"
                        + " changing the same at this moment; nothing is changed; try again");
    }

    private void set(Name name, String text) {
        if (text.isEmpty()) {
            all(name.kind()).remove(name.text());
        } else {
            all(name.kind()).put(name.text(), text);
        }
    }

    private void add(String entry) {
        List<String> longer = new ArrayList<>(MAX_HISTORY);
        longer.add(entry);
        longer.addAll(history.subList(0, Math.min(history.size(), MAX_HISTORY - 1)));
        history = List.copyOf(longer);
    }

    /** What others have, if it has ended here only. */
    private String sharedText(Name name) {
        Ended still = ended.get(name);
        return still == null ? text(name) : still.text();
    }

    /**
     * Something has ended by the clock of this instance, so it does not come back, whatever becomes of the clock.
     *
     * @param rest what is left of the text; empty for nothing
     */
    public void end(Name name, String rest, long untilMicros) {
        String text = text(name);
        set(name, rest);
        if (shared != null && !text.isEmpty()) {
            ended.merge(
                    name,
                    new Ended(name, text, rest, untilMicros),
                    (earlier, now) -> new Ended(name, earlier.text(), rest, untilMicros));
        }
    }

    /** A copy of all that this instance knows. */
    public Contents contents() {
        Map<Kind, Map<String, String>> copy = new EnumMap<>(Kind.class);
        texts.forEach((kind, all) -> copy.put(kind, new HashMap<>(all)));
        return new Contents(copy, history);
    }

    /** What others are to be told that it has ended. */
    public List<Ended> ended() {
        return List.copyOf(ended.values());
    }

    /** Others know that this has ended, or have something else by now. */
    public void forget(Ended told) {
        ended.remove(told.name(), told);
    }

    /** Runs work while no change of this instance is under way. */
    public void exclusively(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            unlock();
        }
    }

    /**
     * Adopts what instances share. While no change of this instance is under way, unless this is a part of it.
     *
     * @param nowMicros the time of all instances
     * @return what they are to share instead, since they have lost something; {@code null} if they have not
     */
    public @Nullable Contents adopt(Contents theirs, long nowMicros) {
        Contents known = contents();
        ended.values().forEach(one -> {
            Name name = one.name();
            if (one.text().equals(theirs.of(name.kind()).get(name.text()))) {
                known.of(name.kind()).put(name.text(), one.text());
            } else {
                ended.remove(name, one);
            }
        });
        Contents joined = JoinedChanges.of(known, theirs, nowMicros);
        texts.forEach((kind, all) -> {
            Map<String, String> next = new HashMap<>(joined.of(kind));
            ended.values().stream()
                    .filter(one -> one.name().kind() == kind)
                    .forEach(one -> next.computeIfPresent(
                            one.name().text(), (name, text) -> one.rest().isEmpty() ? null : one.rest()));
            observers.getOrDefault(kind, none -> {}).accept(next);
            all.keySet().retainAll(next.keySet());
            all.putAll(next);
        });
        history = joined.history();
        return joined.equals(theirs) ? null : joined;
    }
}
