package dev.ratelimit.simulator.suggest;

import dev.ratelimit.Rate;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What limits are to do.
 *
 * @param touched the share of keys that a policy by caller may refuse at all, from 0 to 1; {@code null} if it does not
 *     matter
 * @param protect the most requests of all callers together; {@code null} for no such limit
 * @param atMost the most requests of one caller in any period; {@code null} for no such limit
 */
public record Wish(
        @Nullable Double touched,
        @Nullable Rate protect,
        @Nullable Rate atMost) {

    /** Validates the share, and that there is a wish. */
    public Wish {
        if (touched == null && protect == null && atMost == null) {
            throw new IllegalArgumentException(
                    "there is no wish; write --touch-at-most 0.1%, --protect 500/second or" + " --at-most 100/minute");
        }
        if (touched != null && !(touched >= 0 && touched < 1)) {
            throw new IllegalArgumentException("the share of touched clients must be from 0% to less than 100%");
        }
    }

    /** How many of these keys may be refused: whole ones, none if the share of them is less than one. */
    public long allowed(long keys) {
        return touched == null ? keys : (long) Math.floor(keys * touched + 1e-9);
    }

    /** Why none of these keys may be refused, if there are too few of them for the share; {@code null} otherwise. */
    public @Nullable String tooFew(long keys) {
        if (touched == null || touched == 0 || keys == 0 || allowed(keys) > 0) {
            return null;
        }
        String least = BigDecimal.valueOf(100.0 / keys)
                .round(new MathContext(2, RoundingMode.CEILING))
                .toPlainString();
        return String.format(
                Locale.ROOT, "%.3g %% of %,d keys is none: at least %s %% is needed", 100 * touched, keys, least);
    }

    /**
     * Reads a share.
     *
     * @param text such as {@code 0.1%}
     * @throws IllegalArgumentException if it is none
     */
    public static double share(String text) {
        try {
            String number = text.strip();
            if (!number.endsWith("%")) {
                throw new NumberFormatException("there is no %");
            }
            return Double.parseDouble(number.substring(0, number.length() - 1).strip()) / 100;
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is no share; write a percentage, such as 0.1%", e);
        }
    }
}
