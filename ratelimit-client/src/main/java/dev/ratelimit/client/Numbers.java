package dev.ratelimit.client;

/** Numbers in fields of responses: not negative, and as large as the sender likes. */
final class Numbers {

    static final long UNREADABLE = -1;

    /** A hundred million years, so that sums do not overflow. */
    private static final int MAX_DIGITS = 15;

    private Numbers() {}

    /** Digits, with a fraction or without, rounded up; what has too many digits is as large as can be. */
    static long seconds(String text) {
        int point = text.indexOf('.');
        String whole = point < 0 ? text : text.substring(0, point);
        String fraction = point < 0 ? "0" : text.substring(point + 1);
        if (!digits(whole) || !digits(fraction)) {
            return UNREADABLE;
        }
        int zeros = 0;
        while (zeros < whole.length() - 1 && whole.charAt(zeros) == '0') {
            zeros++;
        }
        if (whole.length() - zeros > MAX_DIGITS) {
            return 999_999_999_999_999L;
        }
        boolean rest = !fraction.chars().allMatch(c -> c == '0');
        return Long.parseLong(whole.substring(zeros)) + (rest ? 1 : 0);
    }

    private static boolean digits(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }
}
