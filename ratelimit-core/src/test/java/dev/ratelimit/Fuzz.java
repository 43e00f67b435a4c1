package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Feeds a parser the lines of a corpus, and mixtures of them. A corpus is a file in the package of the test, in which a
 * backslash, {@code u} and four digits stand for a character. Every input that once caused a bug becomes a line.
 *
 * <p>{@code -Dfuzz.runs=10000000} tries more mixtures than a build does, {@code -Dseed=} repeats them.
 */
public final class Fuzz {

    private static final int RUNS = Integer.getInteger("fuzz.runs", 2_000);
    private static final int MAX_LENGTH = 300;
    private static final int MAX_MESSAGE = 1_000;

    /** A parser with quadratic time would need minutes. */
    private static final Duration HANGS = Duration.ofSeconds(20);

    private static final Pattern ESCAPE = Pattern.compile("\\\\u([0-9a-f]{4})");
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    private static final List<String> NUMBERS = List.of(
            "0",
            "00",
            "1",
            "-1",
            "32",
            "33",
            "64",
            "128",
            "129",
            "255",
            "256",
            "65536",
            "4294967296",
            "9223372036854775807",
            "9223372036854775808",
            "99999999999999999999999999");
    private static final String ODD = "\u0000\u0009\n\r\u001b \"'\\,;:=%+&#/[]{}()<>.-_*@~\u007f\u0080\u00a0\u00df"
            + "\u0130\u0131\u0301\u0661\u200b\u2028\ufeff\uff11\ud83d\ude00";

    private final List<String> corpus;
    private final long seed;
    private final Random random;

    private Fuzz(List<String> corpus, long seed) {
        this.corpus = corpus;
        this.seed = seed;
        this.random = new Random(seed);
    }

    /** Inputs from this file, which is next to the test. */
    public static Fuzz of(Class<?> test, String file) {
        try (InputStream in = test.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is missing beside " + test.getName());
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return new Fuzz(text.lines().map(Fuzz::unescaped).toList(), Seeds.next(test));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The seed of the mixtures, which a failure names, for what else a test makes at random. */
    public long seed() {
        return seed;
    }

    /**
     * A parser that may refuse its input with a message that can be shown to people: bounded, and without control
     * characters except the line breaks that a caret needs. Any other exception fails the test, even a subclass.
     */
    public static Consumer<String> refusing(Consumer<String> reader) {
        return text -> {
            try {
                reader.accept(text);
            } catch (IllegalArgumentException refused) {
                assertThat(refused).isExactlyInstanceOf(IllegalArgumentException.class);
                assertThat(refused.getMessage()).hasSizeLessThan(MAX_MESSAGE).matches("([^\\p{Cntrl}]|\n +)+");
            }
        };
    }

    /** Feeds the parser every line, then mixtures of lines. */
    public void run(Consumer<String> reader) {
        corpus.forEach(line -> read(reader, line));
        for (int run = 0; run < RUNS; run++) {
            read(reader, mixture());
        }
    }

    /**
     * Feeds the parser many repetitions of every line, and of every special character between two lines: quadratic
     * parsers hang.
     */
    public void runLarge(int kibibytes, String between, Consumer<String> reader) {
        for (String line : corpus) {
            String piece = line + between;
            if (!piece.isEmpty()) {
                readLarge(reader, piece, piece.repeat((kibibytes << 10) / piece.length()));
            }
        }
        ODD.chars().forEach(odd -> {
            String piece = String.valueOf((char) odd);
            readLarge(reader, piece, line() + piece.repeat(kibibytes << 10) + line());
        });
    }

    private void readLarge(Consumer<String> reader, String piece, String large) {
        assertTimeoutPreemptively(
                HANGS, () -> reader.accept(large), () -> "hangs at many '" + escaped(piece) + "', seed " + seed);
    }

    private void read(Consumer<String> reader, String input) {
        try {
            reader.accept(input);
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            throw new AssertionError("input '" + escaped(input) + "', seed " + seed + ": " + e, e);
        }
    }

    private String mixture() {
        StringBuilder text = new StringBuilder(line());
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            change(text);
        }
        text.setLength(Math.min(text.length(), MAX_LENGTH));
        return text.toString();
    }

    private void change(StringBuilder text) {
        int from = random.nextInt(text.length() + 1);
        int to = Math.min(text.length(), from + random.nextInt(8));
        switch (random.nextInt(7)) {
            case 0 -> text.delete(from, to);
            case 1 -> text.insert(from, text.substring(from, to).repeat(1 + random.nextInt(3)));
            case 2 -> text.insert(from, ODD.charAt(random.nextInt(ODD.length())));
            case 3 -> text.replace(from, to, part(line()));
            case 4 -> text.replace(from, text.length(), line());
            case 5 -> changeNumber(text);
            default -> changeCase(text, from);
        }
    }

    private String line() {
        return corpus.get(random.nextInt(corpus.size()));
    }

    private String part(String text) {
        int from = random.nextInt(text.length() + 1);
        return text.substring(from, from + random.nextInt(text.length() - from + 1));
    }

    private void changeNumber(StringBuilder text) {
        List<int[]> places = new ArrayList<>();
        NUMBER.matcher(text).results().forEach(found -> places.add(new int[] {found.start(), found.end()}));
        if (!places.isEmpty()) {
            int[] place = places.get(random.nextInt(places.size()));
            text.replace(place[0], place[1], NUMBERS.get(random.nextInt(NUMBERS.size())));
        }
    }

    private static void changeCase(StringBuilder text, int at) {
        if (at < text.length()) {
            char c = text.charAt(at);
            text.setCharAt(at, Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c));
        }
    }

    private static String unescaped(String line) {
        return ESCAPE.matcher(line)
                .replaceAll(
                        found -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 16))));
    }

    /** The text as a line of the corpus. */
    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder();
        text.chars()
                .forEach(c ->
                        escaped.append(c >= ' ' && c <= '~' ? String.valueOf((char) c) : String.format("\\u%04x", c)));
        return escaped.toString();
    }
}
