package dev.ratelimit.spring.rules.text;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds the name that a misspelt one was probably meant to be. */
public final class Spelling {

    /** Longer texts are no misspelt names. Lower case of some letters takes quadratic time on Java 17. */
    private static final int MAX_LENGTH = 256;

    private Spelling() {}

    /** The most similar name, or {@code null} if none is similar. */
    public static @Nullable String closest(String written, Collection<String> names) {
        return names.stream()
                .min(Comparator.comparingInt(name -> distance(written, name)))
                .filter(name -> isSimilar(written, name))
                .orElse(null);
    }

    /** A hint for a message; empty if no name is similar. */
    public static String hint(String written, Collection<String> names) {
        String closest = written.length() > MAX_LENGTH ? null : closest(written.toLowerCase(Locale.ROOT), names);
        return closest == null || closest.equals(written) ? "" : " (did you mean '" + closest + "'?)";
    }

    /** Whether less than a third of the written name differs. */
    public static boolean isNear(String written, String name) {
        return 3 * distance(written, name) < written.length();
    }

    private static boolean isSimilar(String written, String name) {
        int shared = 0;
        while (shared < Math.min(written.length(), name.length()) && written.charAt(shared) == name.charAt(shared)) {
            shared++;
        }
        int allowed = shared >= 4 ? 3 : 2;
        int distance = distance(written, name);
        // names that differ in every letter are not similar
        return distance < Math.max(written.length(), name.length())
                && distance <= Math.max(allowed, written.length() / 4);
    }

    /** The Levenshtein distance: how many letters must be inserted, deleted or replaced. */
    private static int distance(String a, String b) {
        int[] previous = new int[b.length() + 1];
        int[] current = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            current[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
            }
            int[] swap = previous;
            previous = current;
            current = swap;
        }
        return previous[b.length()];
    }
}
