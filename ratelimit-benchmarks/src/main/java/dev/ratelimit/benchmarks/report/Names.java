package dev.ratelimit.benchmarks.report;

import java.util.Locale;

/** How things are called in tables and in names of files. */
final class Names {

    static final String OURS = "ratelimit";

    private Names() {}

    /** {@code BARE_TABLE} as {@code bare-table}, {@code OURS} by this library's name. */
    static String plain(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', '-').replaceFirst("^ours", OURS);
    }

    /** A title as a part of a file's name. */
    static String ofFile(String title) {
        return title.toLowerCase(Locale.ROOT)
                .replaceAll("(?<=\\d),(?=\\d)", "")
                .replaceAll("[^a-z0-9]+", "-")
                .replaceAll("^-|-$", "");
    }
}
