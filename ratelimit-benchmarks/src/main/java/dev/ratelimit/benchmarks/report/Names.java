package dev.ratelimit.benchmarks.report;

import java.util.Locale;

/** How things are called in tables and in names of files. */
final class Names {

    private Names() {}

    /** {@code BARE_TABLE} as {@code bare-table}. */
    static String plain(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** A title as a part of a file's name. */
    static String ofFile(String title) {
        return title.toLowerCase(Locale.ROOT)
                .replaceAll("(?<=\\d),(?=\\d)", "")
                .replaceAll("[^a-z0-9]+", "-")
                .replaceAll("^-|-$", "");
    }
}
