package dev.ratelimit.simulator.text;

/**
 * Text that clients may have written, such as keys and lines of logs. It is printed in one line, and so that nothing of it
 * has an effect on a terminal or a configuration.
 */
public final class PrintableText {

    private PrintableText() {}

    /** The text with control, format (such as bidirectional) and separator characters written as {@code \}{@code u001b}. */
    public static String of(String text) {
        if (text.codePoints().noneMatch(PrintableText::isHidden)) {
            return text;
        }
        StringBuilder shown = new StringBuilder();
        text.codePoints().forEach(code -> {
            if (isHidden(code)) {
                for (char unit : Character.toChars(code)) {
                    shown.append(String.format("\\u%04x", (int) unit));
                }
            } else {
                shown.appendCodePoint(code);
            }
        });
        return shown.toString();
    }

    private static boolean isHidden(int code) {
        return switch (Character.getType(code)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.UNASSIGNED -> true;
            default -> false;
        };
    }
}
