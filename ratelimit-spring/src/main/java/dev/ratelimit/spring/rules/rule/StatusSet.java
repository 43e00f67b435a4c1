package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.text.Quotation;
import java.util.BitSet;
import java.util.List;

/** Some HTTP statuses. Immutable. */
public final class StatusSet {

    private static final int MIN = 100;
    private static final int MAX = 599;

    private final List<String> texts;
    private final BitSet statuses = new BitSet(MAX + 1);

    /**
     * Parses statuses.
     *
     * @param texts {@code 401} or {@code 5xx} each
     * @throws IllegalArgumentException if one is neither
     */
    public StatusSet(List<String> texts) {
        this.texts = texts.stream().map(String::strip).toList();
        this.texts.forEach(this::add);
    }

    private void add(String text) {
        boolean hundred = text.length() == 3 && text.substring(1).equalsIgnoreCase("xx");
        String digits = hundred ? text.charAt(0) + "00" : text;
        boolean number = digits.length() == 3 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        int status = number ? Integer.parseInt(digits) : 0;
        if (status < MIN || status > MAX) {
            throw new IllegalArgumentException(Quotation.of(text) + " is not a status; write 401 or 5xx");
        }
        statuses.set(status, status + (hundred ? 100 : 1));
    }

    /** Whether the status is one of them. */
    boolean contains(int status) {
        return statuses.get(Math.max(0, status));
    }

    /** Whether this exact status is included by number, not only by its hundred. */
    boolean names(int status) {
        return texts.contains(Integer.toString(status));
    }

    /** For logs: {@code 401, 5xx}. */
    @Override
    public String toString() {
        return String.join(", ", texts);
    }
}
