package dev.ratelimit.spring.rules.field;

/** The part of structured fields (RFC 9651) that is needed here: lists of strings with parameters. */
public final class StructuredField {

    /** The largest integer (section 3.3.1). */
    public static final long MAX_INTEGER = 999_999_999_999_999L;

    private StructuredField() {}

    /**
     * Adds an item at the end of a list.
     *
     * @param list empty if the item is the first
     */
    public static String append(String list, String item) {
        return list.isEmpty() ? item : list + ", " + item;
    }

    /** A string, of printable ASCII without quotes and backslashes, as names of policies are. */
    static String string(String text) {
        return '"' + text + '"';
    }

    /** What comes before the value of a parameter. */
    static String parameter(String name) {
        return ";" + name + "=";
    }
}
