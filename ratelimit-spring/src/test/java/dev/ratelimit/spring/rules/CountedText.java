package dev.ratelimit.spring.rules;

/** A text whose characters may be read only so often. Work that grows faster than the text fails at once. */
final class CountedText implements CharSequence {

    private final String text;
    private final long[] left;

    /**
     * Creates a text.
     *
     * @param times how often each character may be read, on average
     */
    CountedText(String text, int times) {
        this(text, new long[] {(long) times * text.length()});
    }

    private CountedText(String text, long[] left) {
        this.text = text;
        this.left = left;
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
