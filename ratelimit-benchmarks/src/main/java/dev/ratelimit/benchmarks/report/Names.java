package dev.ratelimit.benchmarks.report;

import java.util.Locale;

/** Names in tables and in file names. */
final class Names {

    static final String OURS = "ratelimit";

    private Names() {}

    /** {@code BARE_TABLE} as {@code bare-table}, and {@code OURS} as the name of this library. */
    static String plain(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', '-').replaceFirst("^ours", OURS);
    }

    /** A title as a part of a file name. */
    static String ofFile(String title) {
        return title.toLowerCase(Locale.ROOT)
                .replaceAll("(?<=\\d),(?=\\d)", "")
                .replaceAll("[^a-z0-9]+", "-")
                .replaceAll("^-|-$", "");
    }
}
