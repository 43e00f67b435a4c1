package dev.ratelimit.simulator.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineReaderTest {

    private static List<String> read(String text) throws IOException {
        List<String> all = new ArrayList<>();
        try (LineReader lines = new LineReader(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))) {
            for (String line = lines.next(); line != null; line = lines.next()) {
                all.add(lines.number() + " " + (lines.isTooLong() ? "too long" : line));
            }
        }
        return all;
    }

    @Test
    void lines_endInAnyWay() throws IOException {
        assertThat(read("a\nb\r\n\nc")).containsExactly("1 a", "2 b", "3 ", "4 c");
    }

    @Test
    void line_ofMoreThanAMebibyte_isOneLine() throws IOException {
        for (int length : new int[] {1_100_000, 2_000_000, 5_000_000}) {
            String line = "x".repeat(length);

            assertThat(read("a\n" + line + "\nb\n")).containsExactly("1 a", "2 too long", "3 b");
            assertThat(read("a\n" + line)).containsExactly("1 a", "2 too long");
            assertThat(read(line + "\n" + line + "\nb")).containsExactly("1 too long", "2 too long", "3 b");
        }
    }

    @Test
    void line_ofAMebibyte_isRead() throws IOException {
        String line = "x".repeat(1_000_000);

        assertThat(read(line + "\nb")).containsExactly("1 " + line, "2 b");
    }

    @Test
    void byteOrderMark_isNoPartOfTheFirstLine() throws IOException {
        assertThat(read("\ufeffa\n\ufeffb")).containsExactly("1 a", "2 \ufeffb");
        assertThat(read("\ufeff\na")).containsExactly("1 ", "2 a");
        assertThat(read("\ufeff")).containsExactly("1 ");
    }
}
