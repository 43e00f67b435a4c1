package dev.ratelimit.simulator.suggest;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The share of keys that a policy by caller may refuse at all.
 *
 * @param share from 0 to less than 1
 */
public record KeyShare(double share) {

    /** Validates the share. */
    public KeyShare {
        if (!(share >= 0 && share < 1)) {
            throw new IllegalArgumentException("the share of touched clients must be from 0% to less than 100%");
        }
    }

    /**
     * Reads a share.
     *
     * @param text such as {@code 0.1%}
     * @throws IllegalArgumentException if it is none
     */
    public static KeyShare parse(String text) {
        try {
            String number = text.strip();
            if (!number.endsWith("%")) {
                throw new NumberFormatException("there is no %");
            }
            return new KeyShare(
                    Double.parseDouble(number.substring(0, number.length() - 1).strip()) / 100);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is no share; write a percentage, such as 0.1%", e);
        }
    }

    /** How many of these keys may be refused: whole ones, none if the share of them is less than one. */
    public long of(long keys) {
        return (long) Math.floor(keys * share + 1e-9);
    }

    /** Why none of these keys may be refused, if there are too few of them for the share; {@code null} otherwise. */
    public @Nullable String tooFew(long keys) {
        if (share == 0 || keys == 0 || of(keys) > 0) {
            return null;
        }
        String least = BigDecimal.valueOf(100.0 / keys)
                .round(new MathContext(2, RoundingMode.CEILING))
                .toPlainString();
        return String.format(
                Locale.ROOT, "%.3g %% of %,d keys is none: at least %s %% is needed", 100 * share, keys, least);
    }
}
