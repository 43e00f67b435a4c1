package dev.ratelimit.spring.rules.text;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import java.util.function.Consumer;

/**
 * A text whose characters may be read only so often. Work that grows faster than the text fails at once.
 *
 * <p>Places that read texts of clients are checked with it: addresses, queries, keys. What the JDK and Spring read instead
 * is bounded before: names and values by {@code NormalTextTest}, numbers by {@code NumberTextTest}, paths by
 * {@code SegmentWildcardsTest}. Stores, reports and meters get keys of 64 bytes.
 */
public final class CountedText implements CharSequence {

    private static final int TIMES = 8;

    private final String text;
    private final long[] left;

    /**
     * Creates a text.
     *
     * @param times how often each character may be read, on average
     */
    public CountedText(String text, int times) {
        this(text, new long[] {(long) times * text.length()});
    }

    private CountedText(String text, long[] left) {
        this.text = text;
        this.left = left;
    }

    /** Checks that a place reads each character of texts made of these pieces a few times at most. */
    public static void checkReads(List<String> pieces, Consumer<CharSequence> place) {
        for (String first : pieces) {
            for (String second : pieces) {
                for (int length : new int[] {1 << 6, 1 << 14}) {
                    String half = first.repeat(length / first.length());
                    String other = second.repeat(length / second.length());

                    assertThatCode(() -> {
                                place.accept(new CountedText(half + other, TIMES));
                                place.accept(new CountedText(half + "x" + other + "x", TIMES));
                            })
                            .as("many '%s', many '%s'", first, second)
                            .doesNotThrowAnyException();
                }
            }
        }
    }

    private void read(int characters) {
        left[0] -= characters;
        if (left[0] < 0) {
            throw new AssertionError("characters are read too often");
        }
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public char charAt(int index) {
        read(1);
        return text.charAt(index);
    }

    /** A view, whose characters count when they are read. */
    @Override
    public CharSequence subSequence(int start, int end) {
        return new CountedText(text.substring(start, end), left);
    }

    /** Reads all characters. */
    @Override
    public String toString() {
        read(text.length());
        return text;
    }
}
