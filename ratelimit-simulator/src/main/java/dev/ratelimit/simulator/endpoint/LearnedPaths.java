package dev.ratelimit.simulator.endpoint;

import java.util.regex.Pattern;

/** Guesses the pattern of a path: segments that look like the id of something are variables. */
final class LearnedPaths {

    /** Numbers, UUIDs, long hexadecimal numbers, dates, addresses of mails, and long segments with digits. */
    private static final Pattern ID = Pattern.compile("\\d+"
            + "|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
            + "|(?=.*\\d)[0-9a-fA-F]{8,}"
            + "|\\d{4}-\\d\\d(-\\d\\d)?"
            + "|[^@]+@[^@]+"
            + "|(?=.*\\d)(?=.*[A-Za-z])[A-Za-z0-9_=-]{16,}");

    private static final Pattern VARIABLE = Pattern.compile("\\{\\w+}");

    private LearnedPaths() {}

    /** The pattern, in which characters that have a meaning in patterns are left out. */
    static String of(String path) {
        StringBuilder pattern = new StringBuilder();
        int variables = 0;
        for (String segment : path.split("/", -1)) {
            if (segment.isEmpty()) {
                continue;
            }
            pattern.append('/');
            if (VARIABLE.matcher(segment).matches()) {
                // of a recording, whose paths are patterns
                pattern.append(segment);
            } else if (ID.matcher(segment).matches()) {
                variables++;
                pattern.append(variables == 1 ? "{id}" : "{id" + variables + "}");
            } else {
                pattern.append(segment.replaceAll("[{}*?\\\\:]", "-"));
            }
        }
        return pattern.isEmpty() ? "/" : pattern.toString();
    }
}
